/**
 * The connection to the page's server, and the caller's access.
 *
 * A typed token is kept in memory, and in the tab's session storage only on request. It is never in
 * a URL.
 */

import { computed, signal } from "@preact/signals";
import {
  BackscrollError,
  type ConnectOptions,
  connect,
  type RemoteEngine,
  type RemoteSession,
} from "../../client/index.ts";
import {
  dropToken,
  grant,
  keepLocalToken,
  keepToken,
  keptToken,
  serverAddress,
  takeCode,
} from "./early-requests.ts";
import { mended, watchedFetch } from "./reach.ts";

export type ConnectionState =
  | { readonly kind: "connecting" }
  | { readonly kind: "token"; readonly message: string }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "open"; readonly engine: RemoteEngine };

export const connection = signal<ConnectionState>({ kind: "connecting" });

/** Throws before the connection is open: views are rendered after that. */
export const engine = computed<RemoteEngine>(() => {
  const state = connection.value;
  if (state.kind !== "open") throw new Error("there is no connection yet");
  return state.engine;
});

/** Whether the caller's scope allows writes. */
export const mayWrite = computed(() => {
  const state = connection.value;
  return state.kind === "open" && state.engine.access.scope !== "read";
});

/** Whether the document contains the access of callers without a token: `start` then sends no request. */
export function isGranted(): boolean {
  return grant() !== undefined && keptToken() === null;
}

/** Exchanges the code of a link for the token of this user's own server. */
async function useCode(): Promise<void> {
  const code = takeCode();
  if (code === null) return;
  const response = await fetch(`${serverAddress()}local/token`, {
    method: "POST",
    headers: { "x-backscroll-code": code },
  });
  if (response.ok) keepLocalToken(((await response.json()) as { token: string }).token);
}

export async function start(): Promise<void> {
  await useCode();
  const kept = keptToken();
  const granted = grant();
  if (kept !== null) await open({ token: kept }, "The token that this tab kept is refused.");
  else if (granted === undefined) await open({}, "");
  else await open({ access: JSON.parse(decodeURIComponent(granted)) }, "");
}

export async function enterToken(token: string, keep: boolean): Promise<void> {
  const refused = "The server does not know this token, or it is expired or revoked.";
  await open({ token: token.trim() }, refused);
  if (connection.value.kind !== "open") return;
  if (keep) keepToken(token.trim());
}

export function forgetToken(message: string): void {
  dropToken();
  connection.value = { kind: "token", message };
}

/** The message of an error. `unauthorized` also returns to the token form. */
export function tell(error: unknown): string {
  if (BackscrollError.is(error, "unauthorized")) {
    forgetToken("The server no longer takes the token: it expired or was revoked.");
  }
  return error instanceof Error ? error.message : String(error);
}

export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

async function open(options: ConnectOptions, refused: string): Promise<void> {
  try {
    const opened = await connect(serverAddress(), { ...options, retries: 1, fetch: watchedFetch });
    connection.value = { kind: "open", engine: opened };
  } catch (error) {
    if (BackscrollError.is(error, "unauthorized") || BackscrollError.is(error, "invalid_input")) {
      dropToken();
      connection.value = { kind: "token", message: refused };
    } else {
      connection.value = { kind: "failed", message: tell(error) };
      const end = mended.subscribe((count) => {
        if (count === 0 || connection.peek().kind !== "failed") return;
        void start();
        queueMicrotask(() => end());
      });
    }
  }
}

/** Runs one request at a time: a newer one aborts those before it. */
export class Latest {
  #current: AbortController | undefined;

  /** The result of `work`; undefined if a newer request was started meanwhile. */
  async run<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result | undefined> {
    this.stop();
    const own = new AbortController();
    this.#current = own;
    try {
      const result = await work(own.signal);
      return own.signal.aborted ? undefined : result;
    } catch (error) {
      if (own.signal.aborted) return undefined;
      throw error;
    }
  }

  stop(): void {
    this.#current?.abort();
  }
}

// Short names for the client's result types.

export type Memory = Awaited<ReturnType<RemoteEngine["listMemories"]>>[number];
export type Fact = Awaited<ReturnType<RemoteEngine["listFacts"]>>[number];
export type Rule = Awaited<ReturnType<RemoteEngine["listRules"]>>["rules"][number];
export type Session = Awaited<ReturnType<RemoteEngine["getSessionMeta"]>>;
export type Entry = Awaited<ReturnType<RemoteEngine["getEntry"]>>;
export type Block = Entry["blocks"][number];
export type BlockOf<Type extends Block["type"]> = Extract<Block, { readonly type: Type }>;
export type Change = Awaited<ReturnType<RemoteEngine["listChanges"]>>["changes"][number];
export type SearchResult = Awaited<ReturnType<RemoteEngine["searchSessions"]>>;
export type Hit = SearchResult["hits"][number];
export type Mark = Awaited<ReturnType<RemoteSession["marks"]>>[number];
export type Related = Awaited<ReturnType<RemoteEngine["relatedSessions"]>>;
export type WindowItem = Hit["window"][number];
export type Summary = Awaited<ReturnType<RemoteSession["summaries"]>>[number];
export type Branch = Awaited<ReturnType<RemoteSession["branches"]>>[number];
export type Stats = Awaited<ReturnType<RemoteEngine["stats"]>>;
export type Sum = Stats["total"];
