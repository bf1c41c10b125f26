/**
 * Progress marks of fact extraction, one for each branch.
 *
 * Entries from the root to a mark were read. So on any path the unread rest begins after the last
 * entry shared with a mark's path. Marks are in the session's metadata and name entries, which
 * never move, so branches, edits and restarts do not matter. A lost mark costs another reading;
 * known facts are not added again.
 */

import type { Session } from "../../model/session.ts";
import type { EntryRecord } from "../../store/records.ts";
import type { EngineContext } from "../engine-context.ts";

/** The key of the session's metadata: a list of entry ids, the newest last. */
export const FACTS_THROUGH = "factsThrough";

/** Marks kept; with more branches the oldest is read again. */
const MAX_MARKS = 20;
const PAGE = 128;

export interface Unread {
  /** Unread messages of the path, in order. */
  readonly ids: readonly string[];
  /** Marks on the path to those messages, which a new mark replaces. */
  readonly passed: readonly string[];
}

export function marksOf(session: Session): readonly string[] {
  const marks = session.metadata[FACTS_THROUGH];
  return Array.isArray(marks) ? marks.filter((mark) => typeof mark === "string") : [];
}

/** The session's marks after `mark`. */
export function withMark(
  marks: readonly string[],
  passed: readonly string[],
  mark: string,
): string[] {
  const kept = marks.filter((other) => other !== mark && !passed.includes(other));
  return [...kept, mark].slice(-MAX_MARKS);
}

/** Walks back from `leaf` to the last mark: the cost is that of the new entries. */
export async function findUnread(
  engine: EngineContext,
  sessionId: string,
  leaf: string,
  marks: readonly string[],
): Promise<Unread> {
  const { entries } = await engine.store.findEntries(engine.tenant, marks, false);
  const branches = entries
    .filter((entry) => entry.sessionId === sessionId)
    .map((entry) => new Walk(engine, sessionId, entry));
  const ids: string[] = [];
  for await (const { id, sequence } of walkBack(engine, sessionId, leaf)) {
    for (const branch of branches) {
      if (await branch.passes(id, sequence)) {
        return { ids: ids.reverse(), passed: branch.mark === id ? [id] : [] };
      }
    }
    ids.push(id);
  }
  return { ids: ids.reverse(), passed: [] };
}

/** The path back from a mark, walked only as far as needed. */
class Walk {
  readonly mark: string;
  readonly #way: AsyncGenerator<EntryRecord>;
  #at: Pick<EntryRecord, "id" | "sequence"> | undefined;

  constructor(engine: EngineContext, sessionId: string, mark: EntryRecord) {
    this.mark = mark.id;
    this.#at = mark;
    this.#way = walkBack(engine, sessionId, mark.id);
  }

  /** Whether this entry is on the path. Callers ask with descending sequences. */
  async passes(id: string, sequence: number): Promise<boolean> {
    while (this.#at !== undefined && this.#at.sequence > sequence) {
      const next = await this.#way.next();
      this.#at = next.done ? undefined : next.value;
    }
    return this.#at?.id === id;
  }
}

/** The messages from `leaf` back to the root. */
async function* walkBack(
  engine: EngineContext,
  sessionId: string,
  leaf: string,
): AsyncGenerator<EntryRecord, undefined> {
  let before: string | undefined;
  for (;;) {
    const page = await engine.store.readEntries(engine.tenant, {
      select: "history",
      sessionId,
      leaf,
      include: "messages",
      limit: PAGE,
      payloads: false,
      ...(before === undefined ? {} : { before }),
    });
    for (const entry of page.entries.toReversed()) yield entry;
    before = page.entries[0]?.id;
    if (page.entries.length < PAGE) return undefined;
  }
}
