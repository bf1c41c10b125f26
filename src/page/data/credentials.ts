/** The server's address and the caller's credentials, as this tab knows them. */

const GRANT = 'meta[name="backscroll-access"]';
const KEPT = "backscroll-token";

/** Ends with a slash. The server may be below a path of a proxy. */
export function serverAddress(): string {
  return location.origin + location.pathname.replace(/[^/]*$/, "");
}

/** The token in the tab's session storage; null if there is none. */
export function keptToken(): string | null {
  return sessionStorage.getItem(KEPT);
}

export function keepToken(token: string): void {
  sessionStorage.setItem(KEPT, token);
}

export function dropToken(): void {
  sessionStorage.removeItem(KEPT);
}

/** The access of callers without a token, if the document contains it. */
export function grant(): string | undefined {
  return document.querySelector<HTMLMetaElement>(GRANT)?.content;
}
