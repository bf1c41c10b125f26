/**
 * Finds the sessions of openclaw's database that changed since an earlier reading.
 *
 * A record has its message's time, and may enter the database weeks later, with an imported or
 * restored file, so timestamps do not help. A session's fingerprint has its number of records, the
 * last one and its archives. Bucketed checksums, as in anti-entropy repair, keep the state small:
 * fingerprints are summed in a fixed number of groups, and the sessions of a group are read if its
 * sum differs.
 */

import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { sha256, toHex } from "../../transcript/hash.ts";
import { textField } from "../fields.ts";
import type { ForeignDatabase } from "../sqlite-file.ts";
import { ARCHIVES, COLD_ARCHIVES, hasArchives } from "./openclaw-archives.ts";
import { hasRecords } from "./openclaw-records.ts";

/** Hex digits of a group: at most 4,096 groups, some 70 KB in all. */
const GROUP_DIGITS = 3;

/** Bytes of a sum: a collision has a probability of 1 in 280 million million. */
const SUM_BYTES = 6;

export class SessionMarks {
  /** The fingerprints of sessions, oldest first. */
  readonly #facts = new Map<string, string[]>();
  readonly #sums = new Map<string, Buffer>();

  constructor(database: ForeignDatabase) {
    for (const sql of questions(database)) {
      for (const { id, ...facts } of database.rows(sql)) {
        if (typeof id !== "string" || id === "") continue;
        const known = this.#facts.get(id) ?? [];
        known.push(JSON.stringify(Object.entries(facts)));
        this.#facts.set(id, known);
      }
    }
    for (const [id, facts] of this.#facts) this.#add(id, facts);
  }

  /** All sessions, if there is no state or it belongs to another database. */
  *changedSince(state: JsonObject | undefined): Generator<string> {
    const known = state?.["sessions"];
    const sums = isPlainObject(known) ? known : {};
    for (const id of this.#facts.keys()) {
      const group = groupOf(id);
      if (textField(sums, group) !== sumText(this.#sums.get(group))) yield id;
    }
  }

  state(): JsonObject {
    const sums = [...this.#sums].map(([group, sum]) => [group, sumText(sum)]);
    return { sessions: Object.fromEntries(sums) as JsonObject };
  }

  #add(id: string, facts: readonly string[]): void {
    const group = groupOf(id);
    const sum = this.#sums.get(group) ?? Buffer.alloc(SUM_BYTES);
    const hash = sha256(Buffer.from(JSON.stringify([id, ...facts])));
    for (let i = 0; i < SUM_BYTES; i++) sum[i] = (sum[i] ?? 0) ^ (hash[i] ?? 0);
    this.#sums.set(group, sum);
  }
}

/** Each gives rows with an `id` and fingerprint columns. */
function questions(database: ForeignDatabase): string[] {
  const asked: string[] = [];
  if (hasRecords(database)) {
    asked.push(`SELECT session_id AS id, count(*) AS records, max(seq) AS last,
      max(created_at) AS newest FROM transcript_events
      GROUP BY session_id ORDER BY min(created_at), session_id`);
    // Changes whenever earlier records are replaced.
    if (database.has("transcript_rewrite_watermarks", "generation")) {
      asked.push(`SELECT session_id AS id, generation FROM transcript_rewrite_watermarks
        WHERE session_id IN (SELECT session_id FROM transcript_events)`);
    }
  }
  for (const table of [ARCHIVES, COLD_ARCHIVES]) {
    if (!hasArchives(database, table)) continue;
    asked.push(`SELECT session_id AS id, archive_name AS name FROM ${table} ORDER BY rowid`);
  }
  return asked;
}

function groupOf(id: string): string {
  return toHex(sha256(Buffer.from(id))).slice(0, GROUP_DIGITS);
}

function sumText(sum: Buffer | undefined): string | undefined {
  return sum?.toString("base64url");
}
