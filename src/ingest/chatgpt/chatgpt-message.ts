/** Messages of ChatGPT by author and content type. */

import type { Block } from "../../model/block.ts";
import { isPlainObject } from "../../model/json.ts";
import type { EntryDraft } from "../drafts.ts";
import { type Fields, nameOf, objectField, otherFields, textField } from "../fields.ts";
import { parseJson } from "../json-file.ts";

export const FORMAT = "chatgpt";

/** The place of a tool call. */
export interface CallPlace {
  readonly id: string;
  readonly name: string;
}

export interface Draft {
  readonly entry: EntryDraft;
  /** The message's tool call. */
  readonly call?: CallPlace;
  /** An unknown author or content type. */
  readonly unknown?: string;
}

/** Undefined for empty messages, which are frequent. */
export function toDraft(
  message: Fields,
  id: string,
  call: CallPlace | undefined,
): Draft | undefined {
  const content = objectField(message, "content");
  const author = objectField(message, "author");
  const metadata = objectField(message, "metadata");
  const { blocks, unknown } = toBlocks(content);
  if (blocks.length === 0) return undefined;
  const base = {
    sourceId: id,
    createdAt: toTime(message["create_time"]),
    model: textField(metadata, "model_slug") ?? null,
    fields: otherFields(message, ["id", "author", "content", "create_time"]),
  };
  const told = unknown === undefined ? {} : { unknown };
  const role = textField(author, "role");
  const type = textField(content, "content_type") ?? "";
  if (NOTES.has(type) || metadata["is_visually_hidden_from_conversation"] === true) {
    const data = { type: `${FORMAT}:${type}`, display: false };
    return { entry: { ...base, kind: "custom_message", blocks, data }, ...told };
  }
  switch (role) {
    case "user":
    case "system":
      return { entry: { ...base, kind: "message", role, blocks }, ...told };
    case "assistant":
      return { ...toAnswer(message, { ...base, blocks }), ...told };
    case "tool": {
      const name = textField(author, "name");
      const entry = toResult({ ...base, blocks }, name ?? call?.name, call?.id ?? `${id}/call`);
      return { entry, ...told };
    }
    default: {
      const data = { type: `${FORMAT}:message`, role: role ?? null };
      return { entry: { ...base, kind: "custom", blocks, data }, unknown: role ?? "no author" };
    }
  }
}

/** In seconds, with a fraction. */
export function toTime(seconds: unknown): number | null {
  const value = Number(nameOf(seconds ?? ""));
  const isTime = seconds !== null && seconds !== undefined && value > 0 && value < 8.64e12;
  return isTime ? Math.round(value * 1000) : null;
}

/** Content types of the program's notes: about the user, and the model's thinking time. */
const NOTES: ReadonlySet<string> = new Set([
  "user_editable_context",
  "model_editable_context",
  "reasoning_recap",
]);

type Base = Omit<EntryDraft, "kind"> & { readonly blocks: readonly Block[] };

/** An answer with a recipient is a tool call. */
function toAnswer(message: Fields, base: Base): Draft {
  const answer = { ...base, kind: "message", role: "assistant", actor: FORMAT } as const;
  const name = textField(message, "recipient") ?? "all";
  if (name === "all") return { entry: answer };
  const text = base.blocks
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n");
  const input = isPlainObject(parseJson(text)) ? text : JSON.stringify({ text });
  const others = base.blocks.filter(({ type }) => type !== "text");
  const call = { id: base.sourceId, name };
  return { entry: { ...answer, blocks: [...others, { type: "tool_use", ...call, input }] }, call };
}

function toResult(base: Base, name: string | undefined, toolUseId: string): EntryDraft {
  const [only] = base.blocks;
  const output = base.blocks.length === 1 && only?.type === "text" ? only.text : base.blocks;
  const toolName = name === undefined ? {} : { toolName: name };
  return {
    ...base,
    kind: "message",
    role: "tool",
    actor: name ?? null,
    blocks: [{ type: "tool_result", toolUseId, ...toolName, output, isError: false }],
  };
}

function toBlocks(content: Fields): { readonly blocks: Block[]; readonly unknown?: string } {
  const type = textField(content, "content_type") ?? "text";
  switch (type) {
    case "text":
    case "multimodal_text":
      return { blocks: listOf(content["parts"]).flatMap(toPart) };
    case "code":
    case "execution_output":
    case "system_error":
    case "tether_quote":
      return { blocks: toText(textField(content, "text"), otherFields(content, ["text"])) };
    case "tether_browsing_display":
      return { blocks: toText(textField(content, "result"), otherFields(content, ["result"])) };
    case "reasoning_recap":
      return { blocks: toText(textField(content, "content"), {}) };
    case "thoughts":
      return { blocks: listOf(content["thoughts"]).flatMap(toThought) };
    case "user_editable_context":
    case "model_editable_context":
      return {
        blocks: Object.entries(content).flatMap(([name, value]) =>
          name !== "content_type" && typeof value === "string" ? toText(value, {}) : [],
        ),
      };
    default:
      return {
        blocks: [{ type: "opaque", provider: FORMAT, json: JSON.stringify(content) }],
        unknown: type,
      };
  }
}

function toPart(part: unknown): Block[] {
  if (typeof part === "string") return toText(part, {});
  const fields: Fields = isPlainObject(part) ? part : {};
  const text = textField(fields, "text");
  if (text !== undefined) return toText(text, otherFields(fields, ["text"]));
  return [{ type: "opaque", provider: FORMAT, json: JSON.stringify(part) }];
}

function toThought(thought: unknown): Block[] {
  const fields: Fields = isPlainObject(thought) ? thought : {};
  const parts = [textField(fields, "summary"), textField(fields, "content")];
  const text = parts.filter(Boolean).join("\n");
  return text === "" ? [] : [{ type: "thinking", text }];
}

function toText(text: string | undefined, rest: Fields): Block[] {
  if (text === undefined || text === "") return [];
  const { content_type: _, ...others } = rest;
  return [{ ...others, type: "text", text }];
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
