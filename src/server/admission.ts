/**
 * Authenticates requests.
 *
 * A page in a browser can send requests to a server on the same machine, also through DNS
 * rebinding. So the Host must be one of ours and a foreign Origin is refused, before any other
 * check. A token gives tenant, scope and actor; without one only loopback callers are admitted, and
 * only if the server listens on loopback alone: those of its own user, or all, as its host chose.
 */

import type { Access } from "../model/access.ts";
import { BackscrollError } from "../model/errors.ts";
import type { LocalAccess } from "./local-access.ts";

export interface AdmissionOptions {
  /** The access of callers without a token; undefined if a token is required. */
  readonly anonymous: Access | undefined;
  /** Restricts `anonymous` to the server's own user; undefined: every user of this machine. */
  readonly local?: LocalAccess | undefined;
  /** The server's host names; undefined: any, because every request needs a token. */
  readonly hosts: ReadonlySet<string> | undefined;
  /** Origins of pages that may call, such as `https://app.example`. */
  readonly origins: ReadonlySet<string>;
  readonly authenticate: (token: string) => Promise<Access | undefined>;
}

/** Throws `forbidden` for a foreign Host or Origin. */
export function checkSource(headers: Headers, options: AdmissionOptions): void {
  const host = headers.get("host") ?? "";
  if (options.hosts !== undefined && !options.hosts.has(hostName(host))) {
    throw refused("host", `"${host.slice(0, 80)}" is not a name of this server`);
  }
  const origin = headers.get("origin");
  if (origin === null || options.origins.has(origin)) return;
  if (!isSameOrigin(origin, host)) {
    throw refused("origin", `pages of ${origin.slice(0, 80)} may not call this server`);
  }
}

/**
 * Throws `forbidden` for a request that a foreign page made a browser send, as with `<img src=…>`:
 * such a request has no Origin. Browsers send Fetch Metadata; one without it must have our Referer,
 * or a token, which no page can add without an Origin. Other programs need no proof.
 */
export function checkSite(headers: Headers): void {
  // A foreign Origin was refused before.
  if (headers.has("origin")) return;
  const site = headers.get("sec-fetch-site");
  if (site === "same-origin" || site === "none") return;
  if (site !== null) {
    throw refused("sec-fetch-site", "pages of other sites may not call this server");
  }
  const isBrowser = /^Mozilla\//.test(headers.get("user-agent") ?? "");
  if (!isBrowser || headers.has("authorization")) return;
  if (isSameOrigin(headers.get("referer") ?? "", headers.get("host") ?? "")) return;
  throw refused("referer", "a browser must say that its request comes from a page of this server");
}

/** Throws `unauthorized` unless the caller is authenticated. */
export async function admit(
  headers: Headers,
  options: AdmissionOptions,
  connection: object,
): Promise<Access> {
  const { anonymous, local } = options;
  const authorization = headers.get("authorization");
  if (authorization === null) {
    const access = withoutToken(options, connection);
    if (access !== undefined) return access;
    throw new BackscrollError(
      "unauthorized",
      local === undefined || anonymous === undefined
        ? "a token is needed: make one with `backscroll token create`, and send it as Authorization: Bearer …"
        : "this server serves the user who started it; others need a token (`backscroll token create`), sent as Authorization: Bearer …. Its own user, where the system does not tell, sends the one in ~/.backscroll/local-token",
    );
  }
  const token = /^Bearer +([\x21-\x7e]{1,512})$/i.exec(authorization)?.[1];
  if (token !== undefined && anonymous !== undefined && local?.isToken(token)) return anonymous;
  const access = token === undefined ? undefined : await options.authenticate(token);
  if (access !== undefined) return access;
  throw new BackscrollError("unauthorized", "the token is unknown, expired or revoked");
}

/** The access of a caller without a token; undefined: none. */
export function withoutToken(
  { anonymous, local }: AdmissionOptions,
  connection: object,
): Access | undefined {
  if (anonymous === undefined || local === undefined) return anonymous;
  return local.userOf(connection) === "own" ? anonymous : undefined;
}

/** `[::1]:7423` is known as `::1`. */
export function hostName(host: string): string {
  const name = /^\[([^\]]+)\](:\d+)?$/.exec(host)?.[1] ?? host.replace(/:\d+$/, "");
  return name.toLowerCase();
}

function isSameOrigin(origin: string, host: string): boolean {
  try {
    return new URL(origin).host === host.toLowerCase();
  } catch {
    return false;
  }
}

function refused(field: string, message: string): BackscrollError {
  return new BackscrollError(
    "forbidden",
    `${message}; allow it with --allow-host or --allow-origin`,
    { details: { field } },
  );
}
