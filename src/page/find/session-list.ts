/** The newest sessions: pages, reloaded when the feed reports a change. */

import { effect, signal } from "@preact/signals";
import { address, param } from "../data/address.ts";
import { connection, engine, Latest, type Session, tell } from "../data/connection.ts";
import { type Chosen, chosenFilters } from "./filters.ts";
import { periodOf } from "./periods.ts";
import { remember } from "./search.ts";

export interface Listed {
  readonly sessions: readonly Session[];
  readonly nextCursor: string | undefined;
  readonly failure: string;
  /** Whether the first answer has arrived: an empty list is meaningful only then. */
  readonly ready: boolean;
}

export const listed = signal<Listed>({
  sessions: [],
  nextCursor: undefined,
  failure: "",
  ready: false,
});

const PAGE = 50;
/** The least interval between reloads, in milliseconds. */
const REFRESH_MS = 1_000;

const latest = new Latest();

function listInput(chosen: Chosen) {
  const { since, role: _, ...same } = chosen;
  return { ...same, ...periodOf(since) };
}

async function load(count: number): Promise<void> {
  try {
    const page = await latest.run(() =>
      engine.peek().listSessions({ ...listInput(chosenFilters()), limit: count }),
    );
    if (page === undefined) return;
    remember(page.sessions);
    listed.value = {
      sessions: page.sessions,
      nextCursor: page.nextCursor,
      failure: "",
      ready: true,
    };
  } catch (error) {
    listed.value = { sessions: [], nextCursor: undefined, failure: tell(error), ready: true };
  }
}

export async function loadMore(): Promise<void> {
  const { nextCursor } = listed.peek();
  if (nextCursor === undefined) return;
  const page = await engine
    .peek()
    .listSessions({ ...listInput(chosenFilters()), limit: PAGE, cursor: nextCursor });
  // A reload may have replaced the list meanwhile; with the same end, the page still follows it.
  const { sessions, nextCursor: end } = listed.peek();
  if (end !== nextCursor) return;
  remember(page.sessions);
  listed.value = {
    sessions: [...sessions, ...page.sessions],
    nextCursor: page.nextCursor,
    failure: "",
    ready: true,
  };
}

export function listByAddress(): () => void {
  return effect(() => {
    if (connection.value.kind !== "open" || address.value.view !== "find") return;
    if (param("q").trim() !== "") return;
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
