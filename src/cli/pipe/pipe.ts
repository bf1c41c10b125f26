/**
 * `backscroll mcp` as agents start it: a thin pipe from standard input and output to the hub, the
 * one process that holds the store for all of them. Loads nothing of ours.
 *
 * If the hub dies, the pipe starts or finds another one, repeats what opened the conversation, and
 * asks again what was not answered. A call has the same name on each connection, so that a write
 * that was stored is not stored twice. Without a hub the process serves the agent itself.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, rmSync, statSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { homedir, hostname } from "node:os";
import type { Duplex } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Lines } from "./lines.ts";
import {
  type Greeting,
  type HubLine,
  type HubPlace,
  hubPlace,
  ownVersion,
  PIPE_VARIABLE,
  type PipeOptions,
  PROTOCOL,
  toLine,
} from "./place.ts";

/** How long a hub may take to start, or to answer a greeting. */
const START_MS = 8_000;
const LOOK_MS = 15;

/** After the end of the input, how long calls in flight are waited for. */
const PATIENCE_MS = 10_000;

/** False if this process is to serve the agent itself: nothing was read from its input. */
export async function runPipe(argv: readonly string[], program: string): Promise<boolean> {
  const options = readOptions(argv);
  const { BACKSCROLL: isKept, BACKSCROLL_HUB: hub } = process.env;
  if (options === undefined || !isOn(isKept) || !isOn(hub)) return false;
  const place = hubPlace(options);
  if (place === undefined) return false;
  const seconds = options["final-read"];
  const ending = seconds === undefined ? [] : ["--final-read", seconds];
  const caller = new Caller(place, [program, "hub", ...ending]);
  const startedAt = Math.floor(performance.timeOrigin);
  const pipe = [hostname(), process.pid, performance.timeOrigin, Math.random()].join("-");
  const greeting = caller.greeting("mcp", { options, pipe, startedAt });
  const link = await caller.link(greeting);
  if (link === undefined) return false;
  await new Pipe(caller, greeting, link).run();
  return true;
}

/** Also if it is not set; a value that is not understood is refused by the command. */
export function isOn(value: string | undefined): boolean {
  return ["", "1", "on", "true", "yes"].includes((value ?? "").toLowerCase());
}

/** Undefined if there are others than those that a hub can follow, or a wrong one. */
function readOptions(argv: readonly string[]): PipeOptions | undefined {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        db: text,
        tenant: text,
        actor: text,
        session: text,
        "final-read": text,
        "read-only": flag,
        "all-tools": flag,
      },
    });
    return values;
  } catch {
    return undefined;
  }
}

/** A connection after its greeting: what the hub sends comes as lines. */
export interface Link {
  readonly stream: Duplex;
  readonly lines: Lines;
  /** Lines that came with the answer to the greeting. */
  readonly early: readonly string[];
  /** What the hub answered to the greeting. */
  readonly answer: HubLine;
  /** The server that this pipe has started for itself. */
  readonly server?: ChildProcess;
}

/** Finds the hub of a place, or starts it. */
export class Caller {
  readonly #place: HubPlace;
  readonly #words: readonly string[];
  #hasFailed = false;
  /** The hub that this link has started. */
  #hub: ChildProcess | undefined;

  /** `words` start a hub: Node's file and its arguments. */
  constructor(place: HubPlace, words: readonly string[]) {
    this.#place = place;
    this.#words = words;
  }

  greeting(role: Greeting["role"], more: Partial<Greeting>): Greeting {
    const { address, tenant } = this.#place;
    const own = { cwd: process.cwd(), variables: process.env };
    return { backscroll: PROTOCOL, version: ownVersion(), role, address, tenant, ...own, ...more };
  }

