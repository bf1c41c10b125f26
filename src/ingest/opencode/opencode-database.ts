/**
 * Queries of opencode's database.
 *
 * All sessions of a machine are in one file, which may have many gigabytes. A later reading queries
 * only sessions written to since.
 */

import type { JsonObject } from "../../model/json.ts";
import { countField, textField } from "../fields.ts";
import type { ProblemLog } from "../problems.ts";
import { type ForeignDatabase, type Row, shortColumn, textOfRow } from "../sqlite-file.ts";
import type { OpencodeMessage } from "./opencode-message.ts";
import { MessageParts } from "./opencode-parts.ts";

const DATA = shortColumn("data");

/** Rows may be committed this much later than their time. */
const SLACK_MS = 60_000;

export class OpencodeDatabase {
  readonly #file: ForeignDatabase;
  readonly #problems: ProblemLog;
  readonly #resume: JsonObject | undefined;
  readonly #since: number = 0;
  readonly #hasTimes: boolean;
  #newest = 0;
  isPostponed = false;

  constructor(file: ForeignDatabase, resume: JsonObject | undefined, problems: ProblemLog) {
    this.#file = file;
    this.#problems = problems;
    this.#resume = resume;
    this.#hasTimes = file.has("part", "time_updated") && file.has("message", "time_updated");
    // Read first: rows written meanwhile are read again.
    for (const table of this.#hasTimes ? ["session", "message", "part"] : []) {
      const [row] = file.rows(`SELECT max(time_updated) AS newest FROM ${table}`);
      this.#newest = Math.max(this.#newest, countField(row ?? {}, "newest") ?? 0);
    }
    const since = countField(resume ?? {}, "since") ?? 0;
    // An earlier maximum means another database, or an older state of it: then everything is read.
    if (this.#hasTimes && since <= this.#newest) this.#since = since;
  }

  /** Oldest first. */
  sessions(): Iterable<Row> {
    if (!this.#file.has("session")) return [];
    const changed = ["message", "part"]
      .map((table) => `id IN (SELECT session_id FROM ${table} WHERE time_updated >= ?1)`)
      .join(" OR ");
    return this.#since === 0
      ? this.#file.rows("SELECT * FROM session ORDER BY time_created, id")
      : this.#file.rows(
          `SELECT * FROM session WHERE time_updated >= ?1 OR ${changed} ORDER BY time_created, id`,
          this.#since,
        );
  }

  /** In order: ids grow with time. */
  *messages(sessionId: string): Generator<OpencodeMessage> {
    const times = this.#file.has("message", "time_updated") ? ", time_updated" : "";
    const messages = this.#file.rows(
      `SELECT id, ${DATA}${times} FROM message WHERE session_id = ? ORDER BY time_created, id`,
      sessionId,
    );
    const ofMessage = `SELECT id, ${DATA} FROM part WHERE message_id = ? ORDER BY id`;
    for (const row of messages) {
      const id = textField(row, "id") ?? "";
      const message = new MessageParts(this.#problems);
      const data = this.#dataOf("message", row, message);
      const parts = [];
      for (const part of this.#file.rows(ofMessage, id)) {
        parts.push({ ...this.#dataOf("part", part, message), id: textField(part, "id") ?? "" });
      }
      yield { id, data, parts, updatedAt: countField(row, "time_updated") ?? 0 };
    }
  }

  #dataOf(table: string, row: Row, message: MessageParts): Record<string, unknown> {
    const column = { table, key: "id", column: "data" };
    const text = textOfRow(this.#file, column, row, this.#problems) ?? "";
    return message.parse(text, textField(row, "id") ?? "") ?? {};
  }

  /** A row written at `time` was postponed: the next reading must include it. */
  postpone(time: number): void {
    this.#newest = Math.min(this.#newest, time);
    this.isPostponed = true;
  }

  state(): JsonObject | undefined {
    if (this.#file.hasFailed) return this.#resume;
    if (!this.#hasTimes) return undefined;
    return { since: Math.min(this.#newest, Date.now() - SLACK_MS) };
  }
}
