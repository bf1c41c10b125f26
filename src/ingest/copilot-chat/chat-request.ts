/**
 * A request of VS Code's chat and its answer.
 *
 * The answer is stored twice: as shown (`response`), and, once complete, as requested
 * (`result.metadata.toolCallRounds`), with the arguments and results of tools. The latter takes
 * precedence.
 */

import type { Block } from "../../model/block.ts";
import { defined } from "../../model/defined.ts";
import type { Usage } from "../../model/entry.ts";
import { isPlainObject } from "../../model/json.ts";
import type { EntryDraft } from "../drafts.ts";
import {
  countField,
  type Fields,
  nameOf,
  objectField,
  objectsIn,
  otherFields,
  textField,
  timeField,
} from "../fields.ts";

export const FORMAT = "copilot-chat";

/** `isDone` is false while the answer is being written: then only the request is given. */
export function toDrafts(
  request: Fields,
  sourceId: string,
  isDone: boolean,
  ignore: (kind: string) => void,
): EntryDraft[] {
  const at = timeField(request, "timestamp");
  const asked: EntryDraft = {
    sourceId,
    kind: "message",
    role: "user",
    createdAt: at,
    blocks: toPrompt(request["message"]),
    fields: askedFields(request),
    ...(request["isSystemInitiated"] === true ? { marks: { injected: true } } : {}),
  };
  if (!isDone) return [asked];
  const result = objectField(request, "result");
  const metadata = objectField(result, "metadata");
  const rounds = toRounds(metadata);
  const parts = objectsIn(request["response"]);
  const shown = shownAnswers(parts, ignore);
  const answers = rounds.length === 0 ? shown : withEnd(rounds, shown);
  const model = textField(metadata, "resolvedModel") ?? textField(request, "modelId");
  const id = textField(request, "responseId") ?? `${sourceId}/answer`;
  const elapsed = countField(objectField(result, "timings"), "totalElapsed") ?? 0;
  const end = at === null ? null : at + elapsed;
  const drafts = answers.flatMap((answer, i): EntryDraft[] => {
    const isLast = i === answers.length - 1;
    const own = isLast ? id : `${id}/${i}`;
    const createdAt = answer.at ?? end;
    const said: EntryDraft = {
      sourceId: own,
      id: isLast ? id : null,
      kind: "message",
      role: "assistant",
      actor: FORMAT,
      blocks: answer.blocks,
      model: model?.replace(/^copilot\//, "") ?? null,
      createdAt,
      usage: isLast ? toUsage(metadata, request) : null,
    };
    if (answer.results.length === 0) return [said];
    const [first] = answer.results;
    const actor = (first?.type === "tool_result" ? first.toolName : undefined) ?? null;
    const results = { sourceId: `${own}/results`, id: null, role: "tool" as const, actor };
    return [said, { ...results, kind: "message", blocks: answer.results, createdAt }];
  });
  return [asked, ...toSubAgents(parts, asked), ...drafts, ...toFailure(result, sourceId, end)];
}

/** A sub-agent's run is a branch of the request. */
function toSubAgents(parts: readonly Fields[], asked: EntryDraft): EntryDraft[] {
  const { createdAt = null } = asked;
  const marks = { sidechain: true };
  return [...subAgentAnswers(parts).values()].flatMap(({ blocks, results }, i): EntryDraft[] => {
    const sourceId = `${asked.sourceId}/agent-${i + 1}`;
    const base = { id: null, kind: "message" as const, createdAt, marks };
    const calls: EntryDraft = {
      ...base,
      sourceId,
      parentSourceId: asked.sourceId,
      role: "assistant",
      actor: FORMAT,
      blocks,
    };
    if (results.length === 0) return [calls];
    const given = { ...base, sourceId: `${sourceId}/results`, parentSourceId: sourceId };
    return [calls, { ...given, role: "tool", blocks: results }];
  });
}

function toPrompt(message: unknown): Block[] {
  const text = isPlainObject(message) ? textField(message, "text") : nameOf(message ?? "");
  return text === undefined || text === "" ? [] : [{ type: "text", text }];
}

/** Names of the user's attachments, and the kind of prompt. */
function askedFields(request: Fields): NonNullable<EntryDraft["fields"]> {
  const variables = objectsIn(objectField(request, "variableData")["variables"]);
  const names = variables.flatMap((each) => textField(each, "name") ?? []);
  const agent = textField(objectField(request, "agent"), "id");
  const mode = textField(objectField(request, "modeInfo"), "kind");
  return {
    ...(names.length === 0 ? {} : { attachments: names }),
    ...defined({ agent, mode }),
    ...otherFields(request, SKIPPED),
  };
}

/** Fields that are mapped here, repeated elsewhere in the file, or part of the editor's view. */
const SKIPPED = [
  "requestId",
  "timestamp",
  "message",
  "response",
  "responseId",
  "result",
  "modelId",
  "agent",
  "variableData",
  "modeInfo",
  "followups",
  "contentReferences",
  "codeCitations",
  "usedContext",
  "responseMarkdownInfo",
  "editedFileEvents",
  "modelState",
  "isCanceled",
  "isHidden",
  "completionTokens",
  "timeSpentWaiting",
  "elapsedMs",
  "shouldBeRemovedOnSend",
  "isComplete",
];

/** The rounds of calls, as the model was asked. */
function toRounds(metadata: Fields): Answer[] {
  const given = objectField(metadata, "toolCallResults");
  return objectsIn(metadata["toolCallRounds"]).map((round): Answer => {
    const calls = objectsIn(round["toolCalls"]).map((call) => {
      const { arguments: input } = call;
      return {
        id: textField(call, "id") ?? "",
        name: nameOf(call["name"] ?? ""),
        input:
          typeof input === "string" && input !== "" ? input : (JSON.stringify(input ?? {}) ?? "{}"),
      };
    });
    const thought = toText(objectField(round, "thinking")["text"]);
    const said = textField(round, "response") ?? "";
    const blocks: Block[] = [
      ...(thought === "" ? [] : [{ type: "thinking" as const, text: thought }]),
      ...(said === "" ? [] : [{ type: "text" as const, text: said }]),
      ...calls.map((call): Block => ({ type: "tool_use", ...call })),
    ];
    const results = calls.flatMap(({ id, name }): Block[] => {
      if (!Object.hasOwn(given, id)) return [];
      const output = outputOf(objectsIn(objectField(given, id)["content"]));
      return [{ type: "tool_result", toolUseId: id, toolName: name, output, isError: false }];
    });
    return { blocks, results, at: timeField(round, "timestamp") };
  });
}

/** A part is text, a rendered tree, or named data. */
function outputOf(content: readonly Fields[]): string {
  return content
    .map((part) => {
      const { value } = part;
      if (typeof value === "string") return value;
      const text = isPlainObject(value) ? textField(value, "text") : undefined;
      if (text !== undefined) return text;
      if (isPlainObject(value)) return treeText(value["node"] ?? value);
      return `[${textField(part, "mimeType") ?? "data"}]`;
    })
    .join("\n");
}

function treeText(node: unknown): string {
  if (!isPlainObject(node)) return "";
  const own = textField(node, "text") ?? "";
  const ends = node["lineBreakBefore"] === true ? "\n" : "";
  return ends + own + objectsIn(node["children"]).map(treeText).join("");
}

/** Some versions have no round for the answer after the last call: the shown one is used. */
function withEnd(rounds: readonly Answer[], shown: readonly Answer[]): readonly Answer[] {
  const last = shown.at(-1);
  const isEnded = rounds.at(-1)?.blocks.every(({ type }) => type !== "tool_use") ?? false;
  const saysMore = last !== undefined && last.results.length === 0 && last.calls === 0;
  return isEnded || !saysMore ? rounds : [...rounds, last];
}

function toUsage(metadata: Fields, request: Fields): Usage | null {
  const input = countField(metadata, "promptTokens");
  const output = countField(metadata, "outputTokens") ?? countField(request, "completionTokens");
  if (input === undefined && output === undefined) return null;
  return {
    inputTokens: input ?? 0,
    outputTokens: output ?? 0,
    cacheCreationTokens: 0,
    cacheReadTokens: 0,
  };
}

function toFailure(result: Fields, sourceId: string, createdAt: number | null): EntryDraft[] {
  const text = textField(objectField(result, "errorDetails"), "message");
  if (text === undefined) return [];
  const data = { type: `${FORMAT}:error` };
  const blocks: Block[] = [{ type: "text", text }];
  return [{ sourceId: `${sourceId}/error`, id: null, kind: "custom", blocks, data, createdAt }];
}

/** The text of a response, its calls and their results. */
interface Answer {
  readonly blocks: readonly Block[];
  readonly results: readonly Block[];
  readonly at: number | null;
  readonly calls?: number;
}

/** A new answer begins with text after results. */
function shownAnswers(
  parts: readonly Fields[],
  ignore: (kind: string) => void,
): (Answer & { readonly calls: number })[] {
  const answers: { blocks: Block[]; results: Block[]; at: null; calls: number }[] = [];
  let text = "";
  const current = (isCall: boolean) => {
    const last = answers.at(-1);
    if (last !== undefined && (isCall || last.calls === 0)) return last;
    const next = { blocks: [], results: [], at: null, calls: 0 };
    answers.push(next);
    return next;
  };
  const flush = () => {
    if (text.trim() !== "") current(false).blocks.push({ type: "text", text });
    text = "";
  };
  for (const part of parts) {
    const said = saidBy(part);
    if (said !== undefined) {
      text += said;
      continue;
    }
    const { kind } = part;
    if (kind === "thinking") {
      const thought = toText(part["value"]);
      flush();
      if (thought !== "") current(false).blocks.push({ type: "thinking", text: thought });
    } else if (kind === "toolInvocationSerialized") {
      if (callerOf(part) !== undefined) continue;
      flush();
      const answer = current(true);
      answer.blocks.push(toCall(part));
      answer.calls++;
      answer.results.push(...toResult(part));
    } else ignore(nameOf(kind));
  }
  flush();
  return answers;
}

/** Answers of sub-agents by run id: only calls and results, as the editor shows no more. */
function subAgentAnswers(parts: readonly Fields[]): Map<string, Answer> {
  const found = new Map<string, { blocks: Block[]; results: Block[]; at: null }>();
  for (const part of parts) {
    const caller = part["kind"] === "toolInvocationSerialized" ? callerOf(part) : undefined;
    if (caller === undefined) continue;
    const answer = found.get(caller) ?? { blocks: [], results: [], at: null };
    found.set(caller, answer);
    answer.blocks.push(toCall(part));
    answer.results.push(...toResult(part));
  }
  return found;
}

/** The call that starts a sub-agent also has the run's id; it belongs to the agent itself. */
function callerOf(part: Fields): string | undefined {
  if (objectField(part, "toolSpecificData")["kind"] === "subagent") return undefined;
  return textField(part, "subAgentInvocationId");
}

/** Text between other parts is joined: references interrupt it. */
function saidBy(part: Fields): string | undefined {
  const { kind, value, content } = part;
  if (kind === undefined && typeof value === "string") return value;
  if (kind === "markdownContent" || kind === "markdownVuln") {
    return isPlainObject(content) ? textField(content, "value") : toText(content ?? value);
  }
  if (kind !== "inlineReference") return undefined;
  const reference = objectField(part, "inlineReference");
  const uri = isPlainObject(reference["uri"]) ? reference["uri"] : reference;
  const path = textField(uri, "path") ?? textField(uri, "fsPath") ?? "";
  const name = textField(part, "name") ?? textField(reference, "name");
  return `\`${name ?? path.split("/").at(-1) ?? ""}\``;
}

function toCall(part: Fields): Block {
  const data = objectField(part, "toolSpecificData");
  const command =
    textField(objectField(data, "commandLine"), "original") ?? textField(data, "command");
  const input = objectField(part, "resultDetails")["input"] ?? data["rawInput"];
  const own = typeof input === "string" ? input : undefined;
  const asked = data["kind"] === "subagent" ? otherFields(data, ["kind", "result"]) : {};
  const made = command === undefined ? (input ?? asked) : { command };
  return {
    type: "tool_use",
    id: textField(part, "toolCallId") ?? "",
    name: nameOf(part["toolId"] ?? ""),
    input: own ?? JSON.stringify(made) ?? "{}",
  };
}

function toResult(part: Fields): Block[] {
  const output = objectField(part, "resultDetails")["output"];
  const data = objectField(part, "toolSpecificData");
  const own = textField(data, "result");
  const terminal = textField(objectField(data, "terminalCommandOutput"), "text") ?? own;
  const texts = objectsIn(output).map((each) => textField(each, "value") ?? "");
  const past = toText(part["pastTenseMessage"]);
  const text = terminal ?? (texts.length > 0 ? texts.join("\n") : past);
  if (part["isComplete"] !== true && text === "") return [];
  const code = objectField(data, "terminalCommandState")["exitCode"];
  const isError =
    objectField(part, "resultDetails")["isError"] === true ||
    (typeof code === "number" && code !== 0);
  const toolUseId = textField(part, "toolCallId") ?? "";
  const toolName = nameOf(part["toolId"] ?? "");
  return [{ type: "tool_result", toolUseId, toolName, output: text, isError }];
}

/** Text, a list of texts, or Markdown with its text in `value`. */
function toText(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.filter((each) => typeof each === "string").join("");
  return isPlainObject(value) ? (textField(value, "value") ?? "") : "";
}
