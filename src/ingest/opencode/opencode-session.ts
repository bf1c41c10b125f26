/**
 * A session of opencode, message by message: decides which steps are complete, and which are
 * postponed.
 */

import type { Block } from "../../model/block.ts";
import type { Usage } from "../../model/entry.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { MAX_CONTENT_BYTES } from "../../model/limits.ts";
import { COPY_MARK, markField } from "../../transcript/copy-mark.ts";
import {
  type EntryDraft,
  KnownIds,
  toCustomEntry,
  toImportedEntry,
  toImportedSession,
} from "../drafts.ts";
import {
  costField,
  countField,
  type Fields,
  objectField,
  otherFields,
  resultBlock,
  textField,
  timeField,
} from "../fields.ts";
import { parseJson } from "../json-file.ts";
import { cutRecord, cutStrings } from "../long/long-line.ts";
import type { ProblemLog } from "../problems.ts";
import type { ImportedEntry, ImportedSession } from "../source.ts";

export const FORMAT = "opencode";

/** The agent's name: programs made from opencode have its format. */
type Format = string;

/** A step without writes for this long is complete. */
const QUIET_MS = 10 * 60 * 1000;

class OpencodeSession {
  readonly #format: Format;
  readonly #problems: ProblemLog;
  readonly #ids: KnownIds;
  readonly #postpone: (time: number) => void;
  /** The newest message: a following one shows that it is complete. */
  #newest: OpencodeMessage | undefined;

  constructor(format: Format, problems: ProblemLog, postpone: (time: number) => void) {
    this.#format = format;
    this.#problems = problems;
    this.#ids = new KnownIds(problems);
    this.#postpone = postpone;
  }

