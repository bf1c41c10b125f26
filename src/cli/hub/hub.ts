/**
 * The hub: serves all agents of this machine that use one store, in one process, over a socket that
 * only its owner can open. `backscroll hub` is nothing else; `serve` and `watch` are hubs, too.
 *
 * Holds the store, its caches and the follower of transcripts once for all. An agent's own part of
 * it is its folder, its environment and its options, which its pipe tells in the greeting.
 */

import { once } from "node:events";
import { chmodSync, renameSync, rmSync, statSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import type { FreshReader } from "../../archive/fresh-reader.ts";
import type { EngineApi, TenantApi } from "../../engine/interfaces.ts";
import { thisMachine } from "../../ingest/identity/identity.ts";
import { toErrorLine } from "../../server/log.ts";
import type { Context } from "../context.ts";
import type { Follower } from "../follow.ts";
import { Lines } from "../pipe/lines.ts";
import { Caller } from "../pipe/pipe.ts";
import {
  type Greeting,
  type HubLine,
  hubPlace,
  MAX_GREETING_BYTES,
  PROTOCOL,
  toLine,
} from "../pipe/place.ts";
import { readVersion } from "../program.ts";
import { agentHost } from "./agent-host.ts";

const IS_WINDOWS = process.platform === "win32";

/** How long another hub may take to let go of the name of its pipe. */
const YIELDING_MS = 1_000;
const LOOK_MS = 20;

/** A caller that says nothing is cut off. */
const GREETING_MS = 5_000;

/** How long calls in flight may take when the hub ends. */
const LEAVING_MS = 2_000;

/** How long a tool's call waits for new lines of transcripts. */
export const FRESH_MS = 300;

interface HubSettings {
  /** Opens the store, at the first caller; the hub does not close it. */
  readonly engine: () => Promise<EngineApi>;
  /** Makes the follower of transcripts; absent where this process follows them already. */
  readonly follow?: (signal: AbortSignal) => Follower;
  readonly onError: (error: unknown) => void;
  /** Called when the last caller has left. */
  readonly onIdle?: () => void;
  /** Called when the hub serves nobody new any more: another one is in its place. */
  readonly onRetired?: () => void;
}

export class Hub {
  readonly #context: Context;
  readonly #settings: HubSettings;
  readonly #server: Server;
  readonly #path: string;
  readonly #sockets = new Set<Socket>();
  readonly #end = new AbortController();
  readonly #readers = new Map<string, Promise<FreshReader>>();
  #engine: Promise<EngineApi> | undefined;
  #follower: Follower | undefined;
  #isRetired = false;

  /**
   * Undefined if another hub serves this store and is not older, unless `insists`; or if there is no
   * place for a socket.
   */
  static async open(
    context: Context,
    settings: HubSettings,
    insists = false,
  ): Promise<Hub | undefined> {
    const { address, tenant } = context;
    const place = hubPlace({ db: address, tenant });
    if (place === undefined) return undefined;
    const caller = new Caller(place, []);
    const other = await caller.find(caller.greeting("replace", { insists }));
    if (other?.answer.backscroll === "welcome") {
      other.stream.destroy();
      return undefined;
    }
    const hub = new Hub(context, settings, place.socket);
    // The name of a pipe is free when the other one has let go of it.
    if (IS_WINDOWS) other?.stream.end();
    await hub.#listen(other === undefined ? 0 : YIELDING_MS);
    // The other one, if there is one, sends its callers here now.
    if (!IS_WINDOWS) other?.stream.end();
    return hub;
  }

  private constructor(context: Context, settings: HubSettings, path: string) {
    this.#context = context;
    this.#settings = settings;
    this.#path = path;
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      this.#serve(socket).catch(settings.onError);
    });
  }

  get callers(): number {
    return this.#sockets.size;
  }

  /** Binds beside the place and moves there: atomic, also over what a killed hub left. */
  async #listen(patienceMs: number): Promise<void> {
    const path = IS_WINDOWS ? this.#path : this.#path.replace(/sock$/, String(process.pid));
    const until = Date.now() + patienceMs;
    for (;;) {
      try {
        this.#server.listen(path);
        await once(this.#server, "listening");
        break;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE" || Date.now() >= until)
          throw error;
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
    }
    this.#server.on("error", this.#settings.onError);
    if (IS_WINDOWS) return;
    chmodSync(path, 0o600);
    const { ino } = statSync(path);
    renameSync(path, this.#path);
    process.once("exit", () => this.#leave(ino));
    this.#end.signal.addEventListener("abort", () => this.#leave(ino), { once: true });
    // Of two hubs that begin at once the later one is in the place, and the other's callers move.
    const timer = setInterval(() => {
      if (this.#isPlace(ino)) return;
      clearInterval(timer);
      this.#retire();
    }, GREETING_MS);
    timer.unref();
  }

  #isPlace(ino: number): boolean {
    return statSync(this.#path, { throwIfNoEntry: false })?.ino === ino;
  }

  #leave(ino: number): void {
    if (this.#isPlace(ino)) rmSync(this.#path, { force: true });
  }

  /** Sends the callers away, which find or start another hub; waits for calls in flight. */
  async close(): Promise<void> {
    this.#end.abort();
    this.#retire();
    const until = Date.now() + LEAVING_MS;
    while (this.#sockets.size > 0 && Date.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    for (const socket of this.#sockets) socket.destroy();
    await this.#follower?.ended();
    for (const reader of this.#readers.values()) await (await reader).ended();
  }

  /** Reads the lines that agents wrote after their last call; gives the number of files left. */
  async readRest(): Promise<number> {
    if (this.#engine === undefined) return 0;
    this.#asked();
    const reader = await this.#reader(process.cwd(), 10 * GREETING_MS);
    const { files, complete } = await reader.read();
    return complete ? files : files + 1;
  }

  #retire(): void {
    if (this.#isRetired) return;
    this.#isRetired = true;
    this.#server.close();
    for (const socket of this.#sockets) tell(socket, { backscroll: "move" });
    this.#settings.onRetired?.();
  }

  async #serve(socket: Socket): Promise<void> {
    socket.on("error", () => undefined);
    const greeting = await readGreeting(socket);
    if (greeting === undefined) return void socket.destroy();
    if (greeting.role === "replace") return this.#giveWay(socket, greeting);
    const { address, tenant } = this.#context;
    const isForUs = greeting.backscroll === PROTOCOL && greeting.tenant === tenant;
    if (!isForUs || this.#isRetired || isNewer(greeting.version, readVersion())) {
      return void socket.end(toLine({ backscroll: "outdated" }));
    }
    this.#sockets.add(socket);
    socket.once("close", () => {
      this.#sockets.delete(socket);
      if (this.#sockets.size === 0) this.#settings.onIdle?.();
    });
    let engine: EngineApi;
    try {
      engine = await this.#open();
    } catch (error) {
      this.#settings.onError(error);
      return void socket.end(toLine({ backscroll: "failed", text: `${address}: ${error}` }));
    }
    if (greeting.role === "ask") return this.#answer(socket, greeting, engine.forTenant(tenant));
    tell(socket, { backscroll: "welcome" });
    await this.#serveMcp(socket, greeting, engine.forTenant(tenant));
  }

  async #answer(socket: Socket, greeting: Greeting, tenant: TenantApi): Promise<void> {
    const { answerHook } = await import("../hook/answer.ts");
    const { cwd = "/", variables = {}, question = { agent: "", payload: undefined } } = greeting;
    const asked = { ...question, cwd, variables, goesOn: true };
    const text = await answerHook(tenant, asked, thisMachine());
    socket.end(toLine({ backscroll: "answer", text }));
    this.#asked();
  }

  #open(): Promise<EngineApi> {
    this.#engine ??= this.#settings.engine().catch((error: unknown) => {
      this.#engine = undefined;
      throw error;
    });
    return this.#engine;
  }

  async #serveMcp(socket: Socket, greeting: Greeting, tenant: TenantApi): Promise<void> {
    const { serveMcpStdio } = await import("../../mcp/stdio.ts");
    const { cwd = "/", variables = {}, options = {}, pipe, startedAt } = greeting;
    const onError = (error: unknown) =>
      tell(socket, { backscroll: "note", text: toErrorLine(error) });
    const host = agentHost(tenant, { ...options, pipe, startedAt, cwd, variables, onError });
    const signal = AbortSignal.any([this.#end.signal, closing(socket)]);
    await serveMcpStdio(
      {
        ...host,
        freshen: async () => (await this.#reader(cwd)).read(),
      },
      { signal, onMessage: () => this.#asked(), input: socket, output: socket },
    );
    socket.end();
  }

  #asked(): void {
    this.#follower ??= this.#settings.follow?.(this.#end.signal);
    this.#follower?.asked();
  }

  /** One for each folder: its transcripts are read first. */
  #reader(cwd: string, budgetMs: number = FRESH_MS): Promise<FreshReader> {
    const key = `${budgetMs} ${cwd}`;
    const known = this.#readers.get(key);
    if (known !== undefined) return known;
    const made = this.#makeReader(cwd, budgetMs);
    this.#readers.set(key, made);
    return made;
  }

  async #makeReader(cwd: string, budgetMs: number): Promise<FreshReader> {
    const module = await import("../../archive/fresh-reader.ts");
    const { onError, follow } = this.#settings;
    return new module.FreshReader((await this.#open()).forTenant(this.#context.tenant), {
      environment: thisMachine(),
      cwd,
      budgetMs,
      onError,
      isFollowed: () => follow === undefined || (this.#follower?.isReady ?? false),
    });
  }

  /** Its callers move when the other one listens: it closes this connection then. */
  #giveWay(socket: Socket, { version, insists = false }: Greeting): void {
    if (!insists && !this.#isRetired && !isNewer(version, readVersion())) {
      return void socket.end(toLine({ backscroll: "welcome" }));
    }
    tell(socket, { backscroll: "outdated" });
    socket.once("end", () => {
      socket.end();
      if (insists || IS_WINDOWS) this.#retire();
    });
    socket.resume();
  }
}

function tell(socket: Socket, line: HubLine): void {
  if (socket.writable) socket.write(toLine(line));
}

function closing(socket: Socket): AbortSignal {
  const closed = new AbortController();
  socket.once("close", () => closed.abort());
  return closed.signal;
}

/** The first line; what follows stays in the socket. */
function readGreeting(socket: Socket): Promise<Greeting | undefined> {
  return new Promise((resolve) => {
    const lines = new Lines();
    let bytes = 0;
    const timer = setTimeout(() => done(undefined), GREETING_MS);
    const done = (greeting: Greeting | undefined) => {
      clearTimeout(timer);
      socket.off("data", onData).off("close", onClose).pause();
      resolve(greeting);
    };
    const onClose = () => done(undefined);
    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      const [first, ...more] = lines.add(chunk);
      if (first === undefined) return bytes > MAX_GREETING_BYTES ? done(undefined) : undefined;
      const rest = [...more.map((line) => Buffer.from(`${line}\n`)), lines.rest()];
      done(parseGreeting(first));
      socket.unshift(Buffer.concat(rest));
    };
    socket.on("data", onData).on("close", onClose);
  });
}

function parseGreeting(line: string): Greeting | undefined {
  try {
    const value = JSON.parse(line) as Greeting;
    return typeof value === "object" && value !== null && "backscroll" in value ? value : undefined;
  } catch {
    return undefined;
  }
}

/** By the numbers of both versions, such as 0.2.0 and 0.10.1. */
function isNewer(version: string, than: string): boolean {
  const numbers = (text: string) =>
    text.split(/[.+-]/, 3).map((part) => Number.parseInt(part, 10) || 0);
  const [one, other] = [numbers(version), numbers(than)];
  for (let i = 0; i < 3; i++) {
    const difference = (one[i] ?? 0) - (other[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return false;
}