  /** Undefined if none serves in time, or the store does not open. */
  async link(greeting: Greeting, within: number = START_MS): Promise<Link | undefined> {
    const until = Date.now() + within;
    let starting: string | undefined;
    this.#hasFailed = false;
    this.#hub = undefined;
    try {
      for (let tries = 0; Date.now() < until && !this.#hasFailed; tries++) {
        const socket = await this.#connect();
        const link = socket && (await greet(socket, greeting, until - Date.now()));
        const told = link?.answer.backscroll;
        if (told === "welcome" || told === "answer") return link;
        link?.stream.destroy();
        if (told === "failed") return undefined;
        // One that does not answer is there, or about to end.
        const isThere = socket !== undefined && link === undefined;
        if (this.#hub === undefined && !isThere) {
          starting ??= this.#mayStart();
          if (starting !== undefined) this.#start();
        }
        // The first tries follow one another: most often another process has just started it.
        await pause(Math.min(LOOK_MS, 2 + tries));
      }
      return undefined;
    } finally {
      if (starting !== undefined) rmSync(starting, { force: true });
    }
  }

  /** As `link`, of a hub that runs. */
  async find(greeting: Greeting): Promise<Link | undefined> {
    const socket = await this.#connect();
    return socket && greet(socket, greeting, START_MS);
  }

  #connect(): Promise<Socket | undefined> {
    return new Promise((resolve) => {
      const socket = connect(this.#place.socket);
      socket.once("connect", () => resolve(socket));
      socket.once("error", () => resolve(undefined));
    });
  }

  /** One of the processes that find no hub starts it: a mark in a file, for a while. */
  #mayStart(): string | undefined {
    const { socket } = this.#place;
    if (process.platform === "win32") return `${homedir()}/.backscroll/none`;
    const mark = `${socket}.start`;
    try {
      if (Date.now() - statSync(mark).mtimeMs > START_MS) rmSync(mark, { force: true });
    } catch {
      // There is none.
    }
    try {
      closeSync(openSync(mark, "wx", 0o600));
      return mark;
    } catch {
      return undefined;
    }
  }

  /** Detached: agents kill their servers' process group. */
  #start(): void {
    const { address, tenant } = this.#place;
    const env = { ...process.env, BACKSCROLL_DB: address, BACKSCROLL_TENANT: tenant };
    const settings = { detached: true, windowsHide: true, env, cwd: homedir() };
    const hub = spawn(process.execPath, this.#words, { ...settings, stdio: "ignore" });
    this.#hub = hub;
    hub.on("error", () => {
      this.#hasFailed = true;
    });
    hub.on("exit", (code) => {
      if (hub !== this.#hub) return;
      // One that was killed has not failed: another one is started in its place.
      if (code === null) this.#hub = undefined;
      else this.#hasFailed ||= code !== 0;
    });
    hub.unref();
  }

  /** A server of this pipe's own, when no hub can be had any more. */
  alone({ options = {}, pipe = "" }: Greeting): Link {
    const words = Object.entries(options).flatMap(([name, value]) =>
      value === true ? [`--${name}`] : [`--${name}`, String(value)],
    );
    const env = { ...process.env, BACKSCROLL_HUB: "off", [PIPE_VARIABLE]: pipe };
    const child = spawn(process.execPath, [this.#words[0] ?? "", "mcp", ...words], {
      env,
      stdio: ["pipe", "pipe", "inherit"],
    });
    const { stdin, stdout } = child;
    const stream = Object.assign(stdout, {
      write: stdin.write.bind(stdin),
      end: stdin.end.bind(stdin),
    }) as unknown as Duplex;
    stdin.on("error", () => undefined);
    stdin.on("drain", () => stdout.emit("drain"));
    // Its end is that of another stream, so this one does not close by itself.
    stdout.once("end", () => stdout.destroy());
    child.on("error", () => stdout.destroy());
    return {
      stream,
      lines: new Lines(),
      early: [],
      answer: { backscroll: "welcome" },
      server: child,
    };
  }
}

/** Undefined if the hub does not answer. */
function greet(socket: Socket, greeting: Greeting, within: number): Promise<Link | undefined> {
  return new Promise((resolve) => {
    const lines = new Lines();
    const timer = setTimeout(() => done(undefined), Math.max(1, within));
    const done = (link: Link | undefined) => {
      clearTimeout(timer);
      socket.off("data", onData).off("close", onClose);
      if (link === undefined) socket.destroy();
      else socket.pause();
      resolve(link);
    };
    const onClose = () => done(undefined);
    const onData = (chunk: Buffer) => {
      const [first, ...early] = lines.add(chunk);
      if (first === undefined) return;
      const answer = parse(first) as HubLine | undefined;
      done(answer === undefined ? undefined : { stream: socket, lines, early, answer });
    };
    socket.on("error", () => undefined);
    socket.on("data", onData).on("close", onClose);
    socket.write(toLine(greeting));
  });
}

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly requestId?: string | number; readonly uri?: string };
}

