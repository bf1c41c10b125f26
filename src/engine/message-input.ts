/** Maps a caller's input to the entries to store. */

import type { Block } from "../model/block.ts";
import {
  type EntryKind,
  FOREIGN_ROLES,
  type ForeignRole,
  kindRules,
  MESSAGE_ROLES,
  type Role,
} from "../model/entry.ts";
import { checkName } from "../model/ids.ts";
import { checkPart } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { isPlainObject, type JsonObject, type JsonValue, stringifyJson } from "../model/json.ts";
import { MAX_BATCH_BYTES, MAX_BATCH_ENTRIES, MAX_CONTENT_BYTES } from "../model/limits.ts";
import { storedBlocks } from "../model/tool-input.ts";
import type { NewEntry } from "../store/records.ts";
import { BLOB_THRESHOLD_BYTES, type Content, encodeContent } from "../transcript/content.ts";
import {
  type ContentInput,
  normalizeContent,
  normalizeToolCalls,
  normalizeToolResult,
  type ToolCallInput,
  type ToolResultInput,
} from "../transcript/normalize.ts";
import {
  checkCount,
  checkFlag,
  checkInput,
  checkMetadata,
  checkOneOf,
  checkTime,
  checkUsage,
  invalid,
  tooLarge,
  type UsageInput,
} from "./check.ts";

export interface MessageInput {
  /** Our role, or a foreign one: see `FOREIGN_ROLES`. */
  readonly role: Role | ForeignRole;
  /** The author: a user, an agent or a tool. */
  readonly actor?: string;
  /** Text or blocks. Optional with tool calls, tool results or `raw`. */
  readonly content?: ContentInput;
  /** Become `tool_use` blocks of this message. */
  readonly toolCalls?: readonly ToolCallInput[];
  /** Become one tool message each, right after this one. */
  readonly toolResults?: readonly ToolResultInput[];
  readonly usage?: UsageInput;
  /** The model's context window in tokens, for the `context_usage` change. */
  readonly contextWindow?: number;
  readonly model?: string;
  readonly adapter?: string;
  readonly metadata?: JsonObject;
  /** The time of the message. Default: now. */
  readonly createdAt?: number | Date;
  /** Whether this is real input that counts as activity. Default: true for the role user. */
  readonly interaction?: boolean;
  /**
   * The caller's id of the message, unique within the session forever: any text. An existing
   * message with this id is kept and returned instead.
   */
  readonly externalId?: string;
  /** Stored with the message unchanged: not searched, not in contexts, erased with the message. */
  readonly raw?: JsonValue;
}

/** A message of one entry. */
export interface PlainMessage extends MessageInput {
  readonly toolResults?: never;
}

/** A message of several entries: its own, if it has text or calls, and one per result. */
export interface MessageWithResults extends MessageInput {
  readonly toolResults: readonly ToolResultInput[];
}

export function hasResults(input: MessageInput | readonly MessageInput[]): boolean {
  return "toolResults" in input && (input.toolResults ?? null) !== null;
}

/** Fields that only the engine may set. */
export interface KindInput {
  readonly kind: EntryKind;
  readonly role?: Role | null;
  readonly actor?: string | null;
  readonly blocks: readonly Block[];
  readonly data?: JsonValue;
  readonly metadata?: JsonObject;
  readonly parentId?: string | null;
  readonly supersedes?: string;
  readonly externalId?: string;
}

/** Gives an id to a new entry; for an `externalId` always the same one. */
export type NewEntryId = (externalId?: string) => string;

/** A new entry, with its content as the caller will see it. */
export interface Draft {
  readonly entry: NewEntry;
  readonly blocks: readonly Block[];
  readonly data: JsonValue;
  /** Whether the caller gave the time. */
  readonly dated: boolean;
  readonly externalId?: string;
  /** JSON text. */
  readonly raw?: string;
}