  *read(message: OpencodeMessage): Generator<ImportedEntry> {
    if (!this.#ids.isNew(message.id, [message.data, message.parts])) return;
    if (this.#newest !== undefined) yield* this.#give(this.#newest, true);
    this.#newest = message;
  }

  *end(): Generator<ImportedEntry> {
    const message = this.#newest;
    if (message === undefined) return;
    this.#newest = undefined;
    // Only an item with a write time can be postponed.
    const isLive = message.updatedAt > 0 && Date.now() - message.updatedAt < QUIET_MS;
    yield* this.#give(message, !isLive);
  }

  *#give(message: OpencodeMessage, isFollowed: boolean): Generator<ImportedEntry> {
    const { data } = message;
    const time = objectField(data, "time");
    const createdAt = timeField(time, "created");
    if (data["role"] === "user") {
      if (message.parts.length === 0 && !isFollowed) this.#postpone(message.updatedAt);
      else {
        yield toImportedEntry(this.#format, { ...toUserDraft(message, this.#format), createdAt });
      }
      return;
    }
    if (data["role"] !== "assistant") {
      const role = JSON.stringify(data["role"]) ?? "none";
      this.#problems.add("unexpected", `a message of the role ${role} was kept as custom data`);
      const fields = otherFields(data, ["id"]);
      yield toCustomEntry(this.#format, message.id, "message", fields, createdAt);
      return;
    }
    const isOver = isFollowed || time["completed"] !== undefined || data["error"] !== undefined;
    const steps = splitSteps(message);
    for (const [i, step] of steps.entries()) {
      if (!isOver && i === steps.length - 1 && !isDone(step)) {
        this.#postpone(message.updatedAt);
        return;
      }
      for (const draft of toStepDrafts(message, step, steps.length, this.#format)) {
        yield toImportedEntry(this.#format, { createdAt, ...draft });
      }
    }
  }
}

export function toOpencodeSession(
  session: Fields,
  messages: AsyncIterable<OpencodeMessage>,
  problems: ProblemLog,
  postpone: (time: number) => void,
  format: Format = FORMAT,
): ImportedSession {
  const time = objectField(session, "time");
  const steps = new OpencodeSession(format, problems, postpone);
  async function* entries(): AsyncGenerator<ImportedEntry> {
    for await (const message of messages) yield* steps.read(message);
    yield* steps.end();
  }
  const known = ["id", "parentID", "directory", "title"];
  return {
    ...toImportedSession(format, {
      id: textField(session, "id") ?? null,
      parentSession: textField(session, "parentID") ?? null,
      cwd: textField(session, "directory") || null,
      title: textField(session, "title") || null,
      startedAt: timeField(time, "created"),
      fields: otherFields(session, known),
    }),
    entries: entries(),
    problems,
  };
}

// Steps: the output of one model call. A message of opencode has one, or all of a turn.
//
// A step becomes a message, followed by one per completed tool call.

type Part = OpencodeMessage["parts"][number];

interface Step {
  /** The message's id, and from the second step on its number too. */
  readonly id: string;
  readonly parts: readonly Part[];
}

function splitSteps({ id, parts }: OpencodeMessage): Step[] {
  const steps: Part[][] = [[]];
  for (const part of parts) {
    if (part["type"] === "step-start" && steps.at(-1)?.length !== 0) steps.push([]);
    steps.at(-1)?.push(part);
  }
  return steps.map((list, i) => ({ id: i === 0 ? id : `${id}+${i}`, parts: list }));
}

/** It and its tools are marked as complete. */
function isDone({ parts }: Step): boolean {
  return (
    parts.some(({ type }) => type === "step-finish") &&
    parts.every((part) => part["type"] !== "tool" || hasEnded(stateOf(part)))
  );
}

function toStepDrafts(
  { id, data }: OpencodeMessage,
  step: Step,
  steps: number,
  format: Format,
): EntryDraft[] {
  const { parts } = step;
  const blocks = parts.flatMap((part) => toBlock(part, format));
  const finish = parts.find(({ type }) => type === "step-finish");
  const known = ["id", "sessionID", "role", "modelID", "tokens"];
  const isFirst = step.id === id;
  const answer: EntryDraft = {
    sourceId: step.id,
    id,
    kind: "message",
    role: "assistant",
    actor: format,
    blocks,
    model: textField(data, "modelID") ?? null,
    usage: toUsage(steps === 1 ? data["tokens"] : finish?.["tokens"]),
    ...costField(steps === 1 ? data : (finish ?? {}), "cost"),
    fields: isFirst ? { ...otherFields(data, known), ...copyMarkOf(parts) } : {},
  };
  if (data["summary"] === true) {
    const text = blocks.filter(({ type }) => type === "text");
    const summary = { firstKeptEntryId: null, tokensBefore: null };
    return [{ ...answer, kind: "compaction", role: null, blocks: text, data: summary }];
  }
  return [answer, ...parts.flatMap(toResult)];
}

function toBlock(part: Part, format: Format): Block[] {
  const text = textField(part, "text");
  const rest = otherFields(part, ["type", "text", "id", "messageID", "sessionID"]);
  switch (part["type"]) {
    case "text":
      return text === undefined ? [] : [{ ...rest, type: "text", text }];
    case "reasoning":
      return text === undefined ? [] : [{ ...rest, type: "thinking", text }];
    case "tool": {
      const name = textField(part, "tool") ?? "";
      const input = stateOf(part)["input"];
      return [{ type: "tool_use", id: callOf(part), name, input: JSON.stringify(input ?? {}) }];
    }
    // Markers of steps and of the working tree, outside the conversation.
    case "step-start":
    case "step-finish":
    case "snapshot":
    case "patch":
      return [];
    default:
      return [
        { type: "opaque", provider: format, json: JSON.stringify({ ...rest, type: part["type"] }) },
      ];
  }
}

function toResult(part: Part): EntryDraft[] {
  const state = stateOf(part);
  if (part["type"] !== "tool" || !hasEnded(state)) return [];
  const name = textField(part, "tool");
  const isError = state["status"] === "error" || name === "invalid";
  const output = textField(state, "output") ?? textField(state, "error") ?? "";
  const time = objectField(state, "time");
  const known = ["status", "input", "output", "error", "time"];
  return [
    {
      sourceId: part.id,
      kind: "message",
      role: "tool",
      actor: name ?? null,
      blocks: [resultBlock(callOf(part), name, output, isError)],
      createdAt: timeField(time, "end"),
      fields: { ...otherFields(state, known), ...copyMarkOf([state]) },
    },
  ];
}

function stateOf(part: Fields): Fields {
  return objectField(part, "state");
}

function hasEnded(state: Fields): boolean {
  return state["status"] === "completed" || state["status"] === "error";
}

function callOf(part: Part): string {
  return textField(part, "callID") ?? part.id;
}

/** Thoughts are counted separately there. */
function toUsage(tokens: unknown): Usage | null {
  if (!isPlainObject(tokens)) return null;
  const cache: JsonObject | Fields = objectField(tokens, "cache");
  const usage = {
    inputTokens: countField(tokens, "input") ?? 0,
    outputTokens: (countField(tokens, "output") ?? 0) + (countField(tokens, "reasoning") ?? 0),
    cacheCreationTokens: countField(cache, "write") ?? 0,
    cacheReadTokens: countField(cache, "read") ?? 0,
  };
  return Object.values(usage).some((count) => count > 0) ? usage : null;
}

/** User messages of opencode: typed text, and text that the program inserted. */
function toUserDraft({ id, data, parts }: OpencodeMessage, format: Format): EntryDraft {
  const texts = parts.filter(({ type }) => type === "text");
  const isInjected = texts.length > 0 && texts.every(({ synthetic }) => synthetic === true);
  const model = objectField(data, "model");
  const isMark = parts.length > 0 && parts.every(({ type }) => type === "compaction");
  const base = {
    sourceId: id,
    blocks: parts.map((part) => toUserBlock(part, format)),
    model: textField(model, "modelID") ?? null,
    fields: { ...otherFields(data, ["id", "sessionID", "role"]), ...copyMarkOf(parts) },
  };
  if (isMark) return { ...base, kind: "custom", data: { type: `${format}:compaction` } };
  return isInjected
    ? { ...base, kind: "custom_message", data: { type: `${format}:synthetic`, display: false } }
    : { ...base, kind: "message", role: "user" };
}

function toUserBlock(part: Fields, format: Format): Block {
  const text = textField(part, "text");
  if (part["type"] === "text" && text !== undefined) {
    return { ...otherFields(part, [...OWN, "text"]), type: "text", text };
  }
  const mediaType = textField(part, "mime");
  const url = textField(part, "url");
  if (part["type"] === "file" && mediaType?.startsWith("image/") && url !== undefined) {
    const rest = otherFields(part, [...OWN, "mime", "url"]);
    const [, data] = /^data:[^,]*;base64,(.*)$/s.exec(url) ?? [];
    return { ...rest, type: "image", mediaType, ...(data === undefined ? { url } : { data }) };
  }
  return { type: "opaque", provider: format, json: JSON.stringify(otherFields(part, IDS)) };
}

const IDS = ["id", "messageID", "sessionID"];
const OWN = ["type", ...IDS];

/** The kept length of each value when a message exceeds an entry by far. */
const KEPT_LENGTH = 1024;

/** All parts of one message are in memory together: later ones are cut shorter. */
export class MessageParts {
  readonly #problems: ProblemLog;
  #length = 0;

  constructor(problems: ProblemLog) {
    this.#problems = problems;
  }

  /** Undefined if `text` is not an object. */
  parse(text: string, name: string): Record<string, unknown> | undefined {
    const isMuch = this.#length > MAX_CONTENT_BYTES;
    const short = isMuch ? cutStrings(text, KEPT_LENGTH) : cutRecord(text, name, this.#problems);
    if (isMuch && short !== text) {
      this.#problems.add("line_cut", `${name} belongs to a very long message; its values were cut`);
    }
    this.#length += short.length;
    const value = parseJson(short);
    return isPlainObject(value) ? value : undefined;
  }
}

/** A message of opencode with its parts, as the database and the exports give it. */
export interface OpencodeMessage {
  readonly id: string;
  readonly data: Fields;
  readonly parts: readonly (Fields & { readonly id: string })[];
  /** The last write; 0 if unknown. */
  readonly updatedAt: number;
}

/** The copy mark of a message's parts, or of a tool's state. */
function copyMarkOf(parts: readonly Fields[]): JsonObject {
  for (const { metadata } of parts) {
    const mark = isPlainObject(metadata) ? markField(metadata) : undefined;
    if (mark !== undefined) return { [COPY_MARK]: mark };
  }
  return {};
}
