/** Plans the entry of a pending message. */

import type { Role } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import { MAX_CONTENT_BYTES } from "../../model/limits.ts";
import { type Chunk, foldChunks } from "../../transcript/chunks.ts";
import { encodeContent } from "../../transcript/content.ts";
import { entryDamaged } from "../damage/damage-errors.ts";
import { parseStored, textOrNull } from "../damage/stored-json.ts";
import type { NewEntry, Row } from "../records.ts";
import type { AbortStreamRequest, CommitStreamRequest, PendingRecord } from "../requests.ts";

/** Throws `too_large` once a pending message exceeds a committable size. */
export function checkPendingBytes(id: string, bytes: number): void {
  if (bytes > 2 * MAX_CONTENT_BYTES) throw tooLarge(id, bytes);
}

/** Throws `invalid_input` for an empty message, `too_large` above the limit. */
export function committedEntry(pending: PendingRecord, request: CommitStreamRequest): NewEntry {
  const blocks = foldChunks(chunksOf(pending, request.chunks));
  if (blocks.length === 0) {
    throw new BackscrollError(
      "invalid_input",
      `message ${pending.id} is empty; write to it before the commit, or abort it`,
      { details: { field: "content" } },
    );
  }
  const content = encodeContent({ blocks, data: null });
  if (content.bytes > MAX_CONTENT_BYTES) throw tooLarge(pending.id, content.bytes);
  return {
    ...base(pending),
    content: content.text,
    payloads: content.payloads,
    contentBytes: content.bytes,
    usage: request.usage,
    model: request.model ?? pending.model,
    adapter: request.adapter ?? pending.adapter,
    metadata: request.metadata ?? pending.metadata,
    createdAt: request.now,
    interaction: pending.role === "user",
    ...(request.parentId === undefined ? {} : { parentId: request.parentId }),
    ...(request.supersedes === undefined ? {} : { supersedes: request.supersedes }),
    ...(request.contextWindow === undefined ? {} : { contextWindow: request.contextWindow }),
    ...(request.estimatedContext === undefined
      ? {}
      : { estimatedContext: request.estimatedContext }),
  };
}

/** Keeps all received chunks, of any size. */
export function abortedEntry(pending: PendingRecord, request: AbortStreamRequest): NewEntry {
  const blocks = foldChunks(chunksOf(pending, request.chunks));
  const content = encodeContent({ blocks, data: { reason: request.reason } });
  return {
    ...base(pending),
    content: content.text,
    payloads: content.payloads,
    contentBytes: content.bytes,
    usage: null,
    model: pending.model,
    adapter: pending.adapter,
    metadata: pending.metadata,
    createdAt: request.now,
    interaction: false,
    status: "aborted",
  };
}

function base(pending: PendingRecord): Pick<NewEntry, "id" | "kind" | "role" | "actor"> {
  return { id: pending.id, kind: "message", role: pending.role, actor: pending.actor };
}

function chunksOf(pending: PendingRecord, last: string | null): Chunk[] {
  const chunks = pendingChunks(pending);
  return last === null ? chunks : [...chunks, ...(JSON.parse(last) as Chunk[])];
}

/** The content of a pending message so far. Throws `store_corrupt` if a part is not JSON. */
export function pendingChunks({ id, sessionId, chunks }: PendingRecord): Chunk[] {
  return chunks.flatMap(
    (flush) =>
      parseStored(flush, (cause) =>
        entryDamaged(id, sessionId, "its text so far is not valid JSON", cause),
      ) as Chunk[],
  );
}

function tooLarge(id: string, bytes: number): BackscrollError {
  return new BackscrollError(
    "too_large",
    `message ${id} has ${bytes} bytes; at most ${MAX_CONTENT_BYTES} are allowed; abort it to keep its content`,
    { details: { field: "content", limit: MAX_CONTENT_BYTES, actual: bytes } },
  );
}

/** From a row of `streams` with its session's id, and the rows of its chunks in order. */
export function toPending(row: Row, chunks: readonly Row[]): PendingRecord {
  return {
    id: String(row["id"]),
    sessionId: String(row["session_id"]),
    role: row["role"] as Role,
    actor: row["actor"] as string | null,
    metadata: textOrNull(row["metadata"]),
    model: row["model"] as string | null,
    adapter: row["adapter"] as string | null,
    openedAt: Number(row["opened_at"]),
    expiresAt: Number(row["expires_at"]),
    chunks: chunks.map((chunk) => textOrNull(chunk["bytes"]) ?? "[]"),
  };
}
