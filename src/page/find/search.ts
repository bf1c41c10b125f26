/** Search as you type: each keystroke sends a request and aborts the one before it. */

import { batch, effect, signal } from "@preact/signals";
import { address, param } from "../data/address.ts";
import {
  connection,
  engine,
  Latest,
  type SearchResult,
  type Session,
  tell,
} from "../data/connection.ts";
import { type Chosen, chosenFilters } from "./filters.ts";
import { periodOf } from "./periods.ts";

export interface Found {
  /** The query of these results: the box may already contain another. */
  readonly query: string;
  readonly result: SearchResult | undefined;
  readonly failure: string;
}

const NOTHING: Found = { query: "", result: undefined, failure: "" };

export const found = signal<Found>(NOTHING);
/** Whether hits below the view are rendered: false until the typing pauses. */
export const showsAll = signal(false);
/** Fields of the found sessions by id, which arrive after the hits. */
export const known = signal<ReadonlyMap<string, Session>>(new Map());

const latest = new Latest();
const HITS = 20;
/** The pause in typing after which hits below the view and sessions' fields load, in milliseconds. */
const PAUSE_MS = 120;
const MAX_KNOWN = 2_000;

export function searchInput(chosen: Chosen) {
  const { since, ...same } = chosen;
  return { ...same, ...periodOf(since) };
}

/** Searches whenever the query in the address changes. */
export function searchByAddress(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return effect(() => {
    if (connection.value.kind !== "open" || address.value.view !== "find") return;
    const query = param("q");
    const chosen = chosenFilters();
    clearTimeout(timer);
    if (query.trim() === "") {
      latest.stop();
      found.value = NOTHING;
      return;
    }
    void ask(query, chosen).then((result) => {
      if (result !== undefined) timer = setTimeout(() => complete(result), PAUSE_MS);
    });
  });
}

async function ask(query: string, chosen: Chosen): Promise<SearchResult | undefined> {
  try {
    const result = await latest.run((signal) =>
      engine.peek().searchSessions(query, {
        ...searchInput(chosen),
        asYouType: true,
        limit: HITS,
        contextBefore: 1,
        contextAfter: 1,
        signal,
      }),
    );
    if (result !== undefined) show({ query, result, failure: "" });
    return result;
  } catch (error) {
    show({ query, result: undefined, failure: tell(error) });
    return undefined;
  }
}

function show(next: Found): void {
  batch(() => {
    // The same query again, as after Back: the results are kept.
    if (next.query !== found.peek().query) showsAll.value = false;
    found.value = next;
  });
}

function complete(result: SearchResult): void {
  showsAll.value = true;
  void learn(result);
}

async function learn({ hits }: SearchResult): Promise<void> {
  const missing = hits.map(({ sessionId }) => sessionId).filter((id) => !known.peek().has(id));
  const sessions = await Promise.allSettled(
    [...new Set(missing)].map((id) => engine.peek().getSessionMeta(id)),
  );
  remember(sessions.flatMap((one) => (one.status === "fulfilled" ? [one.value] : [])));
}

export function remember(sessions: readonly Session[]): void {
  if (sessions.length === 0) return;
  const all = [...known.peek(), ...sessions.map((session) => [session.id, session] as const)];
  known.value = new Map(all.slice(-MAX_KNOWN));
}