/** The entries of one message: itself, and a tool message per result. */
export function draftMessage(
  input: MessageInput,
  newId: NewEntryId,
  now: number,
  field = "message",
): Draft[] {
  checkInput(input, field, INPUTS.append);
  const role = checkOneOf(input.role, MESSAGE_ROLES, "role");
  // JSON callers may send null for absent.
  const [given, called] = [input.toolResults ?? null, input.toolCalls ?? null];
  const results = given === null ? [] : toResults(given);
  const hasRaw = input.raw !== undefined;
  const said = input.content === undefined ? [] : toBlocks(input.content, hasRaw);
  const own = called === null ? said : [...said, ...toCalls(called)];
  if (own.length === 0 && results.length === 0 && !hasRaw) {
    throw invalid("content", "content is missing; a message needs text or blocks");
  }
  if (given !== null && (hasRaw || input.externalId !== undefined)) {
    throw invalid(
      hasRaw ? "raw" : "externalId",
      `a message with toolResults becomes several entries, so it takes no ${hasRaw ? "raw" : "externalId"}; append each result as a message of its own`,
    );
  }
  const createdAt = input.createdAt === undefined ? now : checkTime(input.createdAt, "createdAt");
  const isThere = own.length > 0 || hasRaw;
  const drafts = isThere ? [toMessage(input, role, own, newId, createdAt)] : [];
  for (const block of results) drafts.push(toToolMessage(block, newId(), createdAt));
  return drafts;
}

/** Empty content is valid only for a message with something else to store. */
function toBlocks(content: ContentInput, mayBeEmpty: boolean): readonly Block[] {
  return mayBeEmpty && content.length === 0 ? [] : normalizeContent(content);
}

function toResults(results: NonNullable<MessageInput["toolResults"]>): Block[] {
  return results.map((result, i) =>
    normalizeToolResult(
      checkPart(result, `toolResults[${i}]`, INPUTS["append.toolResults"]),
      `toolResults[${i}]`,
    ),
  );
}

function toCalls(calls: NonNullable<MessageInput["toolCalls"]>): readonly Block[] {
  const checked = calls.map((call, i) =>
    checkPart(call, `toolCalls[${i}]`, INPUTS["append.toolCalls"]),
  );
  return normalizeToolCalls(checked, "toolCalls");
}

/** An entry of any kind. */
export function draftEntry(input: KindInput, id: string, createdAt: number): Draft {
  const { externalId } = input;
  const entry: NewEntry = {
    id,
    kind: input.kind,
    role: input.role ?? null,
    actor: input.actor ?? null,
    ...draftContent({ blocks: input.blocks, data: input.data ?? null, externalId }),
    usage: null,
    model: null,
    adapter: null,
    metadata: input.metadata === undefined ? null : JSON.stringify(checkMetadata(input.metadata)),
    createdAt,
    interaction: kindRules(input.kind).counted && input.role === "user",
    ...(input.parentId === undefined ? {} : { parentId: input.parentId }),
    ...(input.supersedes === undefined ? {} : { supersedes: input.supersedes }),
  };
  const draft = { entry, blocks: input.blocks, data: input.data ?? null, dated: false };
  return externalId === undefined ? draft : { ...draft, externalId };
}

/** Throws `too_large` if a batch exceeds one transaction's limit. */
export function checkBatch(entries: readonly NewEntry[]): void {
  if (entries.length > MAX_BATCH_ENTRIES) {
    throw tooLarge(
      "entries in one append",
      MAX_BATCH_ENTRIES,
      entries.length,
      "append in several calls",
    );
  }
  const bytes = entries.reduce((sum, entry) => sum + sizeOf(entry), 0);
  if (bytes > MAX_BATCH_BYTES) {
    throw tooLarge("bytes in one append", MAX_BATCH_BYTES, bytes, "append in several calls");
  }
}

/** Bytes for the other fields of an entry in a request: names, ids, usage. */
const FIELDS_BYTES = 1024;

function sizeOf({ contentBytes, metadata }: NewEntry): number {
  return contentBytes + (metadata === null ? 0 : Buffer.byteLength(metadata)) + FIELDS_BYTES;
}

