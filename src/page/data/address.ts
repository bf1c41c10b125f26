/**
 * The state of the page in its address, behind the `#`: fragments are never sent, so no log and no
 * proxy sees the query.
 *
 *     #/?q=cron&agent=codex         a search
 *     #/session/ID?m=ENTRY&leaf=…   a session, at a message, on a path; with the search beside it
 *     #/usage  #/memory  #/store    the other views
 */

import { signal } from "@preact/signals";
import { type Address, parse } from "./early-requests.ts";

export const address = signal<Address>(parse(location.hash));

export type Params = Readonly<Record<string, string | readonly string[] | undefined>>;

export function format(view: Address["view"], id: string, params: Params): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params)) {
    for (const one of typeof value === "string" ? [value] : (value ?? [])) {
      if (one !== "") query.append(key, one);
    }
  }
  const path =
    view === "find" ? "" : view === "session" ? `session/${encodeURIComponent(id)}` : view;
  return `#/${path}${query.size === 0 ? "" : `?${query}`}`;
}

export function sessionAddress(id: string, params: Params = {}): string {
  return format("session", id, params);
}

/** The parameters of a session alone; all others are those of the list or the search beside it. */
const SESSION_PARAMS = new Set(["m", "leaf"]);

/** The address of a session that keeps the list or the search beside it. */
export function besideList(id: string, params: Params = {}): string {
  const list = [...address.value.params].filter(([name]) => !SESSION_PARAMS.has(name));
  return sessionAddress(id, { ...Object.fromEntries(list), ...params });
}

export function param(name: string): string {
  return address.value.params.get(name)?.[0] ?? "";
}

/** Pushes a history entry. */
export function go(hash: string): void {
  write();
  if (hash === location.hash) return;
  history.pushState(null, "", hash);
  address.value = parse(hash);
}

/** Replaces the current history entry. */
export function restate(hash: string): void {
  unwritten = undefined;
  history.replaceState(null, "", hash);
  address.value = parse(hash);
}

/**
 * Debounced `restate` for typing: updates the view at once and the history after a pause. Chromium
 * ignores more than 200 `replaceState` calls in 30 seconds.
 */
export function restateSoon(hash: string): void {
  unwritten = hash;
  clearTimeout(writing);
  writing = setTimeout(write, WRITE_MS);
  address.value = parse(hash);
}

const WRITE_MS = 300;
let unwritten: string | undefined;
let writing: ReturnType<typeof setTimeout> | undefined;

function write(): void {
  clearTimeout(writing);
  if (unwritten !== undefined) history.replaceState(null, "", unwritten);
  unwritten = undefined;
}

addEventListener("pagehide", write);
// Following a link pushes an entry: the typed query must be in the one before it.
addEventListener("click", write, { capture: true });

addEventListener("popstate", follow);
addEventListener("hashchange", follow);

/** Drops an unwritten query: after Back or Forward, the current entry is not the one it was typed in. */
function follow(): void {
  clearTimeout(writing);
  unwritten = undefined;
  address.value = parse(location.hash);
}
