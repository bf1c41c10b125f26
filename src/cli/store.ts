/** Opens the store for one command. */

import { getPriority, setPriority } from "node:os";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import type { RemoteEngine, RemoteTenant } from "../client/index.ts";
import type { Engine } from "../engine/engine.ts";
import type { EngineApi, SessionApi, TenantApi } from "../engine/interfaces.ts";
import type { TenantEngine } from "../engine/tenant-engine.ts";
import { BackscrollError } from "../model/errors.ts";
import { describeLoss, type StoreLoss } from "../model/store-loss.ts";
import type { StoreOptions } from "../store/store.ts";
import { MEMORY } from "../store/store-options.ts";
import { type Context, isServer } from "./context.ts";
import { commandLine } from "./program.ts";
import {
  explainMissingModel,
  modelsOfEnvironment,
  ownEmbedder,
  ownPrices,
} from "./settings/models.ts";
import { tokenForAddress } from "./settings/own-servers.ts";

export type Access =
  /** Never writes, creates or migrates anything. */
  | "read"
  /** Writes to an existing store. */
  | "write"
  /** Creates the store if needed. */
  | "create";

/**
 * The write load of a command.
 *
 * `bulk`: SQLite runs on threads, so that reading and writing overlap, and commits do not wait for
 * the disk. Power loss can undo only the newest part, which can be ingested again.
 */
export type Load =
  | "short"
  | "bulk"
  /**
   * Many concurrent callers over a long time: on threads, and every acknowledged write is durable.
   */
  | "server";

/** Further servers of a store on PostgreSQL, and whether searches have threads of their own. */
export type OwnStoreOptions = Pick<StoreOptions, "replicas" | "notify" | "searchThread">;

/** Runs `use` on the command line's tenant, and always closes the store. */
export async function withStore<Result>(
  context: Context,
  access: Access,
  use: (tenant: TenantApi, engine: EngineApi) => Promise<Result>,
  load: Load = "short",
): Promise<Result> {
  if (isServer(context.address)) return withServer(context, use);
  if (load === "bulk") prepareBulk();
  const engine = await openStore(context, access, load);
  try {
    return await explainMissingModel(() => use(engine.forTenant(context.tenant), engine));
  } finally {
    await engine.close();
  }
}

/** The same for a session, by any of its ids. */
export function withSession<Result>(
  context: Context,
  access: Access,
  id: string,
  use: (session: SessionApi, tenant: TenantApi) => Promise<Result>,
): Promise<Result> {
  return withStore(context, access, async (tenant) => use(await tenant.getSession(id), tenant));
}

const SIZES: Readonly<
  Record<Load, Pick<StoreOptions, "durability" | "inThread" | "searchThread" | "indexing">>
> = {
  short: { inThread: true },
  bulk: { durability: "process" },
  server: { searchThread: true, indexing: { mergeShare: 0.25 } },
};

/** For operations that a server does not offer: see `withStore`. */
export async function withOwnTenant<Result>(
  context: Context,
  access: Access,
  use: (tenant: TenantEngine) => Promise<Result>,
): Promise<Result> {
  const engine = await openStore(context, access, "short");
  try {
    return await use(engine.forTenant(context.tenant));
  } finally {
    await engine.close();
  }
}

/** The same for operations on the whole store. */
export async function withOwnEngine<Result>(
  context: Context,
  use: (engine: Engine) => Promise<Result>,
): Promise<Result> {
  const engine = await openStore(context, "write", "short");
  try {
    return await use(engine);
  } finally {
    await engine.close();
  }
}

/** For commands that need the local store itself, such as `serve`. */
export async function withOwnStore<Result>(
  context: Context,
  what: string,
  use: (engine: Engine) => Promise<Result>,
  access: Access = "create",
  own: OwnStoreOptions = {},
): Promise<Result> {
  refuseServer(context, what, "run it where the store is");
  setFlagsFromString(`--heap-growing-percent=${SERVER_GROWING_PERCENT}`);
  const engine = await openStore(context, access, "server", own);
  try {
    return await explainMissingModel(() => use(engine));
  } finally {
    await engine.close();
  }
}

/** The same on a server's store, with the server's models. */
export async function withServer<Result>(
  context: Context,
  use: (tenant: RemoteTenant, engine: RemoteEngine) => Promise<Result>,
): Promise<Result> {
  const { address, token = tokenForAddress(address), tenantNamed, tenant } = context;
  const { connect } = await import("../client/index.ts");
  const engine = await connect(address, token === undefined ? {} : { token });
  try {
    return await use(tenantNamed ? engine.forTenant(tenant) : engine, engine);
  } finally {
    await engine.close();
  }
}

