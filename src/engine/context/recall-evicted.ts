/** Recalls messages of the path that left the context and match the newest message. */

import type { Excerpt } from "../../context/quote.ts";
import { textOf } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";
import { contentWords } from "../../search/query/content-words.ts";
import type { WindowItem } from "../../search/request.ts";
import type { EngineContext } from "../engine-context.ts";
import { searchSessions } from "../search.ts";
import type { CheckedContext } from "./context-options.ts";
import { findAll, readGroup } from "./standing.ts";

/** Ranking without the parts that do not pay here: figures in docs/decisions. */
const RECALL_RANKING = { misspelt: 0, about: 0, title: 0, summary: 0, candidates: 32 };
/** The limit of the query taken from a message: a pasted log would drown the question. */
const QUERY_LENGTH = 2_000;

export interface ShownPast {
  /** The first entry of the newest turn. */
  readonly newest: Entry;
  /** Entries of the context. */
  readonly shown: ReadonlySet<string>;
  /** Omitted entries precede this one. */
  readonly beforeSequence: number;
}

/** Best first. */
export async function recallEvicted(
  engine: EngineContext,
  sessionId: string,
  { newest, shown, beforeSequence }: ShownPast,
  { recall, query, participants }: CheckedContext,
): Promise<readonly Excerpt[]> {
  const words = contentWords(query ?? textOf(newest.blocks).slice(0, QUERY_LENGTH));
  if (recall === null || words.trim() === "") return [];
  const search = {
    match: "words" as const,
    ranking: RECALL_RANKING,
    session: sessionId,
    beforeSequence,
    limit: recall.k,
    perSession: recall.k,
    contextBefore: 0,
    contextAfter: 0,
  };
  // The session's best messages, without reading all of it.
  const { hits } = await searchSessions(engine, words, search, "messages");
  const least = (hits[0]?.score ?? 0) * recall.threshold;
  const found = hits
    .filter(({ score, similarity }) =>
      similarity === undefined ? score >= least : similarity >= recall.threshold,
    )
    .flatMap(({ window }) => window.filter(({ entryId }) => !shown.has(entryId)));
  const kept =
    participants === null ? found : await ofParticipants(engine, sessionId, found, participants);
  return kept.map(({ entryId, role, actor, createdAt, snippet, truncated }) => {
    const text = truncated ? `${snippet}…` : snippet;
    return { sessionId, entryId, role, actor, createdAt, text, own: true };
  });
}

/** As in `keepParticipants`: a tool result belongs to the tool's caller. */
async function ofParticipants(
  engine: EngineContext,
  sessionId: string,
  found: readonly WindowItem[],
  participants: ReadonlySet<string>,
): Promise<readonly WindowItem[]> {
  const isTheirs = (actor: string | null) => actor === null || participants.has(actor);
  const results = found.filter(({ role }) => role === "tool").map(({ entryId }) => entryId);
  const theirs = new Set<string>();
  for (const result of await findAll(engine, results)) {
    const group = await readGroup(engine, sessionId, result, undefined);
    const isCalled = group.some(({ role, actor }) => role === "assistant" && isTheirs(actor));
    if (isCalled) theirs.add(result.id);
  }
  return found.filter(({ entryId, role, actor }) =>
    role === "tool" ? theirs.has(entryId) : isTheirs(actor),
  );
}
