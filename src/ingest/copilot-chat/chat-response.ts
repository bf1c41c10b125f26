/** The parts of an answer as VS Code shows them: text, thoughts, tool calls, and view state. */

import type { Block } from "../../model/block.ts";
import { isPlainObject } from "../../model/json.ts";
import { type Fields, nameOf, objectField, objectsIn, otherFields, textField } from "../fields.ts";

export const FORMAT = "copilot-chat";

/** The text of a response, its calls and their results. */
export interface Answer {
  readonly blocks: readonly Block[];
  readonly results: readonly Block[];
  readonly at: number | null;
  readonly calls?: number;
}

/** A new answer begins with text after results. */
export function shownAnswers(
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
export function subAgentAnswers(parts: readonly Fields[]): Map<string, Answer> {
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
export function toText(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.filter((each) => typeof each === "string").join("");
  return isPlainObject(value) ? (textField(value, "value") ?? "") : "";
}
