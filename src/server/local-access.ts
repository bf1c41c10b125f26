/**
 * Who may call a server on loopback without a token of the store: its own user, and no other.
 *
 * Every user of a machine can connect to its loopback address, so that alone proves nothing. Linux
 * lists the owner of each socket, and there the own user needs nothing. Only an established
 * connection counts: the list shows root as the owner of one that is closing. Elsewhere a token in
 * a file that only the user may read proves it; a browser gets it for a code that works once, since
 * a link may be seen by others.
 */

import { randomBytes, timingSafeEqual } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { isIP } from "node:net";
import { endianness } from "node:os";
import { BackscrollError } from "../model/errors.ts";

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

/** `unknown`: the system does not tell. */
export type LocalUser = "own" | "other" | "unknown";

export interface Connection {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  readonly destroyed?: boolean;
}

/** `read` gives a table of sockets, as in `/proc/net`. */
export function localUser(
  connection: Connection,
  read: (table: "tcp" | "tcp6") => string = readTable,
  own: number | undefined = process.getuid?.(),
): LocalUser {
  const { remoteAddress, remotePort, localAddress, localPort } = connection;
  if (own === undefined || remoteAddress === undefined || localAddress === undefined) {
    return "unknown";
  }
  try {
    const here = endOf(localAddress, localPort);
    const there = endOf(remoteAddress, remotePort);
    // The caller's socket: its local end is our remote one. It may be of the other family.
    const owners = (["tcp", "tcp6"] as const).flatMap((table) =>
      ownersOf(read(table), there, here),
    );
    if (owners.length === 0 || connection.destroyed === true) return "unknown";
    return owners.every((owner) => owner === own) ? "own" : "other";
  } catch {
    return "unknown";
  }
}

/** Whether this system tells whose connection it is. */
export function tellsUsers(): boolean {
  return process.getuid !== undefined && existsSync("/proc/net/tcp");
}

const readTable = (table: string) => readFileSync(`/proc/net/${table}`, "latin1");

const ESTABLISHED = "01";

/** The user ids of the established sockets from `local` to `remote`. */
function ownersOf(table: string, local: readonly string[], remote: readonly string[]): number[] {
  const owners: number[] = [];
  for (const line of table.split("\n")) {
    // Number, local end, remote end, state, queues, timer, retransmits, user id.
    const [, from = "", to = "", state, , , , owner] = line.trim().split(/ +/);
    if (state !== ESTABLISHED || !local.includes(from) || !remote.includes(to)) continue;
    owners.push(Number(owner));
  }
  return owners;
}

/** An end in the notation of the tables: an IPv4 address is also written as a mapped IPv6 one. */
function endOf(address: string, port = 0): readonly string[] {
  const plain = address.replace(/^::ffff:/i, "");
  const end = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  if (isIP(plain) === 4) {
    const word = wordOf(plain.split(".").map(Number));
    return [word, `${"0".repeat(16)}${wordOf([0, 0, 255, 255])}${word}`].map((each) => each + end);
  }
  const bytes = ipv6Bytes(plain);
  const words = [0, 4, 8, 12].map((i) => wordOf(bytes.slice(i, i + 4)));
  return [words.join("") + end];
}

/** Four bytes of an address as the machine's number: Linux prints it in the machine's order. */
function wordOf(bytes: readonly number[]): string {
  const ordered = endianness() === "LE" ? bytes.toReversed() : bytes;
  return ordered.map((byte) => byte.toString(16).toUpperCase().padStart(2, "0")).join("");
}

function ipv6Bytes(address: string): number[] {
  const [head = "", tail] = (address.split("%")[0] ?? "").split("::");
  const groups = (part: string) =>
    part === "" ? [] : part.split(":").map((g) => Number(`0x${g}`));
  const [before, after] = [groups(head), tail === undefined ? [] : groups(tail)];
  const zeros = Array<number>(8 - before.length - after.length).fill(0);
  return [...before, ...(tail === undefined ? [] : zeros), ...after].flatMap((g) => [
    g >> 8,
    g & 255,
  ]);
}

export const LOOPBACK_NAMES: ReadonlySet<string> = new Set(["127.0.0.1", "::1", "localhost"]);

const LOOPBACK_ADDRESS = /^(?:(?:::ffff:)?127\.\d+\.\d+\.\d+|::1)$/;
/** Headers of a reverse proxy on this machine whose caller is elsewhere. */
const PROXY_HEADERS = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host"] as const;

/** Whether the answer stays on this machine, as far as the request shows. */
export function staysOnMachine(remoteAddress: string | undefined, headers: Headers): boolean {
  if (!LOOPBACK_ADDRESS.test(remoteAddress ?? "")) return false;
  return !PROXY_HEADERS.some((name) => headers.has(name));
}
