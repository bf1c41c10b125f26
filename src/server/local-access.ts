/**
 * Who may call a server on loopback without a token of the store: its own user, and no other.
 *
 * Where the system tells whose connection it is, the own user needs nothing. Elsewhere a token in a
 * file that only the user may read proves it; a browser gets it for a code that works once, since a
 * link may be seen by others.
 */

import { randomBytes, timingSafeEqual } from "node:crypto";
import { BackscrollError } from "../model/errors.ts";
import { type Connection, type LocalUser, localUser } from "./local-user.ts";

export interface LocalOptions {
  /** The token of the server's own user. */
  readonly token: string;
  /** Whose connection it is. Default: by the system. */
  readonly userOf?: (connection: Connection) => LocalUser;
}

const NOT_STORED = { "cache-control": "no-store" } as const;

/** Codes that were not used yet; the oldest are dropped. */
const MAX_CODES = 100;

export class LocalAccess {
  readonly #token: Buffer;
  readonly #userOf: (connection: Connection) => LocalUser;
  readonly #users = new WeakMap<object, LocalUser>();
  readonly #codes = new Set<string>();

  constructor({ token, userOf = localUser }: LocalOptions) {
    this.#token = Buffer.from(token);
    this.#userOf = userOf;
  }

  /** A connection of a socket that only the own user may open. */
  trust(connection: object): void {
    this.#users.set(connection, "own");
  }

  userOf(connection: object): LocalUser {
    let user = this.#users.get(connection);
    if (user === undefined) {
      user = this.#userOf(connection as Connection);
      this.#users.set(connection, user);
    }
    return user;
  }

  isToken(token: string): boolean {
    const given = Buffer.from(token);
    return given.length === this.#token.length && timingSafeEqual(given, this.#token);
  }

  /** A link into the page carries a code, which the page exchanges for the token. */
  answerCode(): Response {
    return Response.json({ code: this.newCode() }, { headers: NOT_STORED });
  }

  answerToken({ headers }: Request): Response {
    const token = this.#tokenFor(headers.get("x-backscroll-code") ?? "");
    if (token !== undefined) return Response.json({ token }, { headers: NOT_STORED });
    throw new BackscrollError(
      "unauthorized",
      "the link was used already, or its server has stopped: `backscroll open` makes another",
    );
  }

  /** A code that gives the token once. */
  newCode(): string {
    const code = randomBytes(16).toString("base64url");
    this.#codes.add(code);
    for (const oldest of this.#codes) {
      if (this.#codes.size <= MAX_CODES) break;
      this.#codes.delete(oldest);
    }
    return code;
  }

  /** Undefined: the code is unknown, or was used. */
  #tokenFor(code: string): string | undefined {
    return this.#codes.delete(code) ? this.#token.toString() : undefined;
  }
}
