/**
 * The layout of an entry's content: a small JSON text, with large payloads out of line (as TOAST).
 *
 * A tool result can have megabytes, and the same file is read many times in a session. A payload
 * above the threshold is replaced in the text by its hash, size and head; its bytes are stored once
 * per tenant (content-addressed). So a page of previews reads no large payload, and a repeated
 * payload costs one hash.
 */

import { type Block, PAYLOAD_FIELDS } from "../model/block.ts";
import type { JsonValue } from "../model/json.ts";
import { sha256, toHex } from "./hash.ts";

/** Larger payloads move to blobs: measurements in docs/decisions. */
export const BLOB_THRESHOLD_BYTES = 4_096;

/** The threshold for tool traffic of an imported history, which is compressed in packs. */
export const PACKED_THRESHOLD_BYTES = 8_192;

/** The head of a payload in the text, in UTF-16 units, so that a preview needs no blob. */
const HEAD_LENGTH = 200;

export interface Payload {
  /** SHA-256 of `bytes` in hex: its address within a tenant. */
  readonly hash: string;
  /** The payload as JSON text, so that lone surrogates survive. */
  readonly bytes: Uint8Array;
}

export interface EncodedContent {
  readonly text: string;
  readonly payloads: readonly Payload[];
  /** UTF-8 bytes of the text and the payloads together. */
  readonly bytes: number;
}

export interface Content {
  readonly blocks: readonly Block[];
  readonly data: JsonValue;
  /** The writer's id. Default: none. */
  readonly externalId?: string | undefined;
  /** The writer's raw JSON text of a message. Default: none. */
  readonly raw?: string | undefined;
}

export interface DecodedContent extends Content {
  /** A payload is missing. */
  readonly truncated: boolean;
}

/** Replaces a payload in the text. */
interface BlobReference {
  readonly blob: string;
  readonly bytes: number;
  readonly head: string;
}

/** `thresholdBytes` is for measuring; `unsaidBytes` applies to all but text blocks. */
export function encodeContent(
  content: Content,
  thresholdBytes: number = BLOB_THRESHOLD_BYTES,
  unsaidBytes: number = thresholdBytes,
): EncodedContent {
  const payloads = new Map<string, Payload>();
  const blocks = content.blocks.map((block) =>
    detach(block, payloads, block.type === "text" ? thresholdBytes : unsaidBytes),
  );
  const { data, externalId, raw } = content;
  const isPlain = data === null && externalId === undefined && raw === undefined;
  let text = JSON.stringify(
    isPlain
      ? blocks
      : {
          blocks,
          data: data === null ? undefined : data,
          externalId,
          raw: raw === undefined ? undefined : detachText(raw, payloads, unsaidBytes),
        },
  );
  let bytes = Buffer.byteLength(text);
  // Thousands of small blocks, or large data: the text itself is the payload.
  if (bytes > 4 * thresholdBytes) {
    text = JSON.stringify(toPayload(text, bytes, payloads));
    bytes = Buffer.byteLength(text);
  }
  for (const payload of payloads.values()) bytes += payload.bytes.length;
  return { text, payloads: [...payloads.values()], bytes };
}

/**
 * The hashes of the blobs that `decodeContent` needs for the whole content, or for blocks of some
 * types.
 */
export function blobsOf(text: string, types?: readonly Block["type"][]): string[] {
  // Fast path: most texts have no reference and are not parsed. V8 searches for a pattern of more than six
  // characters at a quarter of the speed.
  if (!text.includes('"blob"')) return [];
  const found: string[] = [];
  const parsed: unknown = JSON.parse(text);
  if (isReference(parsed)) return [parsed.blob];
  for (const block of blocksOf(parsed)) {
    if (types?.includes(block["type"] as Block["type"]) ?? true) collectReferences(block, found);
  }
  const raw = Array.isArray(parsed) ? undefined : (parsed as StoredContent).raw;
  if (types === undefined && isReference(raw)) found.push(raw.blob);
  return [...new Set(found)];
}

/**
 * Reassembles content. `blob` gives the bytes of a payload, or undefined for a preview: then the
 * payload's head replaces it and `truncated` is true. Of a raw payload there is no head: it is left
 * out.
 *
 * A text that is itself in a blob refers to further blobs, so `blob` may be asked for hashes that
 * `blobsOf(text)` did not name: see `nestedBlobsOf`.
 */
