/**
 * A session of claw-code: its metadata, then its messages.
 *
 * Messages have no ids, so they are identified by their number. A compacted session's file holds a
 * record of the compaction, the continuation as its first message, and the rest. The continuation
 * becomes our compaction entry; the record identifies it, never its text. The record also has the
 * number of removed messages, so the remaining ones keep their numbers: a file compacted since its
 * last reading adds the compaction and new messages.
 */

import { textOf } from "../../model/block.ts";
import type { JsonObject } from "../../model/json.ts";
import { toSourceMetadata } from "../../transcript/source-fields.ts";
import {
  countField,
  type Fields,
  objectField,
  otherFields,
  presentFields,
  textField,
  timeField,
} from "../fields.ts";
import type { ProblemLog } from "../problems.ts";
import type { ImportedEntry, ImportedSession } from "../source.ts";
import { FORMAT, toMessage } from "./claw-message.ts";

/** The only version that is documented. */
const VERSION = 1;

/** Session metadata, with the same names in both formats. */
const KNOWN = ["session_id", "created_at_ms", "updated_at_ms", "workspace_root", "model"];

export function toSession(meta: Fields): Omit<ImportedSession, "entries" | "leaf" | "problems"> {
  const id = textField(meta, "session_id") ?? null;
  const fork = objectField(meta, "fork");
  const known = ["type", "messages", "compaction", "prompt_history", ...KNOWN];
  const fields = otherFields(meta, isKnownVersion(meta) ? [...known, "version"] : known);
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

function isKnownVersion({ version = VERSION }: Fields): boolean {
  return version === VERSION;
}

/** Ids made by claw-code itself contain the session's start. */
function startOf(id: string | null): number | null {
  const [, ms] = /^session-(\d{12,14})-\d+$/.exec(id ?? "") ?? [];
  return ms === undefined ? null : Number(ms);
}

export class ClawSession {
  readonly #problems: ProblemLog;
  readonly #model: string | null;
  /** Messages have no times; the file's own is an upper bound. */
  readonly #createdAt: number | null;
  #compaction: Fields | undefined;
  /** The text of the continuation, if any. */
  #continuation: string | undefined;
  #isCompactionGiven = false;
  #messages = 0;
  #asked = 0;

  constructor(meta: Fields, problems: ProblemLog, line?: number) {
    this.#problems = problems;
    if (!isKnownVersion(meta)) {
      const version = JSON.stringify(meta["version"])?.slice(0, 40);
      problems.add("unexpected", `version ${version} was read as version ${VERSION}`, line);
    }
    this.#model = textField(meta, "model") ?? null;
    this.#createdAt = timeField(meta, "updated_at_ms") ?? timeField(meta, "created_at_ms");
  }

  /** The record of a compaction precedes the messages. */
  compacted(record: Fields, line?: number): void {
    if (textField(record, "summary") === undefined) {
      this.#problems.add("unexpected", "a compaction without a summary was left out", line);
    } else if (this.#messages > 0) {
      this.#problems.add("unexpected", "a compaction after messages was left out", line);
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
    // An unreadable message has a number too, so that later ones keep theirs when it is repaired.
    this.#messages++;
    if (entry === undefined) return;
    yield entry;
    yield* this.#compactionEntry(entry.sourceId);
  }

  /** An unreadable message, already reported. */
  pass(): void {
    this.#messages++;
  }

  /** A compaction without kept messages is the whole session. */
  *end(): Generator<ImportedEntry> {
    yield* this.#compactionEntry(null);
  }

  /** The input history for the arrow keys, which is not part of the conversation. */
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
   * After the first kept message, wherever the file ends by now: the same entry at the same place
   * however much the file has grown.
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
   * After one compaction, the first message follows the removed ones. The number removed by an
   * earlier compaction is unknown: then numbering restarts.
   */
  #idOf(number: number): string {
    const record = this.#compaction;
    if (record === undefined) return `message-${number}`;
    const count = countField(record, "count") ?? 1;
    const removed = countField(record, "removed_message_count") ?? 0;
    return count === 1 ? `message-${removed + number}` : `message-${count}.${number}`;
  }
}
