import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { hidePasswords } from "../../../api/error.ts";
import { toWireSessionStatus } from "../../../api/gateway.ts";
import type { Engine } from "../../../engine/engine.ts";
import { keepRunning } from "../../../engine/leases/outage.ts";
import { sessionStatus } from "../../../gateway/session-status.ts";
import { thisMachine } from "../../../ingest/identity/identity.ts";
import { defined } from "../../../model/defined.ts";
import { readVariable } from "../../../model/variables.ts";
import { type LogRequest, toErrorLine, toLogLine } from "../../../server/log.ts";
import type { RunningServer, ServerOptions } from "../../../server/serve.ts";
import { MEMORY } from "../../../store/store-options.ts";
import { type Command, defineCommand, flag, option, usageError } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { Follower } from "../../follow.ts";
import type { Hub } from "../../hub/hub.ts";
import { counted, formatCount } from "../../print.ts";
import { commandLine, readVersion } from "../../program.ts";
import { ownConfig } from "../../settings/own-config.ts";
import { announceServer, localTokenFile, ownToken } from "../../settings/own-servers.ts";
import { type OwnStoreOptions, withOwnStore } from "../../store.ts";
import { toChoice, toCount } from "../../values.ts";
import { copyInProcess } from "./backup-process.ts";

/**
 * Returns the memory of followers that have left.
 *
 * What was kept for a thousand event streams is old to V8, which leaves such garbage for as long as
 * other callers keep it busy: 200 MB. So it is collected once many have left, in a fifth of a second.
 *
 * Also shrinks the young generation, which grew to 128 MB.
 */
const LAST_RESORT = { type: "major", flavor: "last-resort" };

const LOOK_MS = 5_000;
/** Fewer leave little behind. */
const MANY = 100;

