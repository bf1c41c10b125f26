/** Search as you type: each keystroke sends a request and aborts the one before it. */

import { batch, effect, signal } from "@preact/signals";
import { TALK_REACH } from "../../api/text/talk.ts";
import { param } from "../data/address.ts";
import {
  connection,
  engine,
  Latest,
  type SearchResult,
  type Session,
  tell,
} from "../data/connection.ts";
import { mended } from "../data/reach.ts";
import { listShown } from "./beside.ts";
import { filterInput, isBeingTyped, submitQuery } from "./filters.ts";

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

/** About how many sessions have most of the query; undefined until counted. */
export const total = signal<number | undefined>(undefined);

const latest = new Latest();
const HITS = 20;
/** Of the answer to a keystroke, which comes sooner without all of `TALK_REACH`. */
const CONTEXT = { contextBefore: 1, contextAfter: 1 };
/** The pause in typing after which the rest of the hits and their sessions' fields load, in milliseconds. */
const PAUSE_MS = 120;
const MAX_KNOWN = 2_000;

/** Resolves when the newest query is answered. */
let answered: Promise<unknown> = Promise.resolve();

/** Searches whenever the query in the address changes. */
export function searchByAddress(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = "";
  return effect(() => {
    if (connection.value.kind !== "open" || !listShown.value) {
      last = "";
      return;
    }
    const query = param("q");
    const asYouType = isBeingTyped(query);
    const input = { ...filterInput(true), ...ORDERED[param("sort")], asYouType, limit: HITS };
    // The address also changes with the session beside the hits, and a period with the clock.
    const key = JSON.stringify([query, { ...input, since: param("since") }, mended.value]);
    if (key === last) return;
    last = key;
    clearTimeout(timer);
    if (query.trim() === "") {
      latest.stop();
      found.value = NOTHING;
      return;
    }
    answered = ask(query, input).then((result) => {
      if (result !== undefined) timer = setTimeout(() => complete(query, input, result), PAUSE_MS);
    });
  });
}

/** Searches for the query as it is, and opens the first hit. */
export async function openFirst(): Promise<void> {
  submitQuery();
  await answered;
  document.querySelector<HTMLElement>(".find [data-item]")?.click();
}

type SearchInput = NonNullable<Parameters<ReturnType<typeof engine.peek>["searchSessions"]>[1]>;

/** Orders by the value in the address; others are those of lists. */
const ORDERED: Readonly<Record<string, Pick<SearchInput, "sort">>> = { time: { sort: "time" } };

/** Undefined if a later query stopped it. */
function run(query: string, input: SearchInput): Promise<SearchResult | undefined> {
  return latest.run((signal) => engine.peek().searchSessions(query, { ...input, signal }));
}

async function ask(query: string, input: SearchInput): Promise<SearchResult | undefined> {
  try {
    const result = await run(query, { ...input, ...CONTEXT });
    if (result !== undefined) show({ query, result, failure: "" });
    return result;
  } catch (error) {
    show({ query, result: undefined, failure: tell(error) });
    return undefined;
  }
}

/** Adds the next page of hits. */
export async function moreHits(): Promise<void> {
  const { query, result } = found.peek();
  if (result?.nextCursor === undefined) return;
  const input = {
    ...filterInput(true),
    ...ORDERED[param("sort")],
    asYouType: isBeingTyped(query),
    limit: HITS,
    ...TALK_REACH,
    exchange: true,
    cursor: result.nextCursor,
  };
  try {
    const next = await engine.peek().searchSessions(query, input);
    if (found.peek().result !== result) return;
    const { nextCursor: _, ...same } = result;
    const { nextCursor } = next;
    found.value = {
      query,
      failure: "",
      result: {
        ...same,
        hits: [...result.hits, ...next.hits],
        ...(nextCursor === undefined ? {} : { nextCursor }),
      },
    };
    await learn(next);
  } catch (error) {
    const failure = tell(error);
    if (found.peek().result === result) found.value = { query, result, failure };
  }
}

function show(next: Found): void {
  batch(() => {
    // The same query again, as after Back: the results are kept.
    if (next.query !== found.peek().query) showsAll.value = false;
    total.value = undefined;
    found.value = next;
  });
}

/** Reads what was asked or said before and after each hit, and how many there are: a keystroke does not wait for it. */
async function complete(query: string, input: SearchInput, first: SearchResult): Promise<void> {
  showsAll.value = true;
  void learn(first);
  // The hits are shown; what is missing is no failure.
  const result = await run(query, { ...input, ...TALK_REACH, exchange: true, total: true }).catch(
    () => undefined,
  );
  if (result === undefined || found.peek().query !== query) return;
  batch(() => {
    total.value = result.total;
    // The next page may be there already.
    if (found.peek().result === first) found.value = { query, result, failure: "" };
  });
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
