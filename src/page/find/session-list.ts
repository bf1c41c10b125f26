/** The newest sessions: pages, reloaded when the feed reports a change. */

import { effect, signal } from "@preact/signals";
import { param } from "../data/address.ts";
import { connection, engine, Latest, type Session, tell } from "../data/connection.ts";
import { mended } from "../data/reach.ts";
import { listShown } from "./beside.ts";
import { filterInput, isOn } from "./filters.ts";
import { remember } from "./search.ts";

export interface Listed {
  readonly sessions: readonly Session[];
  /** What each row stands for beside itself. */
  readonly nested: NonNullable<SessionPage["nested"]>;
  readonly nextCursor: string | undefined;
  readonly failure: string;
  /** Whether the first answer has arrived: an empty list is meaningful only then. */
  readonly ready: boolean;
}

export const listed = signal<Listed>({
  sessions: [],
  nested: new Map(),
  nextCursor: undefined,
  failure: "",
  ready: false,
});

/** How the listed sessions ended, by their ids: read after the list, which does not wait for it. */
export const outcomes = signal<NonNullable<SessionPage["outcomes"]>>(new Map());

/** What listed sessions cost in microdollars, by their ids: of lists by cost, and of opened rows. */
export const costs = signal<NonNullable<SessionPage["costs"]>>(new Map());

type SessionPage = Awaited<ReturnType<ReturnType<typeof engine.peek>["listSessions"]>>;

const PAGE = 50;
/** Sessions whose end is read at once: the server reads the last messages of each. */
const MAX_ENDED = 100;
/** The least interval between reloads, in milliseconds. */
const REFRESH_MS = 1_000;

const latest = new Latest();

/** The orders of a list, by their value in the address; others are those of a search, the newest first. */
const ORDERS = ["size", "cost"] as const;

export function listOrder(): "time" | (typeof ORDERS)[number] {
  return ORDERS.find((one) => one === param("sort")) ?? "time";
}

function listInput() {
  const sort = listOrder();
  return { ...filterInput(false), sort, nested: !isOn("flat"), costs: sort === "cost" };
}

async function load(count: number): Promise<void> {
  try {
    const page = await latest.run(() =>
      engine.peek().listSessions({ ...listInput(), limit: count }),
    );
    if (page !== undefined) show(page, []);
    if (page !== undefined) void learnOutcomes(count);
  } catch (error) {
    listed.value = { ...listed.peek(), failure: tell(error), ready: true };
  }
}

/** Shows a page behind the sessions before it. */
function show(page: SessionPage, before: readonly Session[]): void {
  const { nested } = listed.peek();
  remember(page.sessions);
  learnCosts(page);
  listed.value = {
    sessions: [...before, ...page.sessions],
    nested: new Map([...(before.length === 0 ? [] : nested), ...(page.nested ?? [])]),
    nextCursor: page.nextCursor,
    failure: "",
    ready: true,
  };
}

function learnCosts(page: SessionPage | undefined): void {
  if (page?.costs !== undefined) costs.value = new Map([...costs.peek(), ...page.costs]);
}

async function learnOutcomes(limit: number, cursor?: string): Promise<void> {
  const page = await engine
    .peek()
    .listSessions({
      ...listInput(),
      costs: false,
      outcomes: true,
      limit: Math.min(limit, MAX_ENDED),
      ...(cursor === undefined ? {} : { cursor }),
    })
    .catch(() => undefined);
  if (page?.outcomes !== undefined) {
    outcomes.value = new Map([...outcomes.peek(), ...page.outcomes]);
  }
}

export async function loadMore(): Promise<void> {
  const { nextCursor } = listed.peek();
  if (nextCursor === undefined) return;
  // A reload may replace the list meanwhile; with the same end, the page still follows it.
  const isSameEnd = () => listed.peek().nextCursor === nextCursor;
  try {
    const input = { ...listInput(), limit: PAGE, cursor: nextCursor };
    const page = await engine.peek().listSessions(input);
    void learnOutcomes(PAGE, nextCursor);
    if (isSameEnd()) show(page, listed.peek().sessions);
  } catch (error) {
    const failure = tell(error);
    if (isSameEnd()) listed.value = { ...listed.peek(), failure };
  }
}

/** Repeats of a row that are shown; a list of each run has all of them. */
export const MAX_REPEATS = 50;

/** Sub-agents of a session that are shown, the newest: what came of each is read with them. */
export const MAX_SUB_AGENTS = 100;

/** The sessions that a row stands for: the other runs of the same, then its sub-agents. */
export async function readFamily(id: string): Promise<readonly Session[]> {
  const { repeats = [], subAgents = 0 } = listed.peek().nested.get(id) ?? {};
  const runs = repeats.slice(0, MAX_REPEATS).map((run) => engine.peek().getSessionMeta(run));
  const input = { parentSessionId: id, subAgent: true, limit: MAX_SUB_AGENTS };
  const agents = { ...input, outcomes: true, costs: true };
  const [read, page] = await Promise.all([
    Promise.allSettled(runs),
    subAgents === 0 ? undefined : engine.peek().listSessions(agents),
  ]);
  outcomes.value = new Map([...outcomes.peek(), ...(page?.outcomes ?? [])]);
  learnCosts(page);
  // A run may have been deleted meanwhile.
  const others = read.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  return [...others, ...(page?.sessions ?? [])];
}

export function listByAddress(): () => void {
  let last = "";
  return effect(() => {
    if (connection.value.kind !== "open" || !listShown.value || param("q").trim() !== "") {
      last = "";
      return;
    }
    // The address also changes with the session beside the list.
    const key = JSON.stringify([{ ...listInput(), since: param("since") }, mended.value]);
    if (key === last) return;
    last = key;
    void load(PAGE);
  });
}

/** Follows the feed of the tenant while the list is shown, and reads the list again when sessions change. */
export function refreshByFeed(): () => void {
  const ended = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const refresh = () => {
    timer = undefined;
    // Reload as many sessions as are shown, at most one page of the server.
    if (param("q").trim() === "")
      void load(Math.min(500, Math.max(PAGE, listed.peek().sessions.length)));
  };
  const follow = async () => {
    const { next: after } = await engine.peek().listChanges({ after: "end", limit: 1 });
    if (ended.signal.aborted) return;
    // The list was read before the cursor: changes between the two are not in the stream.
    timer ??= setTimeout(refresh, REFRESH_MS);
    const changes = engine.peek().subscribe({ after, signal: ended.signal });
    for await (const { sessionId } of changes) {
      if (sessionId !== null) timer ??= setTimeout(refresh, REFRESH_MS);
    }
  };
  // After the feed has failed for good, the list stays as it is until the page is reloaded.
  follow().catch(tell);
  return () => {
    ended.abort();
    clearTimeout(timer);
  };
}