/** Looks every few seconds, until the returned function is called. */
export function collectAfter(
  followers: () => number,
  collect: () => void = garbageCollector(),
): () => void {
  let most = 0;
  const timer = setInterval(() => {
    const now = followers();
    most = Math.max(most, now);
    if (most < MANY || now > most / 2) return;
    most = now;
    collect();
  }, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

export function garbageCollector(): () => void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (options: object) => void;
  return () => collect(LAST_RESORT);
}

/** As the server's own default: it is loaded on demand. */
const DEFAULT_PORT = 7423;

const LOGS = ["all", "errors", "none"] as const;

export const serve: Command = defineCommand({
  name: "serve",
  summary: "Serve REST, MCP and live events over the store.",
  details:
    "On a loopback address it serves the user who started it, without a token; other users of the machine, and callers at any other address, need one: see token create. /docs lists the routes; /healthz, /readyz and /metrics are for operators. Expired sessions and records are deleted every minute. Stops gracefully on Ctrl-C or SIGTERM: requests in progress are completed. Creates the store, too, if there is none.",
  options: {
    host: option("ADDRESS", "Where to listen: 127.0.0.1 if left out."),
    port: option("N", "7423 if left out; 0 takes any that is free."),
    watch: flag("Also ingest this machine's transcripts as they are written."),
    "require-token": flag("Callers on this machine need a token, too."),
    "open-loopback": flag(
      "Serve every user of this machine without a token: whoever can log in reads everything.",
    ),
    "allow-host": option(
      "NAMES",
      "Further names by which the server is called, with commas between them.",
    ),
    "allow-origin": option(
      "ORIGINS",
      "Pages that may call, such as https://app.example, with commas between them.",
    ),
    "rate-limit": option(
      "N",
      "Requests a second for each caller: none on this machine alone, else 200.",
    ),
    replica: option(
      "URLS",
      "Hot standbys that reads may run on, with commas between them (BACKSCROLL_REPLICAS). PostgreSQL only.",
    ),
    follower: flag(
      "Only read: --db may be a hot standby. Writes are refused, and other nodes do the maintenance.",
    ),
    notify: option(
      "HOW",
      "How other nodes' changes are noticed: listen (if left out), poll, or the address to listen at, past a pooler (BACKSCROLL_NOTIFY). PostgreSQL only.",
    ),
    log: option(
      "WHAT",
      "A line of JSON on standard error for all requests, errors (if left out) or none.",
    ),
  },
  examples: ["serve --port 0", "serve --watch"],
  run: async (context, _args, options) => {
    const { host, watch = false, follower = false } = options;
    if (follower && watch) {
      throw usageError(
        "--follower and --watch cannot go together: a follower stores nothing",
        "--watch",
      );
    }
    const fleet = ownStoreOptions(options.replica, options.notify);
    const port = toCount(options.port, "--port");
    if (port !== undefined && port > 65_535) throw usageError("--port is 65535 at most", "--port");
    const rate = toCount(options["rate-limit"], "--rate-limit");
    const log = toChoice(options.log, LOGS, "--log") ?? "errors";
    const settings: ServerOptions = {
      ...defined({ host, port, requireToken: options["require-token"] }),
      ...(options["open-loopback"] ? {} : { local: localOptions(port) }),
      version: readVersion(),
      tenant: context.tenant,
      allowHosts: toList(options["allow-host"]),
      allowOrigins: toList(options["allow-origin"]),
      ...(rate === undefined ? {} : { rateLimit: toRateLimit(rate) }),
      ...(context.address === MEMORY ? {} : { copyStore: copyInProcess(context.address) }),
      ...(log === "none" ? {} : { log: logTo(context, log) }),
    };
    return withOwnStore(
      context,
      "a server",
      (engine) =>
        serveUntilStopped(context, engine, settings, {
          watch,
          onlyReads: follower,
          onError: (error) => {
            if (log !== "none") context.terminal.note(toErrorLine(error));
          },
          onListening: (server) =>
            tellWhere(context, engine, server, watch, options["open-loopback"] ?? false),
        }),
      follower ? "read" : "create",
      fleet,
    );
  },
});

export interface ServingOptions {
  /** Also ingests this machine's transcripts as they are written. */
  readonly watch: boolean;
  /** The store is read-only: another node maintains it. */
  readonly onlyReads?: boolean;
  readonly onError: (error: unknown) => void;
  /** Called once, when the server listens. */
  readonly onListening: (server: RunningServer) => Promise<void>;
}

/** Ends gracefully on Ctrl-C or SIGTERM. */
export async function serveUntilStopped(
  context: Context,
  engine: Engine,
  settings: ServerOptions,
  { watch, onlyReads = false, onError, onListening }: ServingOptions,
): Promise<number> {
  // Loaded on demand: no other command should pay for a server.
  const [{ openServer }, { keepUp }, { warmUp }, { mcpHttpHandler }] = await Promise.all([
    import("../../../server/serve.ts"),
    import("../../../server/maintenance.ts"),
    import("../../../server/maintenance.ts"),
    import("../../../mcp/http.ts"),
  ]);
  const { version } = settings;
  const gateway = ownConfig().config;
  const mcp = mcpHttpHandler({
    tenantFor: (name) => engine.forTenant(name),
    version,
    onError,
    standingFor: async (name, id) =>
      toWireSessionStatus(await sessionStatus(engine.forTenant(name), id, gateway)),
  });
  const server = await openServer(engine, { ...settings, gateway, mcp: mcp.fetch });
  const endCollecting = collectAfter(() => server.followers());
  const stop = new AbortController();
  const stopOnSignal = () => {
    if (stop.signal.aborted) process.exit(EXIT.internal);
    stop.abort();
  };
  process.on("SIGINT", stopOnSignal).on("SIGTERM", stopOnSignal);
  const withdraw = announceServer(server.url);
  try {
    await onListening(server);
    const { signal } = stop;
    const work = [warmUp(engine.forTenant(context.tenant), { signal, onError })];
    if (!onlyReads) work.push(keepUp(engine, { signal, onError }));
    const owner = randomUUID();
    const following = () => follow(context, engine, signal, owner);
    if (watch) work.push(keepRunning(following, { signal, onError }));
    // Agents on this machine come here from now on.
    const hub = onlyReads
      ? undefined
      : await serveAgents(context, engine, { watch, owner, onError });
    // A signal may have arrived while the lines above were printed.
    if (!signal.aborted) {
      await new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    }
    if (process.stderr.isTTY) context.terminal.note("Stopping …");
    await Promise.all([mcp.close(), hub?.close()]);
    await server.stop();
    await Promise.all(work);
  } finally {
    withdraw();
    endCollecting();
    process.off("SIGINT", stopOnSignal).off("SIGTERM", stopOnSignal);
  }
  return EXIT.ok;
}

/** A server without a hub serves, too: the agents have one of their own. */
async function serveAgents(
  context: Context,
  engine: Engine,
  { watch, owner, onError }: { watch: boolean; owner: string; onError: (error: unknown) => void },
): Promise<Hub | undefined> {
  const { Hub } = await import("../../hub/hub.ts");
  const open = async () => engine;
  const follow = (signal: AbortSignal) =>
    new Follower(context, { signal, owner, onError, engine: open });
  const settings = { engine: open, onError, ...(watch ? {} : { follow }) };
  return Hub.open(context, settings, true).catch((error: unknown) => {
    onError(error);
    return undefined;
  });
}

/** The server's own user alone is served on loopback; the settings have no effect elsewhere. */
export function localOptions(
  port: number = DEFAULT_PORT,
): Exclude<ServerOptions["local"], undefined> {
  const file = localTokenFile();
  const token = ownToken(file);
  return port === 0 ? { token } : { token, socketPath: join(dirname(file), `serve-${port}.sock`) };
}

/** With a code that works once, where the system does not tell whose browser it is. */
export function pageLink({ url, newCode }: Pick<RunningServer, "url" | "newCode">): string {
  const code = newCode();
  return code === undefined ? `${url}/` : `${url}/#code=${code}`;
}

async function tellWhere(
  context: Context,
  engine: Engine,
  server: RunningServer,
  watch: boolean,
  isOpen: boolean,
): Promise<void> {
  const { terminal } = context;
  const db = hidePasswords(context.address);
  if (context.json) {
    await terminal.print(JSON.stringify({ url: server.url, db, pid: process.pid, watch }));
    return;
  }
  await terminal.print(`Backscroll ${readVersion()} listens at ${server.url}`);
  await terminal.print(`${terminal.dim("Page ")}  ${pageLink(server)} (open it in a browser)`);
  await terminal.print(`${terminal.dim("Store")}  ${db}`);
  await terminal.print(`${terminal.dim("REST ")}  ${server.url}/docs`);
  await terminal.print(`${terminal.dim("MCP  ")}  ${server.url}/mcp`);
  const held = (await engine.forTenant(context.tenant).tenantStatus())?.sessions ?? 0;
  // For an empty store, suggests the demo instead of a search.
  const example = held > 0 ? "search 'how did we fix the build'" : "demo";
  await terminal.print(`${terminal.dim("Try  ")}  ${commandLine(context, example)}`);
  if (isOpen) {
    terminal.note("Every user of this machine is served without a token (--open-loopback).");
  }
  await terminal.print("Ctrl-C stops it.");
}

/** `owner` is that of the lease: after an outage the lease is taken over at once. */
async function follow(
  context: Context,
  engine: Engine,
  signal: AbortSignal,
  owner: string,
): Promise<void> {
  const { followTranscripts } = await import("../../../archive/watch.ts");
  const { terminal } = context;
  let files = 0;
  let entries = 0;
  let isReady = false;
  await followTranscripts(engine, context.tenant, {
    environment: thisMachine(),
    signal,
    owner,
    onOutcome: (outcome) => {
      files++;
      entries += outcome.sessions.reduce((sum, session) => sum + session.entries, 0);
      if (!isReady && !context.json && files % 1_000 === 0) {
        terminal.note(`Read ${formatCount(files)} files, ${formatCount(entries)} entries …`);
      }
    },
    onReady: (folders) => {
      isReady = true;
      if (context.json) return;
      terminal.note(
        `Read ${counted(files, "file")}, stored ${counted(entries, "entry")}; following ${counted(folders, "folder")}.`,
      );
    },
  });
}

function logTo(context: Context, what: "all" | "errors"): LogRequest {
  return (event) => {
    if (what === "all" || event.status >= 500) context.terminal.note(toLogLine(event));
  };
}

function toRateLimit(perSecond: number): { perSecond: number; burst: number } {
  if (perSecond === 0) throw usageError("--rate-limit must be at least 1", "--rate-limit");
  return { perSecond, burst: 2 * perSecond };
}

function toList(value: string | undefined): string[] {
  return (value ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/**
 * Further servers of a store on PostgreSQL, from `serve` and the environment.
 *
 * Options take precedence over the environment.
 */
function ownStoreOptions(replica: string | undefined, notify: string | undefined): OwnStoreOptions {
  const replicas = toAddresses(
    replica ?? readVariable("BACKSCROLL_REPLICAS", process.env) ?? "",
    replica === undefined ? "BACKSCROLL_REPLICAS" : "--replica",
  );
  const how = notify ?? readVariable("BACKSCROLL_NOTIFY", process.env);
  if (how !== undefined && !["listen", "poll"].includes(how) && !isPostgres(how)) {
    throw usageError(`--notify must be listen, poll or postgres://…, not "${how}"`, "--notify");
  }
  return { replicas, ...(how === undefined ? {} : { notify: how }) };
}

/** One address may name several hosts, with commas: a new address begins with its scheme. */
function toAddresses(text: string, name: string): string[] {
  const addresses = text.split(/,\s*(?=postgres(?:ql)?:)|\s+/).filter((part) => part !== "");
  for (const address of addresses) {
    if (isPostgres(address)) continue;
    throw usageError(`${name} must be an address such as postgres://host/database`, name);
  }
  return addresses;
}

function isPostgres(address: string): boolean {
  return /^postgres(ql)?:\/\//i.test(address);
}