/** Open as long as the connection; begun again on another one, and not waited for. */
const ENDLESS = "subscriptions/listen";

/** The limit of a message, as the SDK's servers have it. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

/** A call during which so many processes ended is not asked again: it may be what ends them. */
const MAX_ENDS = 8;

/** The longest pause between two connections that ended without an answer. */
const LONGEST_PAUSE_MS = 1_000;

/** Codes of JSON-RPC. */
const INVALID_REQUEST = -32_600;
const SERVER_ERROR = -32_000;

/** A request without an answer. */
interface Pending {
  readonly line: string;
  /** How many connections ended after it was sent on them. */
  ends: number;
}

/** What a new connection must know. */
const OPENING = new Set([
  "initialize",
  "notifications/initialized",
  "logging/setLevel",
  "resources/subscribe",
  ENDLESS,
]);

class Pipe {
  readonly #caller: Caller;
  readonly #greeting: Greeting;
  #link: Link;
  /** Requests without an answer, by their ids. */
  readonly #pending = new Map<string | number, Pending>();
  /** By what they set: the last one counts. */
  readonly #opening = new Map<
    string,
    { readonly line: string; readonly id: string | number | undefined }
  >();
  /** Ids of repeated requests whose answer the agent has. */
  readonly #known = new Set<string | number>();
  /** Lines that came while there was no connection. */
  #waiting: string[] | undefined;
  #isMoving = false;
  #isEnding = false;
  /** Connections in a row on which nothing was said. */
  #silent = 0;
  readonly #ended: PromiseWithResolvers<void> = Promise.withResolvers<void>();

  constructor(caller: Caller, greeting: Greeting, link: Link) {
    this.#caller = caller;
    this.#greeting = greeting;
    this.#link = link;
  }

