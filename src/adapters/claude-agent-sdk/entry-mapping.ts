/**
 * Lines of a transcript as entries, and back.
 *
 * Lines of users and assistants become messages, so that they are searched and shown; the line itself is
 * kept beside the message. All other lines become custom entries.
 */

import type { EntryInput } from "../../engine/writing/entry-input.ts";
import { toBlocks } from "../../ingest/claude-code/claude-blocks.ts";
import { toUsage } from "../../ingest/claude-code/claude-usage.ts";
import type { Block } from "../../model/block.ts";
import type { Entry, Usage } from "../../model/entry.ts";
import { isPlainObject, type JsonValue } from "../../model/json.ts";
import type { ClaudeEntry } from "./sdk-types.ts";
import { SOURCE } from "./transcript-key.ts";

/** The authors of messages. */
export interface Authors {
  readonly user: string;
  readonly agent: string;
}

/** Gives the usage that a line is stored with: an answer of several lines repeats its own on each. */
export type CountUsage = (answer: string | undefined, usage: Usage) => Usage | null;

export function toEntryInput(
  line: ClaudeEntry,
  authors: Authors,
  countUsage: CountUsage,
): EntryInput {
  const blocks = saidBlocks(line);
  if (blocks === undefined) return toCustomInput(line);
  const message = line["message"] as Record<string, unknown>;
  const role = roleOf(line.type, blocks);
  const { model, id } = message;
  const answer = typeof id === "string" ? id : undefined;
  const read = role === "assistant" ? toUsage(message["usage"]) : null;
  const usage = read === null ? null : countUsage(answer, read);
  return {
    role,
    content: blocks,
    adapter: SOURCE,
    raw: line as JsonValue,
    ...(role === "tool" ? {} : { actor: role === "user" ? authors.user : authors.agent }),
    ...(typeof model === "string" && model !== "" ? { model } : {}),
    ...(usage === null ? {} : { usage }),
    ...writerFields(line),
  };
}

/** The line as an extension's state. */
export function toCustomInput(line: ClaudeEntry): EntryInput {
  return { kind: "custom", type: SOURCE, data: line as JsonValue, ...writerFields(line) };
}

/** The line that an entry was made of; undefined if another program wrote the entry, or it is erased. */
export function toLine(entry: Entry): ClaudeEntry | undefined {
  if (entry.kind === "message") {
    return entry.adapter === SOURCE && isPlainObject(entry.raw)
      ? (entry.raw as ClaudeEntry)
      : undefined;
  }
  if (entry.kind !== "custom" || !isPlainObject(entry.data)) return undefined;
  const { type, data } = entry.data;
  return type === SOURCE ? (data as ClaudeEntry) : undefined;
}

/** The request in a line of a user, for the title of its session. */
export function requestOf(line: ClaudeEntry): string | undefined {
  const blocks = line.type === "user" ? saidBlocks(line) : undefined;
  if (blocks === undefined || roleOf(line.type, blocks) !== "user") return undefined;
  const text = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  return text === "" ? undefined : text;
}

/** Undefined for a line without a message, including injected ones. */
function saidBlocks(line: ClaudeEntry): Block[] | undefined {
  const { type, message } = line;
  if ((type !== "user" && type !== "assistant") || !isPlainObject(message)) return undefined;
  if (line["isMeta"] === true || line["isCompactSummary"] === true) return undefined;
  return toBlocks(message["content"]);
}

function roleOf(type: string, blocks: readonly Block[]): "user" | "assistant" | "tool" {
  if (type === "assistant") return "assistant";
  return blocks.some((block) => block.type === "tool_result") ? "tool" : "user";
}

function writerFields({ uuid, timestamp }: ClaudeEntry): {
  readonly externalId?: string;
  readonly createdAt?: number;
} {
  const time = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
  return {
    ...(typeof uuid === "string" && uuid.trim() !== "" ? { externalId: uuid } : {}),
    ...(Number.isSafeInteger(time) && time >= 0 ? { createdAt: time } : {}),
  };
}
