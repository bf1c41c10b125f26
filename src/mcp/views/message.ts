/**
 * A message as data (bounded, masked, without provider data) and as text for a model (its text in
 * full, each tool call in a line); and a page of messages with a size limit each, for the tool and
 * the resource.
 *
 * A message may have megabytes. The caller chooses the shown size, and can ask for one message with
 * a larger one.
 */

import { z } from "zod";
import { toWireBlock } from "../../api/block.ts";
import { LONGEST_SECRET, maskBlock, maskText } from "../../api/mask.ts";
import { saidBlocks } from "../../api/text/session-heading.ts";
import { formatSpan } from "../../api/text/times.ts";
import { telling } from "../../api/text/tool-call.ts";
import { toWireTime } from "../../api/wire.ts";
import type { TenantApi } from "../../engine/interfaces.ts";
import { type Block, inputTextOf, type ToolUseBlock, textOf } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { JsonValue } from "../../model/json.ts";
import { DEFAULT_MCP_MESSAGE_BYTES, MAX_MCP_MESSAGE_BYTES } from "../../model/limits.ts";
import type { Session } from "../../model/session.ts";
import { readableBlock, withInputText } from "../../model/tool-input.ts";
import { cutToBytes } from "../fit-listing.ts";
import { toLine, withinProject } from "./line.ts";

