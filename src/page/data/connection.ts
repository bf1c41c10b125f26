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
} from "../../client/index.ts";

export type ConnectionState =
  | { readonly kind: "connecting" }
  | { readonly kind: "token"; readonly message: string }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "open"; readonly engine: RemoteEngine };

const KEPT = "backscroll-token";

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
  return grant() !== undefined && sessionStorage.getItem(KEPT) === null;
}

export async function start(): Promise<void> {
  const kept = sessionStorage.getItem(KEPT);
  const granted = grant();
  if (kept !== null) await open({ token: kept }, "The token that this tab kept is refused.");
  else if (granted === undefined) await open({}, "");
  else await open({ access: JSON.parse(decodeURIComponent(granted)) }, "");
}

function grant(): string | undefined {
  return document.querySelector<HTMLMetaElement>('meta[name="backscroll-access"]')?.content;
}

export async function enterToken(token: string, keep: boolean): Promise<void> {
  const refused = "The server does not know this token, or it is expired or revoked.";
  await open({ token: token.trim() }, refused);
  if (connection.value.kind !== "open") return;
  if (keep) sessionStorage.setItem(KEPT, token.trim());
}

export function forgetToken(message: string): void {
  sessionStorage.removeItem(KEPT);
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
    const address = location.origin + location.pathname.replace(/[^/]*$/, "");
    const opened = await connect(address, { ...options, retries: 1 });
    connection.value = { kind: "open", engine: opened };
  } catch (error) {
    if (BackscrollError.is(error, "unauthorized") || BackscrollError.is(error, "invalid_input")) {
      sessionStorage.removeItem(KEPT);
      connection.value = { kind: "token", message: refused };
    } else {
      connection.value = { kind: "failed", message: tell(error) };
    }
  }
}