/** For commands that need a store's files: `way` is the alternative. */
export function refuseServer(context: Context, what: string, way: string): void {
  if (!isServer(context.address)) return;
  throw new BackscrollError("invalid_address", `${what} needs the store itself; ${way}`);
}

/** A short command has no event loop to keep free: SQLite runs on its own thread. */
function openStore(
  context: Context,
  access: Access,
  load: Load,
  own: OwnStoreOptions = {},
): Promise<Engine> {
  const { address } = context;
  // An in-memory store is created by this command, so it needs no check.
  const readOnly = access === "read" && address !== MEMORY;
  return explainMissingStore(context, async () => {
    // Loaded on demand: help and usage errors do not need it.
    const { open } = await import("../open.ts");
    const models = modelsOfEnvironment();
    const embedder = await ownEmbedder();
    const size = SIZES[load];
    const onLoss = (loss: StoreLoss) => noteLoss(context, loss);
    const onWarning = (sentence: string) => context.terminal.note(`Warning: ${sentence}`);
    const create = access === "create";
    const prices = ownPrices;
    const options = { create, ...size, ...own, models, onLoss, onWarning, prices };
    const whole = embedder === undefined ? options : { ...options, embedder };
    try {
      return await open(address, { ...whole, readOnly });
    } catch (error) {
      if (!readOnly || !BackscrollError.is(error, "needs_migration")) throw error;
      // Of an older version: migrated by being opened for writing.
      await (await open(address, whole)).close();
      return open(address, { ...whole, readOnly });
    }
  });
}

/** Reported by each command until acknowledged. */
export function noteLoss(context: Context, loss: StoreLoss): void {
  const accept = commandLine(context, "doctor --accept-loss");
  context.terminal.note(`Warning: ${describeLoss(loss)}. To stop this warning: ${accept}`);
}

/** Adds the command that creates a store to `store_not_found`. */
export async function explainMissingStore<Result>(
  context: Context,
  action: () => Promise<Result>,
): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    if (!BackscrollError.is(error, "store_not_found")) throw error;
    throw new BackscrollError(
      "store_not_found",
      `${error.message}; fill one with: ${commandLine(context, "ingest")}, or create it with: ${commandLine(context, "status --create")}`,
      { details: error.details, cause: error },
    );
  }
}

/** Megabytes of V8's young generation (both semi-spaces) of this thread, which parses files. */
const OWN_MB = 16;

/** The same of each thread that is started later. */
const THREAD_MB = 4;

/**
 * Heap growth beyond the live size before a full collection, in percent. V8's default is 300, except in
 * the reader thread. 80 takes 20 MB more for 3 % of the time.
 */
const GROWING_PERCENT = 60;

/** The same in a server. It costs no measurable time: little of what a request makes survives. */
const SERVER_GROWING_PERCENT = 50;

/**
 * Called before a bulk load, and before its threads start. It changes the whole process, so only
 * the command line calls it, never the library.
 */
export function prepareBulk(): void {
  sizeHeap();
  giveWay();
}

/** The same priority as the index thread's, see `store/sqlite/executor/storage-thread.ts`. */
const POLITE = 5;

/**
 * Lowers the CPU priority, because a bulk load takes long in any case. Threads that start later
 * inherit the priority, so the index thread is not starved and the writer need not wait for it.
 */
function giveWay(): void {
  try {
    if (getPriority() < POLITE) setPriority(POLITE);
  } catch {
    // Not permitted: keep the normal priority.
  }
}

/**
 * V8 begins with room for a megabyte of new objects in each thread, and grows it with the
 * allocation rate: to more than a hundred megabytes during an ingest, although hardly any object
 * survives. One megabyte is too little: entries on their way to the store would be copied again and
 * again. A few are enough.
 */
export function sizeHeap(): void {
  setFlagsFromString(`--min-semi-space-size=${THREAD_MB}`);
  growTo(OWN_MB * 1024 * 1024);
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
}

/** A semi-space grows by a factor when more survives than it holds. If it does not, it stays. */
function growTo(bytes: number): void {
  const factor = Math.floor(bytes / roomBytes());
  if (factor < 2) return;
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
  const before = roomBytes();
  let kept: unknown[] = [];
  for (let round = 0; round < 64 && roomBytes() === before; round++) {
    // About a fifth of a megabyte.
    kept.push(Array.from({ length: 200 }, () => new Array(128).fill(round)));
    if (kept.length > 16) kept = [];
  }
}

function roomBytes(): number {
  const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
  return space?.space_size ?? 0;
}