  /** Resolves when the agent has closed its end and has all answers. */
  async run(): Promise<void> {
    const { stdin, stdout } = process;
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.once(name, () => process.exit(0));
    }
    stdout.on("error", () => process.exit(0));
    const lines = new Lines();
    stdin.on("data", (chunk: Buffer) => {
      for (const line of lines.add(chunk)) this.#fromAgent(line);
    });
    const end = () => this.#end(lines.rest().toString("utf8"));
    stdin.once("end", end).once("close", end);
    this.#attach();
    await this.#ended.promise;
    this.#link.stream.end();
    await new Promise<void>((resolve) => stdout.write("", () => resolve()));
    process.exit(0);
  }

  #attach(): void {
    const link = this.#link;
    const { stream, lines, early } = link;
    const take = (found: readonly string[]) => {
      for (const line of found) if (line !== "") this.#fromHub(line);
    };
    stream.on("data", (chunk: Buffer) => take(lines.add(chunk)));
    stream.on("error", () => undefined);
    stream.once("close", () => {
      if (link === this.#link) void this.#lost(link);
    });
    stream.on("drain", () => process.stdin.resume());
    // The connection before it may have ended full, and will not drain.
    process.stdin.resume();
    take(early);
    stream.resume();
  }

  #fromAgent(line: string): void {
    if (line.trim() === "") return;
    const { id, method, params } = parse(line) ?? {};
    if (Buffer.byteLength(line) >= MAX_MESSAGE_BYTES) {
      const what = `the message is longer than ${MAX_MESSAGE_BYTES} bytes: send less at once`;
      if (id !== undefined) this.#refuse(id, INVALID_REQUEST, what);
      return;
    }
    if (method !== undefined && OPENING.has(method)) {
      this.#opening.set(`${method} ${params?.uri ?? (method === ENDLESS ? id : "")}`, { line, id });
    }
    if (method === "resources/unsubscribe")
      this.#opening.delete(`resources/subscribe ${params?.uri ?? ""}`);
    if (method === "notifications/cancelled" && params?.requestId !== undefined) {
      this.#pending.delete(params.requestId);
      this.#opening.delete(`${ENDLESS} ${params.requestId}`);
    }
    if (method !== undefined && id !== undefined && method !== ENDLESS)
      this.#pending.set(id, { line, ends: 0 });
    if (this.#waiting !== undefined) this.#waiting.push(line);
    else if (!this.#link.stream.write(`${line}\n`)) process.stdin.pause();
    // A call that was cancelled is not answered.
    if (method === "notifications/cancelled") this.#settle();
  }

  #refuse(id: string | number, code: number, message: string): void {
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } })}\n`);
  }

  #fromHub(line: string): void {
    this.#silent = 0;
    if (line.startsWith('{"backscroll":')) {
      this.#told(parse(line) as unknown as HubLine);
      return;
    }
    const { id, method } = parse(line) ?? {};
    if (method === undefined && id !== undefined) {
      if (this.#known.delete(id)) return;
      this.#pending.delete(id);
    }
    const { stream } = this.#link;
    if (!process.stdout.write(`${line}\n`)) {
      stream.pause();
      process.stdout.once("drain", () => stream.resume());
    }
    this.#settle();
  }

  #told({ backscroll, text }: HubLine): void {
    if (backscroll === "note") process.stderr.write(`${text ?? ""}\n`);
    if (backscroll !== "move") return;
    // New calls wait for the new connection, those in flight end on this one.
    this.#isMoving = true;
    this.#waiting ??= [];
    this.#settle();
  }

  #settle(): void {
    const asked =
      this.#pending.size - (this.#waiting?.filter((line) => this.#isPending(line)).length ?? 0);
    if (asked > 0) return;
    if (this.#isMoving) {
      this.#isMoving = false;
      this.#link.stream.destroy();
    } else if (this.#isEnding && this.#pending.size === 0) this.#ended.resolve();
  }

  #isPending(line: string): boolean {
    const { id } = parse(line) ?? {};
    return id !== undefined && this.#pending.has(id);
  }

  async #lost({ server }: Link): Promise<void> {
    const waiting = new Set(this.#waiting);
    this.#waiting ??= [];
    // Its own server that said nothing and failed told standard error why: the agent sees that end.
    if (server !== undefined && this.#silent > 0) {
      const code = await exitOf(server);
      if (code !== null && code !== 0) process.exit(code);
    }
    for (const [id, call] of this.#pending) {
      if (waiting.has(call.line)) continue;
      call.ends++;
      if (call.ends < MAX_ENDS) continue;
      this.#pending.delete(id);
      const what = `the process of the store ended ${MAX_ENDS} times during this call: it is not repeated`;
      this.#refuse(id, SERVER_ERROR, what);
    }
    if (this.#silent > 1) await pause(Math.min(LONGEST_PAUSE_MS, 2 ** this.#silent));
    await this.#again();
  }

  /** Another connection, with what opened the conversation and what was not answered. */
  async #again(): Promise<void> {
    if (this.#isEnding && this.#pending.size === 0) return this.#ended.resolve();
    this.#isMoving = false;
    const linked = await this.#caller.link(this.#greeting);
    this.#link = linked ?? this.#caller.alone(this.#greeting);
    this.#silent++;
    this.#known.clear();
    const repeated: string[] = [];
    for (const { line, id } of this.#opening.values()) {
      if (id !== undefined && !this.#pending.has(id)) this.#known.add(id);
      repeated.push(line);
    }
    const others = [...this.#pending.values()]
      .map(({ line }) => line)
      .filter((line) => !repeated.includes(line));
    const told = (this.#waiting ?? []).filter(
      (line) => !repeated.includes(line) && !others.includes(line),
    );
    this.#waiting = undefined;
    this.#attach();
    for (const line of [...repeated, ...others, ...told]) this.#link.stream.write(`${line}\n`);
  }

  #end(rest: string): void {
    if (this.#isEnding) return;
    this.#fromAgent(rest);
    this.#isEnding = true;
    setTimeout(() => this.#ended.resolve(), PATIENCE_MS).unref();
    this.#settle();
  }
}

async function exitOf(server: ChildProcess): Promise<number | null> {
  if (server.exitCode === null && server.signalCode === null) await once(server, "exit");
  return server.exitCode;
}

function parse(line: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
