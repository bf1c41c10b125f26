import type { Role } from "../../model/entry.ts";
import { textOrNull } from "../damage/stored-json.ts";
import type { Row } from "../records.ts";
import type { PendingRecord } from "../requests.ts";

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
