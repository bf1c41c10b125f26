/** What the early script and the page need, without dependencies: the address, the credentials, the first requests, and their answers. */

// The fragment of the page's address as a value. Without dependencies: the early script parses it, too.

export interface Address {
  readonly view: "find" | "session" | "usage" | "memory" | "store";
  /** Id of a session. */
  readonly id: string;
  readonly params: ReadonlyMap<string, readonly string[]>;
}

const VIEWS = ["session", "usage", "memory", "store"] as const;

export function parse(hash: string): Address {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [name = "", id = ""] = path.split("/").map(decode);
  const params = new Map<string, string[]>();
  for (const [key, value] of new URLSearchParams(query)) {
    params.set(key, [...(params.get(key) ?? []), value]);
  }
  const view = VIEWS.find((one) => one === name) ?? "find";
  return { view, id: view === "session" ? id : "", params };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// The server's address and the caller's credentials, as this tab knows them.

const GRANT = 'meta[name="backscroll-access"]';
const KEPT = "backscroll-token";
const LOCAL = "backscroll-local-token";

/** Ends with a slash. The server may be below a path of a proxy. */
export function serverAddress(): string {
  return location.origin + location.pathname.replace(/[^/]*$/, "");
}

/**
 * The token in the tab's session storage, or that of this user's own server; null if there is
 * neither. The latter is in the storage of the origin, so that a bookmark works later, and in no
 * cookie: cookies go to every port of a host.
 */
export function keptToken(): string | null {
  return sessionStorage.getItem(KEPT) ?? localStorage.getItem(LOCAL);
}

/** Keeps the token that the server gave for the code of a link. */
export function keepLocalToken(token: string): void {
  localStorage.setItem(LOCAL, token);
}

/** Takes the code out of the address, so that it is in no bookmark; null if there is none. */
export function takeCode(): string | null {
  const [, code, place = ""] = /^#code=([\w-]+)(?:&(.*))?$/s.exec(location.hash) ?? [];
  if (code === undefined) return null;
  history.replaceState(null, "", `${location.pathname}${location.search}#${place}`);
  dispatchEvent(new HashChangeEvent("hashchange"));
  return code;
}

export function keepToken(token: string): void {
  sessionStorage.setItem(KEPT, token);
}

export function dropToken(): void {
  sessionStorage.removeItem(KEPT);
  localStorage.removeItem(LOCAL);
}

/** The access of callers without a token, if the document contains it. */
export function grant(): string | undefined {
  return document.querySelector<HTMLMetaElement>(GRANT)?.content;
}

// Responses to requests that `early.ts` sent before the page's script was compiled, by URL.
//
// The page's script takes the map when it is evaluated. From then on the early script sends nothing,
// should it be the later one.

type Answers = Map<string, Promise<Response>>;

const place = globalThis as { backscrollEarly?: Answers };

export function sendEarly(urls: readonly string[]): void {
  if (place.backscrollEarly !== undefined) return;
  place.backscrollEarly = new Map(
    urls.map((url) => {
      const answer = fetch(url, { headers: { accept: "application/json" }, redirect: "error" });
      // The page's own request reports the failure.
      answer.catch(() => undefined);
      return [url, answer] as const;
    }),
  );
}

let answers: Answers = new Map();

/** For the page's script, before it sends requests. `areValid`: the early requests had no token, nor has it. */
export function takeEarlyAnswers(areValid: boolean): void {
  if (areValid) answers = place.backscrollEarly ?? answers;
  place.backscrollEarly = new Map();
}

/** `fetch`, answered from an early request if there is one. Each early response is used once. */
export const earlyFetch: typeof fetch = (input, init) => {
  const url = String(input);
  const early = (init?.method ?? "GET") === "GET" ? answers.get(url) : undefined;
  if (early === undefined) return fetch(input, init);
  answers.delete(url);
  return early;
};

/** An answer that was not taken while its view opened would be stale later. */
export function dropEarlyAnswers(): void {
  answers.clear();
}

// The requests for messages. Without dependencies: the early script sends the first of them, too.

export const PAGE = 50;
/** Messages around a link's target in the first request: enough for a view. */
const AROUND = 30;

interface PathInput {
  readonly leaf?: string;
}

export interface SessionPlace {
  readonly id: string;
  /** Empty for the active path. */
  readonly leaf: string;
  /** The entry to scroll to; empty for the start. */
  readonly at: string;
}

export function pathInput(leaf: string | undefined): PathInput {
  return leaf === undefined || leaf === "" ? {} : { leaf };
}

export function pageInput(page: number, path: PathInput) {
  return { offset: page * PAGE, limit: PAGE, preview: true, ...path };
}

export function aroundInput(entryId: string, path: PathInput, limit: number = AROUND) {
  return { around: entryId, limit, preview: true, ...path };
}

/** The paths of the requests by which a session opens, as the client writes them. */
export function firstPaths({ id, leaf, at }: SessionPlace): readonly string[] {
  const session = `v1/sessions/${encodeURIComponent(id)}`;
  const path = pathInput(leaf);
  const messages = at === "" ? pageInput(0, path) : aroundInput(at, path);
  return [`${session}/messages?${query(messages)}`, session];
}

function query(input: Readonly<Record<string, string | number | boolean>>): URLSearchParams {
  return new URLSearchParams(Object.entries(input).map(([name, value]) => [name, String(value)]));
}
