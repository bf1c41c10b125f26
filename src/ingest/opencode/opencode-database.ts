/**
 * What is asked of opencode's database.
 *
 * All sessions of a machine are in one file, which may have many gigabytes. A later reading asks only
 * for the sessions in which something was written since.
 */

import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { countField, textField } from "../fields.ts";
import { parseJson } from "../json-file.ts";
import type { ForeignDatabase, Row } from "../sqlite-file.ts";
import type { OpencodeMessage } from "./opencode-session.ts";

/** What is stamped with an earlier time may be committed later, while an agent writes. */
const SLACK_MS = 60_000;

export class OpencodeDatabase {
  readonly #file: ForeignDatabase;
  readonly #resume: JsonObject | undefined;
  readonly #since: number = 0;
  readonly #hasTimes: boolean;
  #newest = 0;
  isPostponed = false;

  constructor(file: ForeignDatabase, resume: JsonObject | undefined) {
    this.#file = file;
    this.#resume = resume;
    this.#hasTimes = file.has("part", "time_updated") && file.has("message", "time_updated");
    // Asked before anything is read: what is written meanwhile is read again.
    for (const table of this.#hasTimes ? ["session", "message", "part"] : []) {
      const [row] = file.rows(`SELECT max(time_updated) AS newest FROM ${table}`);
      this.#newest = Math.max(this.#newest, countField(row ?? {}, "newest") ?? 0);
    }
    const since = countField(resume ?? {}, "since") ?? 0;
    // One that ends before is another database, or an older state of it: then all is read.
    if (this.#hasTimes && since <= this.#newest) this.#since = since;
  }

  /** From the oldest on. */
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

  /** In their order: ids grow with the time. */
  *messages(sessionId: string): Generator<OpencodeMessage> {
    const messages = this.#file.rows(
      "SELECT * FROM message WHERE session_id = ? ORDER BY time_created, id",
      sessionId,
    );
    for (const row of messages) {
      const id = textField(row, "id") ?? "";
      const parts = [
        ...this.#file.rows("SELECT * FROM part WHERE message_id = ? ORDER BY id", id),
      ].map((part) => ({ ...dataOf(part), id: textField(part, "id") ?? "" }));
      const times = countField(row, "time_updated") ?? 0;
      yield { id, data: dataOf(row), parts, updatedAt: times };
    }
  }

  /** Something written at `time` was not given yet: the next reading must look at it again. */
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

function dataOf(row: Row): Record<string, unknown> {
  const value = parseJson(textField(row, "data") ?? "");
  return isPlainObject(value) ? value : {};
}
