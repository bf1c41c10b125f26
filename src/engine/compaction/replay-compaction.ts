/**
 * Replays a compaction under its idempotency key, such as for a caller that lost the answer.
 *
 * A plan after the compaction would differ from the first one, so the key is looked up before
 * planning. The entry's id is derived from the key, and the entry stores the request.
 */

import type { Entry } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { JsonObject } from "../../model/json.ts";
import { isPlainObject } from "../../model/json.ts";
import type { Idempotency } from "../../store/records.ts";
import type { EngineContext } from "../engine-context.ts";
import { toEntry } from "../entry-view.ts";
import { idempotency } from "../idempotency.ts";
import { ImportedIds } from "../import/imported-id.ts";
import type { CompactInput } from "./compact-options.ts";

/** The metadata field with the hash of the request. */
const REQUEST = "idempotency";

export interface CompactionKey {
  /** The id of the compaction's entry, derived from the key. */
  readonly id: string;
  readonly idempotency: Idempotency;
  readonly metadata: JsonObject;
}

/** Undefined without a key. Functions cannot be compared and are ignored. */
export function compactionKey(sessionId: string, input: CompactInput): CompactionKey | undefined {
  const { idempotencyKey, signal: _, before: __, summarizer, ...asked } = input;
  const how = typeof summarizer === "object" ? "own" : summarizer;
  const { idempotency: made } = idempotency(idempotencyKey, () => ["compact", asked, how]);
  if (made === undefined) return undefined;
  const id = new ImportedIds(`compaction/${sessionId}`).of(made.key);
  return { id, idempotency: made, metadata: { [REQUEST]: made.requestHash } };
}

/** The stored entry of the same request; throws `idempotency_conflict` for another request. */
export async function findRepeated(
  engine: EngineContext,
  sessionId: string,
  { id, idempotency: asked }: CompactionKey,
): Promise<Entry | undefined> {
  const page = await engine.store.findEntries(engine.tenant, [id], true);
  const [record] = page.entries;
  if (record === undefined || record.sessionId !== sessionId) return undefined;
  const entry = toEntry(record, page.payloads);
  if (entry.metadata[REQUEST] === asked.requestHash) return entry;
  throw new BackscrollError(
    "idempotency_conflict",
    `the key "${asked.key.slice(0, 80)}" was used for another compaction; use a new key`,
    { details: { key: asked.key } },
  );
}

/** The first call's result, without the erased entries. */
export function figuresOf(entry: Entry): {
  readonly removed: number;
  readonly firstKeptEntryId: string | null;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
} {
  const data: JsonObject = isPlainObject(entry.data) ? (entry.data as JsonObject) : {};
  const count = (name: string) => (typeof data[name] === "number" ? data[name] : 0);
  const first = data["firstKeptEntryId"];
  return {
    removed: count("covered"),
    firstKeptEntryId: typeof first === "string" ? first : null,
    tokensBefore: count("tokensBefore"),
    tokensAfter: count("tokensAfter"),
  };
}