interface BlockView {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface MessageView {
  readonly entry_id: string;
  readonly msg_idx: number | null;
  readonly role: string | null;
  readonly actor: string | null;
  readonly created_at: string;
  readonly model: string | null;
  readonly blocks: readonly BlockView[];
  /** The message is cut. */
  readonly truncated: boolean;
  readonly erased: boolean;
}

export const BLOCK_VIEW: z.ZodType<BlockView> = z.looseObject({ type: z.string() });

export const MESSAGE_VIEW: z.ZodType<MessageView> = z.object({
  entry_id: z.string(),
  msg_idx: z.number().int().nullable(),
  role: z.string().nullable(),
  actor: z.string().nullable(),
  created_at: z.string(),
  model: z.string().nullable(),
  blocks: z.array(BLOCK_VIEW),
  truncated: z.boolean(),
  erased: z.boolean(),
});

export function toMessageView(entry: Entry, maxBytes: number): MessageView {
  const { blocks, truncated } = toBlockViews(entry.blocks, maxBytes);
  return {
    entry_id: entry.id,
    msg_idx: entry.index,
    role: entry.role,
    actor: entry.actor,
    created_at: toWireTime(entry.createdAt),
    model: entry.model,
    blocks,
    truncated: truncated || entry.truncated,
    erased: entry.erased,
  };
}

/** Cut to so much text, plus the rest of a secret at the cut. */
function cutEntry(entry: Entry, maxBytes: number): Entry {
  const { blocks, truncated } = cutBlocks(entry.blocks, maxBytes + LONGEST_SECRET);
  return { ...entry, blocks, truncated: truncated || entry.truncated };
}

interface BlockViews {
  readonly blocks: readonly BlockView[];
  readonly truncated: boolean;
}

/** Wire blocks with at most so many bytes of text together, from the first on. */
export function toBlockViews(blocks: readonly Block[], maxBytes: number): BlockViews {
  // Redaction takes time, so text that cannot be shown is cut first.
  const near = cutBlocks(blocks, maxBytes + LONGEST_SECRET);
  const shown = cutBlocks(near.blocks.map(maskBlock), maxBytes);
  return {
    blocks: shown.blocks.map(toWireBlock),
    truncated: near.truncated || shown.truncated,
  };
}

function cutBlocks(
  blocks: readonly Block[],
  maxBytes: number,
): { readonly blocks: readonly Block[]; readonly truncated: boolean } {
  let room = maxBytes;
  let truncated = false;
  const take = (text: string): string => {
    const shown = cutToBytes(text, Math.max(room, 0));
    room -= Buffer.byteLength(shown);
    truncated ||= shown !== text;
    return shown;
  };
  const shown: Block[] = [];
  for (const block of blocks) {
    if (room <= 0) return { blocks: shown, truncated: true };
    shown.push(cutBlock(block, take));
  }
  return { blocks: shown, truncated };
}

function cutBlock(block: Block, take: (text: string) => string): Block {
  switch (block.type) {
    case "text":
      return { ...block, text: take(block.text) };
    case "thinking":
      return { type: "thinking", text: take(block.text) };
    case "tool_use": {
      // The parsed object alone: the raw text would repeat it.
      const call = readableBlock(withInputText(block, take(inputTextOf(block)))) as ToolUseBlock;
      const { inputText: _, ...shown } = call;
      return shown;
    }
    case "tool_result": {
      const { output } = block;
      return {
        ...block,
        output:
          typeof output === "string" ? take(output) : output.map((part) => cutBlock(part, take)),
      };
    }
    case "image": {
      // Base64 costs tokens and means nothing to a model.
      const { type, mediaType, url } = block;
      const media = mediaType === undefined ? {} : { mediaType };
      return { type, ...media, ...(url === undefined ? {} : { url: take(url) }) };
    }
    case "opaque":
      return { ...block, json: take(block.json) };
  }
}

export function showBlocks(blocks: readonly BlockView[]): string {
  return blocks.map(showBlock).join("\n");
}

function showBlock(block: BlockView): string {
  switch (block.type) {
    case "text":
      return String(block["text"]);
    case "thinking":
      return `(thinking) ${String(block["text"])}`;
    case "tool_use":
      return `→ ${String(block["name"])} ${inputTextOf({ input: block["input"] as JsonValue })}`;
    case "tool_result": {
      const { output } = block;
      const text = Array.isArray(output) ? showBlocks(output as BlockView[]) : String(output);
      return `← ${String(block["tool_name"] ?? block["tool_use_id"])} ${text}`;
    }
    case "image":
      return `(image ${String(block["url"] ?? block["media_type"] ?? "")})`;
    default:
      return `(${block.type})`;
  }
}

const CALL_CHARACTERS = 240;
const RESULT_CHARACTERS = 320;
const INJECTED_CHARACTERS = 120;
/** The shortest pause that is shown. */
const PAUSE_MS = 60 * 60 * 1_000;

/** A system prompt, instructions or an environment: the client's words, not the conversation's. */
export function isClients(entry: Entry): boolean {
  if (entry.role === "system") return true;
  return entry.role === "user" && entry.blocks.length > 0 && saidBlocks(entry).length === 0;
}

interface MessageStyle {
  /**
   * Shows the whole message up to so many bytes, tool traffic included. Default: the short form.
   */
  readonly bytes?: number;
  readonly agent: string;
  readonly project: string | undefined;
  /** The time of the previous message. */
  readonly after?: number;
}

export function showMessage(entry: Entry, style: MessageStyle): string {
  const { index, role, actor, createdAt } = entry;
  const who = actor === null || actor === style.agent || role === "tool" ? role : actor;
  const pause = style.after === undefined ? 0 : createdAt - style.after;
  const later = pause >= PAUSE_MS ? ` (${formatSpan(pause)} later)` : "";
  const body = entry.erased ? "(erased)" : showBody(entry, style.bytes);
  // Messages with only thinking are not shown.
  if (body === "") return "";
  return `#${index ?? "-"} ${who ?? "note"}${later}: ${withinProject(body, style.project)}`;
}

function showBody(entry: Entry, bytes: number | undefined): string {
  if (bytes !== undefined) {
    const { blocks, truncated } = toBlockViews(entry.blocks, bytes);
    return `${showBlocks(blocks)}${truncated || entry.truncated ? "\n(cut: message_bytes shows more)" : ""}`;
  }
  const shown = saidBlocks(entry)
    .map(showInShort)
    .filter((text) => text !== "");
  const injected = shown.length === 0 ? textOf(entry.blocks).trim() : "";
  // Text that a client injected as the user, such as a skill, may have thousands of words.
  return injected === ""
    ? shown.join("\n")
    : `(injected by the client) ${toLine(masked({ type: "text", text: injected }, INJECTED_CHARACTERS * 8), INJECTED_CHARACTERS)}`;
}

function showInShort(block: Block): string {
  switch (block.type) {
    case "text":
      return cutToBytes(masked(block, DEFAULT_MCP_MESSAGE_BYTES).trim(), DEFAULT_MCP_MESSAGE_BYTES);
    // Thinking and provider data are left out.
    case "thinking":
    case "opaque":
      return "";
    case "tool_use":
      return showCall(maskBlock(block) as ToolUseBlock);
    case "tool_result": {
      const { output, toolName, isError } = block;
      const text = typeof output === "string" ? output : textOf(output);
      const shown = toLine(
        masked({ type: "text", text }, RESULT_CHARACTERS * 8),
        RESULT_CHARACTERS,
      );
      return `← ${maskText(toolName ?? "result")}${isError ? " (failed)" : ""} ${shown}`;
    }
    case "image":
      return "(image)";
  }
}

function masked(block: Extract<Block, { type: "text" }>, bytes: number): string {
  const near = { ...block, text: block.text.slice(0, bytes + LONGEST_SECRET) };
  const cut = maskBlock(near);
  const text = cut.type === "text" ? cut.text : "";
  return near.text.length < block.text.length ? `${text}…` : text;
}

function showCall(block: ToolUseBlock): string {
  const input = inputTextOf(block);
  return `→ ${block.name} ${toLine(telling(input) ?? input, CALL_CHARACTERS)}`;
}

interface MessagePageInput {
  readonly offset?: number;
  readonly limit: number;
  readonly leaf?: string;
  readonly around?: string;
  /** The limit of one message. */
  readonly messageBytes: number;
}

interface MessagePageView {
  readonly messages: MessageView[];
  readonly offset: number;
  readonly total: number;
  readonly next_cursor: string | null;
}

export async function readMessagePage(
  tenant: TenantApi,
  sessionId: string,
  input: MessagePageInput,
): Promise<MessagePageView> {
  const { messageBytes, ...query } = input;
  const page = await readEntryPage(tenant, sessionId, query);
  const messages = page.entries.map((entry) => toMessageView(entry, messageBytes));
  const { offset, total } = page;
  const end = offset + messages.length;
  const leaf = input.leaf ?? page.session.leaf ?? messages.at(-1)?.entry_id ?? null;
  return {
    messages,
    offset,
    total,
    next_cursor: end < total && messages.length > 0 ? formatCursor(end, leaf) : null,
  };
}

interface EntryPage {
  readonly session: Session;
  readonly entries: readonly Entry[];
  readonly offset: number;
  readonly total: number;
}

/** Cuts large messages as they are read: a whole page of them would exceed memory. */
export async function readEntryPage(
  tenant: TenantApi,
  sessionId: string,
  query: Omit<MessagePageInput, "messageBytes">,
): Promise<EntryPage> {
  const session = await tenant.getSessionMeta(sessionId);
  const { messages, offset, total } = await tenant.listMessages(session.id, {
    ...query,
    preview: true,
  });
  const entries: Entry[] = [];
  for (const entry of messages) {
    entries.push(
      entry.truncated ? cutEntry(await tenant.getEntry(entry.id), MAX_MCP_MESSAGE_BYTES) : entry,
    );
  }
  return { session, entries, offset, total };
}

interface PageStart {
  readonly offset: number;
  readonly leaf?: string;
}

/** A cursor names its path, because the active one may change. */
export function parseCursor(cursor: string): PageStart {
  const [, offset = "", leaf = ""] = /^(\d{1,15})\.(.*)$/s.exec(cursor) ?? [];
  if (offset !== "") return { offset: Number(offset), ...(leaf === "" ? {} : { leaf }) };
  throw new BackscrollError(
    "invalid_cursor",
    `"${cursor.slice(0, 80)}" is not a cursor of list_messages; use the next_cursor of a page`,
  );
}

export function formatCursor(offset: number, leaf: string | null): string {
  return `${offset}.${leaf ?? ""}`;
}
