/**
 * Databases with a table `sessions` and a table `messages` that names its session: finds the
 * sessions changed since the last reading, and maps common columns.
 */

import type { JsonObject } from "../../model/json.ts";
import type { EntryDraft } from "../drafts.ts";
import { countField, type Fields, nameOf, otherFields } from "../fields.ts";
import { ProblemLog } from "../problems.ts";
import type { ImportedSession, ImportedTranscript, SourceInput } from "../source.ts";
import { type ForeignDatabase, withDatabase } from "../sqlite-file.ts";

/** The names go into SQL: they are constants, never a file's. */
export interface SessionTables {
  /** A column that every version of `messages` has. */
  readonly column: string;
  /** The growing column of `messages`, and whether its values may repeat. */
  readonly grows: { readonly column: string; readonly repeats: boolean };
  /** The name of its high-water mark in the resume state. */
  readonly state: string;
  /** The order of sessions. */
  readonly order: string;
}

/** `postpone` is called for an incomplete item: the next reading then starts where this one did. */
export type ReadSession = (
  database: ForeignDatabase,
  session: Fields,
  problems: ProblemLog,
  postpone: () => void,
) => ImportedSession;

export function readSessionTables(
  input: SourceInput,
  tables: SessionTables,
  readSession: ReadSession,
): ImportedTranscript {
  const problems = new ProblemLog();
  let state = input.resume;
  let isPostponed = false;
  const postpone = () => {
    isPostponed = true;
  };
  async function* sessions(): AsyncGenerator<ImportedSession> {
    yield* withDatabase(input.path, problems, async function* (database) {
      const { column } = tables.grows;
      // Read the high-water mark first: the next reading gets rows written meanwhile.
      const [row] = database.rows(`SELECT max(${column}) AS newest FROM messages`);
      const newest = countField(row ?? {}, "newest") ?? 0;
      for (const session of changedSessions(database, tables, input.resume)) {
        yield readSession(database, session, problems, postpone);
      }
      if (!database.hasFailed && !isPostponed) state = { [tables.state]: newest };
    });
  }
  const end = { state: () => state, isPostponed: () => isPostponed };
  return { sessions: sessions(), problems, ...end };
}

function changedSessions(
  database: ForeignDatabase,
  { column, grows, state, order }: SessionTables,
  resume: JsonObject | undefined,
): Iterable<Fields> {
  if (!database.has("sessions") || !database.has("messages", column)) return [];
  const since = countField(resume ?? {}, state) ?? 0;
  const isNew = `${grows.column} ${grows.repeats ? ">=" : ">"} ?`;
  return database.rows(
    `SELECT * FROM sessions WHERE id IN (SELECT session_id FROM messages WHERE ${isNew})
      ORDER BY ${order}`,
    since,
  );
}

/** The non-empty columns that are not among `known`. */
export function rowFields(row: Fields, known: readonly string[]): JsonObject {
  const others = Object.entries(otherFields(row, known));
  return Object.fromEntries(others.filter(([, value]) => value !== null && value !== 0));
}

/** Epoch milliseconds of a column in seconds, with or without a fraction, or in milliseconds. */
export function toTime(value: unknown): number | null {
  if (typeof value !== "number" || !(value > 0) || value > 8.64e15) return null;
  return Math.round(value < 1e11 ? value * 1000 : value);
}

/** A message of an unknown role. */
export function toOddDraft(
  format: string,
  role: unknown,
  base: Pick<EntryDraft, "sourceId" | "createdAt" | "blocks">,
  problems: ProblemLog,
): EntryDraft {
  problems.add("unexpected", `a message of the role ${nameOf(role)} is custom data`);
  return { ...base, kind: "custom", data: { type: `${format}:${nameOf(role)}` } };
}

/** A message that summarises earlier ones. */
export function toSummaryDraft(
  base: Pick<EntryDraft, "sourceId" | "createdAt" | "blocks">,
): EntryDraft {
  return { ...base, kind: "compaction", data: { firstKeptEntryId: null, tokensBefore: null } };
}
