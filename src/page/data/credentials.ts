/** The server's address and the caller's credentials, as this tab knows them. */

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
