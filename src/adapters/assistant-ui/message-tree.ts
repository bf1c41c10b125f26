/**
 * The tree of messages of a session.
 *
 * Entries are never overwritten, so an updated message has several: the newest one counts, and the
 * children of all of them are the message's children. A removed message leaves a tombstone, whose
 * children become children of the message before it.
 */

import type { SessionApi } from "../../engine/interfaces.ts";
import type { MessageEntryInput } from "../../engine/writing/entry-input.ts";
import { type BlockInput, textOf } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import { isPlainObject, isSameJson, type JsonObject, type JsonValue } from "../../model/json.ts";
import { treePages } from "../common/sessions.ts";
import { toBlocks } from "../common/ui-parts.ts";

export interface TreeMessage<Kept> {
  readonly id: string;
  readonly parentId: string | null;
  /** The kept parts of the message's entries, the newest last. */
  readonly entries: readonly Kept[];
}

export interface MessageTree<Kept> {
  /** A message comes after its parent. */
  readonly messages: ReadonlyMap<string, TreeMessage<Kept>>;
  /** The active leaf. */
  readonly leaf: string | null;
  /** The last message of the active path. */
  readonly headId: string | null;
  /** The entries of the active path that move the leaf, the oldest first. */
  readonly path: readonly Kept[];
}

interface Node<Kept> {
  readonly parentId: string | null;
  /** The message that the entry holds. */
  readonly messageId: string | undefined;
  readonly kept: Kept;
}

/**
 * Reads the whole session, for a reader of `format`. `keep` gives the part of an entry that the caller
 * needs; it runs while the next page is read, and the rest of the page is dropped.
 */
export async function readTree<Kept>(
  session: SessionApi,
  format: string,
  keep: (entry: Entry, messageId: string | undefined) => Kept,
): Promise<MessageTree<Kept>> {
  const nodes = new Map<string, Node<Kept>>();
  const { leaf, entryCount } = await session.meta();
  for await (const page of treePages(session, entryCount)) {
    for (const entry of page) {
      const messageId = messageIdOf(entry, format);
      const { id, parentId } = entry;
      nodes.set(id, { parentId, messageId, kept: keep(entry, messageId) });
    }
  }
  return toTree(nodes, leaf);
}

/** `nodes` are in the order of writing. */
function toTree<Kept>(
  nodes: ReadonlyMap<string, Node<Kept>>,
  leaf: string | null,
): MessageTree<Kept> {
  /** The id of the nearest message from an entry upwards, other than `own`. */
  const messageFrom = (from: string | null, own?: string): string | null => {
    for (const { messageId } of pathFrom(nodes, from)) {
      if (messageId !== undefined && messageId !== own) return messageId;
    }
    return null;
  };
  const messages = new Map<string, TreeMessage<Kept>>();
  for (const { messageId: id, parentId: from, kept } of nodes.values()) {
    if (id === undefined) continue;
    const versions = messages.get(id)?.entries ?? [];
    messages.set(id, { id, parentId: messageFrom(from, id), entries: [...versions, kept] });
  }
  return {
    messages,
    leaf,
    headId: lastBelow(messages, messageFrom(leaf)),
    path: [...pathFrom(nodes, leaf)].map(({ kept }) => kept).reverse(),
  };
}

/** The newest message below `from`: the page drops messages after the head. */
function lastBelow(
  messages: ReadonlyMap<string, TreeMessage<unknown>>,
  from: string | null,
): string | null {
  const newest = new Map<string | null, string>();
  for (const { id, parentId } of messages.values()) newest.set(parentId, id);
  let head = from;
  for (let next = newest.get(head); next !== undefined; next = newest.get(head)) head = next;
  return head;
}

/** The entry, its parent, and so on up to the root. */
function* pathFrom<Kept>(
  nodes: ReadonlyMap<string, Node<Kept>>,
  from: string | null,
): Generator<Node<Kept>, void> {
  let node = from === null ? undefined : nodes.get(from);
  while (node !== undefined) {
    yield node;
    node = node.parentId === null ? undefined : nodes.get(node.parentId);
  }
}

/** Marks the sessions (`origin.source`) and entries (`adapter`) of this adapter. */
export const SOURCE = "assistant-ui";

/** The format of messages that are stored as `ThreadMessage`. */
export const THREAD_MESSAGE = "thread-message";
/** The prefix of the names of the AI SDK's formats. */
const AI_SDK = "ai-sdk/";

/** The authors of messages. */
export interface Authors {
  readonly user: string;
  readonly agent: string;
}

/** The raw payload of an entry. */
export interface StoredMessage {
  readonly id: string;
  /** The encoding of `content`: `THREAD_MESSAGE`, or the name of the format that encoded it. */
  readonly format: string;
  readonly content: JsonValue;
  readonly runConfig?: JsonValue;
}

type Fields = Readonly<Record<string, unknown>>;

export function toEntryInput(stored: StoredMessage, authors: Authors): MessageEntryInput {
  const content: Fields = isPlainObject(stored.content) ? stored.content : {};
  const role = roleOf(content);
  const createdAt = timeOf(content);
  const input: MessageEntryInput = {
    role,
    actor: role === "user" ? authors.user : authors.agent,
    content: blocksOf(content),
    adapter: SOURCE,
    raw: stored as unknown as JsonObject,
  };
  return createdAt === undefined ? input : { ...input, createdAt };
}