export function decodeContent(
  text: string,
  blob: (hash: string) => Uint8Array | undefined,
): DecodedContent {
  const plain = plainTextOf(text);
  if (plain !== undefined) {
    return { blocks: [{ type: "text", text: plain }], data: null, truncated: false };
  }
  let parsed: unknown = JSON.parse(text);
  let truncated = false;
  if (isReference(parsed)) {
    const bytes = blob(parsed.blob);
    if (bytes === undefined) return { blocks: [], data: null, truncated: true };
    parsed = JSON.parse(JSON.parse(decode(bytes)) as string);
  }
  const blocks = blocksOf(parsed).map((block) =>
    attach(block, (reference) => {
      const bytes = blob(reference.blob);
      if (bytes !== undefined) return JSON.parse(decode(bytes)) as string;
      truncated = true;
      return reference.head;
    }),
  );
  if (Array.isArray(parsed)) return { blocks, data: null, truncated };
  const { data = null, externalId, raw } = parsed as StoredContent;
  if (!isReference(raw)) return { blocks, data, externalId, raw, truncated };
  const bytes = blob(raw.blob);
  if (bytes === undefined) return { blocks, data, externalId, truncated: true };
  return { blocks, data, externalId, raw: JSON.parse(decode(bytes)) as string, truncated };
}

/** Content with more than blocks. */
interface StoredContent {
  readonly blocks?: readonly unknown[];
  readonly data?: JsonValue;
  readonly externalId?: string;
  readonly raw?: string | BlobReference;
}

const PLAIN_START = '[{"type":"text","text":"';
const PLAIN_END = '"}]';

/**
 * The text of content with a single unescaped text block, as most short messages have: slicing
 * takes a tenth of the time of parsing. Undefined otherwise.
 */
function plainTextOf(content: string): string | undefined {
  if (!content.startsWith(PLAIN_START)) return undefined;
  const end = content.indexOf('"', PLAIN_START.length);
  if (end !== content.length - PLAIN_END.length || !content.endsWith(PLAIN_END)) return undefined;
  return content.includes("\\") ? undefined : content.slice(PLAIN_START.length, end);
}

/** The references inside a detached text. */
export function nestedBlobsOf(
  text: string,
  bytes: Uint8Array,
  types?: readonly Block["type"][],
): string[] {
  return isReference(JSON.parse(text)) ? blobsOf(JSON.parse(decode(bytes)) as string, types) : [];
}

function detach(block: Block, payloads: Map<string, Payload>, thresholdBytes: number): unknown {
  let copy: Record<string, unknown> | undefined;
  for (const field of PAYLOAD_FIELDS[block.type]) {
    const value = (block as unknown as Record<string, unknown>)[field];
    if (Array.isArray(value)) {
      copy = {
        ...(copy ?? block),
        [field]: value.map((inner: Block) => detach(inner, payloads, thresholdBytes)),
      };
    } else if (typeof value === "string") {
      const detached = detachText(value, payloads, thresholdBytes);
      if (detached !== value) copy = { ...(copy ?? block), [field]: detached };
    }
  }
  return copy ?? block;
}

/** The text itself, or its reference if it is large. */
function detachText(
  text: string,
  payloads: Map<string, Payload>,
  thresholdBytes: number,
): string | BlobReference {
  // A UTF-16 unit takes at most 3 bytes, so a short text needs no exact count.
  if (text.length * 3 <= thresholdBytes) return text;
  const bytes = Buffer.byteLength(text);
  return bytes > thresholdBytes ? toPayload(text, bytes, payloads) : text;
}

function toPayload(value: string, size: number, payloads: Map<string, Payload>): BlobReference {
  const bytes = Buffer.from(JSON.stringify(value));
  const hash = toHex(sha256(bytes));
  payloads.set(hash, { hash, bytes });
  return { blob: hash, bytes: size, head: headOf(value) };
}

/** The start of a payload, cut between code points. */
function headOf(value: string): string {
  const head = value.slice(0, HEAD_LENGTH);
  const last = head.charCodeAt(head.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? head.slice(0, -1) : head;
}

function attach(block: Record<string, unknown>, fill: (ref: BlobReference) => string): Block {
  for (const field of PAYLOAD_FIELDS[block["type"] as Block["type"]] ?? []) {
    const value = block[field];
    if (Array.isArray(value)) block[field] = value.map((inner) => attach(inner, fill));
    else if (isReference(value)) block[field] = fill(value);
  }
  return block as unknown as Block;
}

function collectReferences(block: Record<string, unknown>, found: string[]): void {
  for (const field of PAYLOAD_FIELDS[block["type"] as Block["type"]] ?? []) {
    const value = block[field];
    if (Array.isArray(value)) for (const inner of value) collectReferences(inner, found);
    else if (isReference(value)) found.push(value.blob);
  }
}

function blocksOf(parsed: unknown): Record<string, unknown>[] {
  const blocks = Array.isArray(parsed) ? parsed : (parsed as { blocks?: unknown[] }).blocks;
  return (blocks ?? []) as Record<string, unknown>[];
}

/** Payload fields hold strings or blocks, so an object with a `blob` there is a reference. */
function isReference(value: unknown): value is BlobReference {
  return typeof value === "object" && value !== null && !Array.isArray(value) && "blob" in value;
}

function decode(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
}