/** The identity of a request under an idempotency key: everything but generated ids and times. */
export function requestOf({ entry, dated }: Draft): unknown {
  return [
    entry.kind,
    entry.role,
    entry.actor,
    entry.content,
    entry.usage,
    entry.model,
    entry.adapter,
    entry.metadata,
    entry.interaction,
    entry.contextWindow ?? null,
    dated ? entry.createdAt : null,
    entry.parentId === undefined ? "leaf" : entry.parentId,
    entry.supersedes ?? null,
  ];
}

function toMessage(
  input: MessageInput,
  role: Role | ForeignRole,
  blocks: readonly Block[],
  newId: NewEntryId,
  createdAt: number,
): Draft {
  const name = (value: string | undefined, field: string) =>
    value === undefined ? null : checkName(value, field);
  const externalId = name(input.externalId, "externalId") ?? undefined;
  const raw = input.raw === undefined ? undefined : stringifyJson(input.raw, "raw");
  const { content, payloads, contentBytes } = draftContent({
    blocks,
    data: null,
    externalId,
    raw,
  });
  const metadata = withForeignRole(input.metadata, role);
  const entry: NewEntry = {
    id: newId(externalId),
    kind: "message",
    role: ownRole(role),
    actor: name(input.actor, "actor"),
    // Field by field: a spread copy would cost as much as a hash.
    content,
    payloads,
    contentBytes,
    usage: input.usage === undefined ? null : checkUsage(input.usage),
    model: name(input.model, "model"),
    adapter: name(input.adapter, "adapter"),
    metadata: metadata === undefined ? null : stringifyJson(checkMetadata(metadata), "metadata"),
    createdAt,
    interaction:
      input.interaction === undefined
        ? ownRole(role) === "user"
        : checkFlag(input.interaction, "interaction"),
    ...(input.contextWindow === undefined
      ? {}
      : { contextWindow: checkCount(input.contextWindow, "contextWindow") }),
  };
  const draft = { entry, blocks, data: null, dated: input.createdAt !== undefined };
  if (externalId === undefined && raw === undefined) return draft;
  return {
    ...draft,
    ...(externalId === undefined ? {} : { externalId }),
    ...(raw === undefined ? {} : { raw }),
  };
}

function isForeign(role: Role | ForeignRole): role is ForeignRole {
  return Object.hasOwn(FOREIGN_ROLES, role);
}

function ownRole(role: Role | ForeignRole): Role {
  return isForeign(role) ? FOREIGN_ROLES[role] : role;
}

/** Stored as the readers of other agents' files do with unknown fields. */
function withForeignRole(
  metadata: JsonObject | undefined,
  role: Role | ForeignRole,
): JsonObject | undefined {
  if (!isForeign(role)) return metadata;
  const source = metadata?.["source"];
  return { ...metadata, source: { ...(isPlainObject(source) ? source : {}), role } };
}

function toToolMessage(block: Block, id: string, createdAt: number): Draft {
  const actor = block.type === "tool_result" ? (block.toolName ?? null) : null;
  return draftEntry({ kind: "message", role: "tool", actor, blocks: [block] }, id, createdAt);
}

export type DraftedContent = Pick<NewEntry, "content" | "payloads" | "contentBytes">;

/** The stored content. Throws `too_large` above an entry's limit. */
export function draftContent(
  given: Content,
  unsaidBytes: number = BLOB_THRESHOLD_BYTES,
): DraftedContent {
  const stored = { ...given, blocks: storedBlocks(given.blocks) };
  const content = encodeContent(stored, BLOB_THRESHOLD_BYTES, unsaidBytes);
  if (content.bytes > MAX_CONTENT_BYTES) {
    throw tooLarge(
      "content in bytes",
      MAX_CONTENT_BYTES,
      content.bytes,
      "split it, or store a file and name it",
    );
  }
  return { content: content.text, payloads: content.payloads, contentBytes: content.bytes };
}