/** Undefined: another program wrote the entry, or it is erased. */
export function toStored(entry: Entry): StoredMessage | undefined {
  if (entry.adapter !== SOURCE || !isPlainObject(entry.raw)) return undefined;
  return entry.raw as unknown as StoredMessage;
}

export function isSame(entry: Entry, stored: StoredMessage): boolean {
  return isSameJson(entry.raw, stored as unknown as JsonObject);
}

/**
 * The id of the message that an entry holds; undefined if it holds none that can be shown. Messages of
 * another format than `format` are shown by their texts, in formats that we know.
 */
export function messageIdOf(entry: Entry, format: string = THREAD_MESSAGE): string | undefined {
  if (entry.kind !== "message" || entry.erased) return undefined;
  const stored = toStored(entry);
  if (stored?.format === format) return stored.id;
  const isKnown = format === THREAD_MESSAGE || format.startsWith(AI_SDK);
  if (!isKnown || textOf(entry.blocks) === "") return undefined;
  return stored?.id ?? entry.id;
}

/** JSON of a message: dates as text, without the browser's own object of an attached file. */
export function toJson(message: unknown): JsonValue {
  try {
    const text = JSON.stringify(message, (_, value: unknown) =>
      value instanceof Blob ? undefined : value,
    );
    return JSON.parse(text) as JsonValue;
  } catch (cause) {
    const why = "message must be JSON, without cycles and BigInts";
    throw new BackscrollError("invalid_input", why, { cause, details: { field: "message" } });
  }
}

/** `createdAt` is a date again, also of the messages of sub-agents below a tool call. */
export function toThreadMessage(content: JsonValue): unknown {
  if (Array.isArray(content)) return content.map((part) => toThreadMessage(part));
  if (!isPlainObject(content)) return content;
  const { createdAt, role, content: parts, messages } = content;
  const revived: Record<string, unknown> = { ...content };
  if (typeof role === "string" && typeof createdAt === "string")
    revived["createdAt"] = new Date(createdAt);
  if (Array.isArray(parts)) revived["content"] = toThreadMessage(parts as JsonValue);
  if (Array.isArray(messages)) revived["messages"] = toThreadMessage(messages as JsonValue);
  return revived;
}

/** A message that another program wrote, or another runtime: by its text. */
export function toPlainMessage(entry: Entry, id: string): unknown {
  const role = entry.role === "user" || entry.role === "system" ? entry.role : "assistant";
  const content = [{ type: "text", text: textOf(entry.blocks) }];
  const common = { id, role, createdAt: new Date(entry.createdAt), content };
  if (role === "system") return { ...common, metadata: { custom: {} } };
  if (role === "user") return { ...common, attachments: [], metadata: { custom: {} } };
  const metadata = {
    unstable_state: null,
    unstable_annotations: [],
    unstable_data: [],
    steps: [],
    custom: {},
  };
  return { ...common, status: { type: "complete", reason: "unknown" }, metadata };
}

/** The same as a stored message of the AI SDK, whose formats all have these fields. */
export function toPlainContent(entry: Entry): Record<string, unknown> {
  const role = entry.role === "user" || entry.role === "system" ? entry.role : "assistant";
  return { role, parts: [{ type: "text", text: textOf(entry.blocks) }] };
}

function roleOf({ role }: Fields): "user" | "assistant" | "system" {
  return role === "user" || role === "system" ? role : "assistant";
}

function timeOf({ createdAt }: Fields): number | undefined {
  const time = typeof createdAt === "string" ? Date.parse(createdAt) : Number.NaN;
  return Number.isSafeInteger(time) && time >= 0 ? time : undefined;
}

/** A `ThreadMessage` has its parts in `content`, a message of the AI SDK in `parts`. */
function blocksOf({ parts, content, attachments }: Fields): BlockInput[] {
  if (Array.isArray(parts)) return toBlocks(parts.filter(isPlainObject));
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return [
    ...listOf(content),
    ...listOf(attachments).flatMap((file) => listOf(file["content"])),
  ].flatMap(partBlocks);
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isPlainObject) : [];
}

function partBlocks(part: Record<string, unknown>): BlockInput[] {
  const { type, image } = part;
  if (type === "tool-call") return callBlocks(part);
  if (type !== "image" || typeof image !== "string" || image === "") return toBlocks([part]);
  const [, mediaType, data] = /^data:([^;,]+);base64,(.+)$/s.exec(image) ?? [];
  return mediaType === undefined
    ? [{ type: "image", url: image }]
    : [{ type: "image", mediaType, data }];
}

function callBlocks(part: Record<string, unknown>): BlockInput[] {
  const { toolCallId: id, toolName: name, args, argsText, result, isError } = part;
  const input = typeof argsText === "string" ? argsText : JSON.stringify(args ?? {});
  const call = { type: "tool_use", id, name, input };
  if (result === undefined) return [call];
  const output = typeof result === "string" ? result : JSON.stringify(result);
  const answer = { type: "tool_result", toolUseId: id, toolName: name, output };
  return [call, { ...answer, isError: isError === true }];
}
