/**
 * How far facts were taken from a session: marks, one for each branch that was read.
 *
 * What lies on the way from the root to a mark was read. So on any path the rest begins after the last
 * entry that the path has in common with a mark's. Marks live in the session's metadata and name entries,
 * which never move, so that branches, edits and restarts do not matter. A mark that is lost costs another
 * reading, and no fact: what is known is not added again.
 */

import type { Session } from "../../model/session.ts";
import type { EntryRecord } from "../../store/records.ts";
import type { EngineContext } from "../engine-context.ts";

/** The key of the session's metadata: a list of entry ids, the newest last. */
export const FACTS_THROUGH = "factsThrough";

/** Branches that are remembered. Whoever has more reads the oldest again. */
const MAX_MARKS = 20;
const PAGE = 128;

export interface Unread {
  /** The messages of the path that were not read, in order. */
  readonly ids: readonly string[];
  /** Marks that lie on the way to those messages: a new mark takes their place. */
  readonly passed: readonly string[];
}

export function marksOf(session: Session): readonly string[] {
  const marks = session.metadata[FACTS_THROUGH];
  return Array.isArray(marks) ? marks.filter((mark) => typeof mark === "string") : [];
}

/** The marks of a session, once `mark` was reached. */
export function withMark(
  marks: readonly string[],
  passed: readonly string[],
  mark: string,
): string[] {
  const kept = marks.filter((other) => other !== mark && !passed.includes(other));
  return [...kept, mark].slice(-MAX_MARKS);
}

/** Walks the path back from `leaf` to what was read: the cost is what is new, not the session. */
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

/** The way back from a mark. It is walked only as far as the path goes back. */
class Walk {
  readonly mark: string;
  readonly #way: AsyncGenerator<EntryRecord>;
  #at: Pick<EntryRecord, "id" | "sequence"> | undefined;

  constructor(engine: EngineContext, sessionId: string, mark: EntryRecord) {
    this.mark = mark.id;
    this.#at = mark;
    this.#way = walkBack(engine, sessionId, mark.id);
  }

  /** Whether this entry is on the way. To be asked with sequences that fall, as they do on a path. */
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
