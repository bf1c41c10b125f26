/** The indexed text of a message: its text and tool use, with secrets masked. */

import type { Block } from "../../model/block.ts";
import { type Entry, kindRules } from "../../model/entry.ts";
import type { ToolIndexing } from "../../model/inputs/choices.ts";
import { LONGEST_SECRET, redact } from "../../secrets/redact.ts";
import { mayHaveData } from "../analysis/name.ts";
import { isInjected, withoutInjected } from "./injected.ts";
import { isOwnTool } from "./own-tools.ts";
import { endsOf, inputText, isLongOutput, outputTexts } from "./tool-text.ts";

/**
 * Limits of the indexed text per block and per message, in UTF-8 bytes. The rest is readable, not
 * searchable.
 */
export const MAX_INDEXED_BLOCK_BYTES: number = 64 * 1024;
export const MAX_INDEXED_MESSAGE_BYTES: number = 256 * 1024;

export type { ToolIndexing } from "../../model/inputs/choices.ts";

export const DEFAULT_TOOL_INDEXING: ToolIndexing = "all";

/** The blocks whose text is indexed. */
export function indexedTypes(tools: ToolIndexing): readonly Block["type"][] {
  if (tools === "names") return ["text"];
  return tools === "inputs" ? ["text", "tool_use"] : ["text", "tool_use", "tool_result"];
}

/**
 * The role for ranking. A message of tool calls or results alone is `tool`; an assistant's text
 * with a tool call is `acting`.
 */
export type RoleClass = "user" | "tool" | "assistant" | "system" | "acting";

export interface IndexableText {
  /** Redacted, as separate texts: no phrase spans two. */
  readonly parts: readonly string[];
  /** Tool outputs, in the same form. */
  readonly outputs: readonly string[];
  readonly roleClass: RoleClass;
  /** Injected text of tool outputs, redacted: a search does not find it, but a trace does. */
  readonly hidden: readonly string[];
  /** Whether another part of it is left out, masked, or one long term. */
  readonly isCut: boolean;
}

/** The fields of an entry that determine its text. */
export type IndexableEntry = Pick<Entry, "kind" | "role" | "status" | "blocks" | "metadata">;

/** The text of `entry` for the index; no parts if it is not indexed. */
export function indexableText(
  entry: IndexableEntry,
  options: { readonly tools?: ToolIndexing } = {},
): IndexableText {
  const roleClass = roleClassOf(entry);
  const out = !kindRules(entry.kind).indexed || entry.status !== "committed";
  if (out || isInjected(entry.metadata)) {
    const isCut = !out && entry.blocks.some(isTool);
    return { parts: [], outputs: [], roleClass, hidden: [], isCut };
  }
  const tools = options.tools ?? DEFAULT_TOOL_INDEXING;
  // A search of ours states nothing.
  const blocks = entry.blocks.filter(
    (block) => block.type !== "tool_use" || !isOwnTool(block.name),
  );
  const texts = blocks.flatMap((block) => textsOf(block, tools));
  // An agent's own text keeps markers: it may write about them.
  const said = entry.role === "assistant" ? texts : texts.map((text) => withoutInjected(text));
  const given = tools === "all" ? entry.blocks.flatMap(outputsOf) : [];
  const [parts, outputs] = [bounded(said), withinMessage(given.flatMap(endsOf))];
  const removed: string[] = [];
  const rest = given.map((text) => (isLongOutput(text) ? text : withoutInjected(text, removed)));
  const hidden = bounded(removed);
  // A user's only text counts without injected parts everywhere.
  const all = texts.length === 1 ? said : texts;
  const isLeftOut = blocks.length < entry.blocks.length;
  const isCut =
    isLeftOut || isOther(parts, all) || isOther(outputs, rest) || isOther(hidden, removed);
  return { parts, outputs, roleClass, hidden, isCut };
}

/** Whether the indexed texts differ from the given ones, blank ones aside. */
function isOther(indexed: readonly string[], texts: readonly string[]): boolean {
  const all = texts.filter((text) => text.trim() !== "");
  return (
    indexed.length < all.length || indexed.some((text, i) => text !== all[i] || mayHaveData(text))
  );
}

/** By all of its blocks. */
export function roleClassOf({ role, blocks }: Pick<IndexableEntry, "role" | "blocks">): RoleClass {
  const said = blocks.filter(({ type }) => type !== "thinking");
  if (said.length > 0 && said.every(isTool)) return "tool";
  if (role === "assistant" && said.some(isTool)) return "acting";
  return role ?? "system";
}

/** The texts of a field as they were written: neither masked nor cut. */
export function indexedParts(blocks: readonly Block[], field: "message" | "output"): string[] {
  return blocks.flatMap((block) => {
    if (field === "message") return textsOf(block, "all");
    return block.type === "tool_result" ? outputTexts(block) : [];
  });
}

function textsOf(block: Block, tools: ToolIndexing): string[] {
  switch (block.type) {
    case "text":
      return [block.text];
    case "tool_use":
      return tools === "names" ? [block.name] : [block.name, inputText(block)];
    case "tool_result":
      return block.toolName === undefined ? [] : [block.toolName];
    // Thinking is not indexed, and images and foreign blocks have no known text.
    case "thinking":
    case "image":
    case "opaque":
      return [];
  }
}

function outputsOf(block: Block): string[] {
  return block.type === "tool_result" ? outputTexts(block) : [];
}

function isTool({ type }: Block): boolean {
  return type === "tool_use" || type === "tool_result";
}

/** Parts up to the limit of one message. */
function withinMessage(parts: readonly string[]): string[] {
  let room = MAX_INDEXED_MESSAGE_BYTES;
  return parts.filter((part) => {
    room -= part.length;
    return room >= 0 && part.trim() !== "";
  });
}

function bounded(texts: readonly string[]): string[] {
  const length = texts.reduce((total, text) => total + text.length, 0);
  // Fast path: most messages are far below the limit.
  if (length * MAX_BYTES_A_UNIT <= MAX_INDEXED_BLOCK_BYTES) {
    return texts.map((text) => redact(text).text).filter((text) => text.trim() !== "");
  }
  const parts: string[] = [];
  let room = MAX_INDEXED_MESSAGE_BYTES;
  for (const text of texts) {
    const limit = Math.min(room, MAX_INDEXED_BLOCK_BYTES);
    if (limit === 0) break;
    const head = cutToBytes(text, limit + LONGEST_SECRET).text;
    const part = cutToBytes(redact(head).text, limit);
    if (part.text.trim() === "") continue;
    parts.push(part.text);
    room -= part.bytes;
  }
  return parts;
}

/** The most bytes of UTF-8 for one UTF-16 unit. */
const MAX_BYTES_A_UNIT = 3;
const encoder = new TextEncoder();

/** The longest head of `text` within `limit` bytes that ends between code points. */
function cutToBytes(
  text: string,
  limit: number,
): { readonly text: string; readonly bytes: number } {
  const { read, written } = encoder.encodeInto(
    text,
    new Uint8Array(Math.min(limit, text.length * 3)),
  );
  return { text: read === text.length ? text : text.slice(0, read), bytes: written };
}
