/**
 * A session of claw-code, part by part: its metadata, then its messages.
 *
 * Messages have no ids there, so they are known by their number in the conversation. Once a session
 * is compacted, its file holds a record of that, the continuation as its first message, and the
 * rest. The continuation becomes our compaction entry; it is known by the record, never by its
 * words. The record also says how many messages are gone, so that those which stay keep their
 * numbers: a file that was compacted since its last reading adds the compaction and new messages.
 */

import { textOf } from "../../model/block.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { toSourceMetadata } from "../../transcript/source-fields.ts";
import {
  countField,
  type Fields,
  otherFields,
  presentFields,
  textField,
  timeField,
} from "../fields.ts";
import type { ProblemLog } from "../problems.ts";
import type { ImportedEntry, ImportedSession } from "../source.ts";
import { FORMAT, toMessage } from "./claw-message.ts";

/** Session metadata, with the same names in both formats. */
const KNOWN = [
  "version",
  "session_id",
  "created_at_ms",
  "updated_at_ms",
  "workspace_root",
  "model",
];

export function toSession(meta: Fields): Omit<ImportedSession, "entries" | "leaf" | "problems"> {
  const id = textField(meta, "session_id") ?? null;
  const fork = isPlainObject(meta["fork"]) ? meta["fork"] : {};
  const fields = otherFields(meta, ["type", "messages", "compaction", "prompt_history", ...KNOWN]);
  const model = textField(meta, "model");
  return {
    source: FORMAT,
    agent: FORMAT,
    id,
    title: null,
    cwd: textField(meta, "workspace_root") || null,
    gitBranch: null,
    startedAt: timeField(meta, "created_at_ms") ?? startOf(id),
    parentSession: textField(fork, "parent_session_id") ?? null,
    metadata: toSourceMetadata({
      format: FORMAT,
      id,
      ...presentFields({ fields: { ...fields, ...(model === undefined ? {} : { model }) } }),
    }),
  };
}

/** Ids made by claw-code itself say when the session began. */
function startOf(id: string | null): number | null {
  const [, ms] = /^session-(\d{12,14})-\d+$/.exec(id ?? "") ?? [];
  return ms === undefined ? null : Number(ms);
}

export class ClawSession {
  readonly #problems: ProblemLog;
  readonly #model: string | null;
  /** Messages have no times. They were said, at the latest, when the file was written as a whole. */
  readonly #createdAt: number | null;
  #compaction: Fields | undefined;
  /** The text of the continuation, if the file has one. */
  #continuation: string | undefined;
  #isCompactionGiven = false;
  #messages = 0;
  #asked = 0;

  constructor(meta: Fields, problems: ProblemLog) {
    this.#problems = problems;
    this.#model = textField(meta, "model") ?? null;
    this.#createdAt = timeField(meta, "updated_at_ms") ?? timeField(meta, "created_at_ms");
  }

  /** The record of a compaction stands before the messages. */
  compacted(record: Fields, line?: number): void {
    if (textField(record, "summary") === undefined) {
      this.#problems.add("unexpected", "a compaction without a summary was left out", line);
    } else if (this.#messages > 0) {
      this.#problems.add("unexpected", "a compaction behind messages was left out", line);
    } else this.#compaction = record;
  }

  *message(message: unknown, line?: number): Generator<ImportedEntry> {
    const setting = { model: this.#model, createdAt: this.#createdAt, problems: this.#problems };
    const entry = toMessage(message, this.#idOf(this.#messages), setting, line);
    const isFirst = this.#messages === 0 && this.#continuation === undefined;
    if (this.#compaction !== undefined && isFirst && entry?.role === "system") {
      this.#continuation = textOf(entry.blocks);
      return;
    }
    // Also one that cannot be read has its number: those behind it keep theirs when it is mended.
    this.#messages++;
    if (entry === undefined) return;
    yield entry;
    yield* this.#compactionEntry(entry.sourceId);
  }

  /** A message that could not be read, and was told of. */
  pass(): void {
    this.#messages++;
  }

  /** A compaction that keeps no message is the whole session. */
  *end(): Generator<ImportedEntry> {
    yield* this.#compactionEntry(null);
  }

  /** The input history for the arrow keys, which is no part of the conversation. */
  *asked(record: Fields): Generator<ImportedEntry> {
    const number = this.#asked++;
    yield {
      sourceId: `prompt-${number}`,
      kind: "custom",
      role: null,
      actor: null,
      blocks: [],
      data: { type: "prompt_history", data: otherFields(record, ["type"]) },
      usage: null,
      model: null,
      createdAt: timeField(record, "timestamp_ms"),
      metadata: toSourceMetadata({ format: FORMAT, id: null }),
    };
  }

  /**
   * Behind the first message that was kept, wherever the file ends by now: the same entry at the same
   * place however often the file has grown since.
   */
  *#compactionEntry(firstKept: string | null): Generator<ImportedEntry> {
    const record = this.#compaction;
    if (record === undefined || this.#isCompactionGiven) return;
    this.#isCompactionGiven = true;
    const data: JsonObject = {
      firstKeptEntryId: firstKept,
      tokensBefore: null,
      ...presentFields({
        count: countField(record, "count"),
        removedMessages: countField(record, "removed_message_count"),
        continuation: this.#continuation,
      }),
    };
    const fields = otherFields(record, ["type", "count", "removed_message_count", "summary"]);
    yield {
      sourceId: `compaction-${countField(record, "count") ?? 1}`,
      kind: "compaction",
      role: null,
      actor: null,
      data,
      references: ["firstKeptEntryId"],
      blocks: [{ type: "text", text: textField(record, "summary") ?? "" }],
      usage: null,
      model: null,
      createdAt: this.#createdAt,
      metadata: toSourceMetadata({ format: FORMAT, id: null, ...presentFields({ fields }) }),
    };
  }

  /**
   * After one compaction, the first message is the one behind those that were removed. How many an
   * earlier compaction removed is nowhere told: then the numbers begin anew.
   */
  #idOf(number: number): string {
    const record = this.#compaction;
    if (record === undefined) return `message-${number}`;
    const count = countField(record, "count") ?? 1;
    const removed = countField(record, "removed_message_count") ?? 0;
    return count === 1 ? `message-${removed + number}` : `message-${count}.${number}`;
  }
}
