/** Recall: messages and facts that match a question, each with its source. */

import type { Excerpt } from "../../context/quote.ts";
import type { RECALLED_MESSAGE } from "../../model/answers/context.ts";
import { textOf } from "../../model/block.ts";
import { defined } from "../../model/defined.ts";
import type { Entry } from "../../model/entry.ts";
import type { RecallScope } from "../../model/inputs/choices.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import type { Fact } from "../../model/note.ts";
import type { Session } from "../../model/session.ts";
import type { FieldsOf } from "../../model/shape.ts";
import { contentWords } from "../../search/query/content-words.ts";
import type { WindowItem } from "../../search/request.ts";
import { sessionNotFound } from "../../store/store-errors.ts";
import { checkHits, checkInput } from "../check.ts";
import type { EngineContext } from "../engine-context.ts";
import { toEntry } from "../entry-view.ts";
import { searchFactsOf, searchSessions } from "../search.ts";
import type { CheckedContext } from "./context-options.ts";
import { findAll, readGroup } from "./standing.ts";

export { RECALL_SCOPES, type RecallScope } from "../../model/inputs/choices.ts";

export interface RecallOptions {
  /** The limit of messages and facts together: at most 20. Default 8. */
  readonly k?: number;
  /** This session, all of its owner, or all of the tenant. */
  readonly scope?: RecallScope;
}

export type Recalled =
  | FieldsOf<typeof RECALLED_MESSAGE>
  | { readonly type: "fact"; readonly fact: Fact };

const DEFAULT_RECALLED = 8;

/**
 * Best first: messages by score, then facts. Any text is a valid query; its stop words alone recall
 * nothing, unless it has no other words.
 */
export async function* recall(
  engine: EngineContext,
  sessionId: string,
  query: string,
  input: RecallOptions,
): AsyncGenerator<Recalled, void> {
  const { k, scope: within = "session" } = checkInput(input, "options", INPUTS.recall);
  const limit = checkHits(k, "k", DEFAULT_RECALLED);
  const { store, tenant } = engine;
  const session = await store.findSession(tenant, sessionId);
  if (session === undefined) throw sessionNotFound(sessionId);

  const words = contentWords(query);
  const facts = await factsWithin(engine, words, limit, within, session);
  // Facts get up to a quarter of the places.
  const places = Math.max(1, limit - Math.min(facts.length, Math.ceil(limit / 4)));
  const scope = {
    limit: places,
    perSession: places,
    ...(within === "session" ? { session: sessionId } : {}),
    ...(within === "owner" ? { owner: session.owner } : {}),
  };
  const { hits } = await searchSessions(engine, words, scope, { question: query });
  const found = hits.flatMap((hit) => (hit.entryId === null ? [] : [{ ...hit, id: hit.entryId }]));
  const page = await store.findEntries(
    tenant,
    found.map(({ id }) => id),
    true,
  );
  const entries = new Map(page.entries.map((record) => [record.id, record]));
  let count = 0;
  for (const { id, score, window, supersededBy, mark } of found) {
    const record = entries.get(id);
    // Deleted since it was found.
    if (record === undefined) continue;
    count++;
    const entry = toEntry(record, page.payloads);
    yield { type: "message", entry, score, window, ...defined({ supersededBy, mark }) };
  }
  for (const fact of facts.slice(0, limit - count)) yield { type: "fact", fact };
}

function factsWithin(
  engine: EngineContext,
  query: string,
  limit: number,
  within: RecallScope,
  session: Session,
): Promise<readonly Fact[]> {
  if (within === "tenant") return searchFactsOf(engine, query, limit, {});
  const sessions = within === "session" ? { session: [session.id] } : { owner: [session.owner] };
  return searchFactsOf(engine, query, limit, sessions);
}

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
  const question = query ?? textOf(newest.blocks).slice(0, QUERY_LENGTH);
  const words = contentWords(question);
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
  const { hits } = await searchSessions(engine, words, search, { reach: "messages", question });
  // Marked hits are last, whatever their score.
  const least = Math.max(0, ...hits.map(({ score }) => score)) * recall.threshold;
  const found = hits
    .filter(({ score, similarity }) =>
      similarity === undefined ? score >= least : similarity >= recall.threshold,
    )
    .flatMap(({ window, mark, supersededBy }) =>
      window
        .filter(({ entryId }) => !shown.has(entryId))
        .map((item) => ({ ...item, ...defined({ mark, supersededBy }) })),
    );
  const kept =
    participants === null ? found : await ofParticipants(engine, sessionId, found, participants);
  return kept.map(({ entryId, role, actor, createdAt, snippet, truncated, ...of }) => {
    const text = truncated ? `${snippet}…` : snippet;
    const remarks = defined({ mark: of.mark, supersededBy: of.supersededBy });
    return { sessionId, entryId, role, actor, createdAt, text, own: true, ...remarks };
  });
}

type RecalledItem = WindowItem & Pick<Excerpt, "mark" | "supersededBy">;

/** As in `keepParticipants`: a tool result belongs to the tool's caller. */
async function ofParticipants(
  engine: EngineContext,
  sessionId: string,
  found: readonly RecalledItem[],
  participants: ReadonlySet<string>,
): Promise<readonly RecalledItem[]> {
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
