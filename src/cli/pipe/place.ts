/**
 * Where the hub of a store listens. Loads nothing of ours: every agent's pipe and hook begins here.
 *
 * One hub serves the callers that would open the same store in the same way, so the name of its
 * socket is a digest of all that decides this.
 */

import { lstatSync, mkdirSync, readFileSync, realpathSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";

type Variables = Readonly<Record<string, string | undefined>>;

/** What a caller opens. */
export interface HubPlace {
  /** Absolute, or a URL. */
  readonly address: string;
  readonly tenant: string;
  /** The path of the socket, or the name of the pipe on Windows. */
  readonly socket: string;
}

/** Bytes of a socket's path; the system has room for 104 to 108. */
const MAX_SOCKET_PATH = 103;

/** Of a socket's name, with the number of its process in it. */
const NAME_BYTES = 26;

/** Variables that decide what a process reads, stores or calls; not those of one conversation. */
export const DECIDING: RegExp =
  /^BACKSCROLL_|(?:_HOME|_CONFIG_DIR|_AGENT_DIR|_SHARE_DIR|_API_KEY)$|^(?:WORKSTATION_ID|SESSIONS_DIR)$/;

/** They decide how a process starts. */
const PASSING = /^BACKSCROLL_(?:HUB|BUILT|DB|TENANT|LEASE_OWNER|PIPE|HOOK_DEADLINE_MS|UNATTENDED)$/;

/** Undefined for a store that only its own process has, or that a server has. */
export function hubPlace(
  given: { readonly db?: string | undefined; readonly tenant?: string | undefined },
  variables: Variables = process.env,
): HubPlace | undefined {
  const named = given.db ?? filled(variables["BACKSCROLL_DB"]);
  if (named === ":memory:" || /^https?:/i.test(named ?? "")) return undefined;
  const address = toAbsolute(named ?? join(homedir(), ".backscroll", "backscroll.db"));
  const tenant = given.tenant ?? filled(variables["BACKSCROLL_TENANT"]) ?? "default";
  const deciding = Object.entries(variables)
    .filter(([name]) => DECIDING.test(name) && !PASSING.test(name))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const key = digest(JSON.stringify([address, tenant, homedir(), deciding]));
  if (process.platform === "win32")
    return { address, tenant, socket: `\\\\.\\pipe\\backscroll-${key}` };
  const folder = hubFolder();
  return folder === undefined
    ? undefined
    : { address, tenant, socket: join(folder, `${key}.sock`) };
}

/** FNV-1a with 64 bits: `node:crypto` takes a sixth of a hook's time to load. */
function digest(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(16).padStart(16, "0");
}

/** A folder that only its owner may enter; undefined if there is none. */
function hubFolder(): string | undefined {
  const own = join(homedir(), ".backscroll", "run");
  const isShort = Buffer.byteLength(own) + NAME_BYTES <= MAX_SOCKET_PATH;
  const folder = isShort ? own : join(tmpdir(), `backscroll-${process.getuid?.() ?? 0}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { mode, uid } = lstatSync(folder);
    const isOurs = uid === process.getuid?.() && (mode & 0o077) === 0;
    return isOurs && lstatSync(folder).isDirectory() ? folder : undefined;
  } catch {
    return undefined;
  }
}

function toAbsolute(address: string): string {
  if (/^[a-z]+:\/\//i.test(address)) return address;
  const path = resolve(address);
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}

function filled(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}

/** Of the package that this file is part of. */
export function ownVersion(): string {
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder)) {
    try {
      return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version;
    } catch {
      // A folder of the package.
    }
  }
  return "0.0.0";
}

/** The protocol between pipe and hub: a line each way, then the lines of MCP. */
export const PROTOCOL = 1;

export const MAX_GREETING_BYTES: number = 1024 * 1024;

/** What a hub is told first, as a line of JSON. */
export interface Greeting {
  readonly backscroll: typeof PROTOCOL;
  readonly version: string;
  /**
   * `mcp`: lines of MCP follow. `ask`: the question of one hook. `replace`: another process will
   * serve in the place of this one.
   */
  readonly role: "mcp" | "ask" | "replace";
  readonly address: string;
  readonly tenant: string;
  /** Of `mcp` and `ask`: the caller's folder. */
  readonly cwd?: string;
  readonly variables?: Variables;
  /** Of `mcp`: the options of the command line. */
  readonly options?: PipeOptions;
  /** Of `mcp`: the same on each connection of one pipe. With a request's id it names the call. */
  readonly pipe?: string;
  /** Of `mcp`: when the agent started its pipe, in epoch milliseconds. */
  readonly startedAt?: number;
  /** Of `ask`. */
  readonly question?: HookInput;
  /** Of `replace`: also a hub that is not older. */
  readonly insists?: boolean;
}

/** What an agent tells its hook. */
export interface HookInput {
  readonly agent: string;
  readonly payload: unknown;
}

/** Tells a pipe's own server, which it starts in the hub's place, the name of the pipe. */
export const PIPE_VARIABLE = "BACKSCROLL_PIPE";

export interface PipeOptions {
  readonly db?: string;
  readonly tenant?: string;
  readonly actor?: string;
  readonly session?: string;
  readonly "read-only"?: boolean;
  readonly "all-tools"?: boolean;
  readonly "final-read"?: string;
}

/** A line of the hub that is none of MCP. */
export interface HubLine {
  readonly backscroll:
    | "welcome"
    /** The hub is older than the caller. It serves the connections that it has. */
    | "outdated"
    /** The store does not open: the caller finds out why. */
    | "failed"
    /** The caller should connect again: another process has taken over, or will. */
    | "move"
    /** A sentence for standard error. */
    | "note"
    /** What a hook prints. */
    | "answer";
  readonly text?: string;
}

export function toLine(value: Greeting | HubLine): string {
  return `${JSON.stringify(value)}\n`;
}
