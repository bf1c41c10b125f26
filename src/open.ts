/**
 * The composition root: from an address to a backend to an engine. The only file that names
 * backends.
 */

import { Engine, type EngineOptions } from "./engine/engine.ts";
import { SessionHandle } from "./engine/session-handle.ts";
import { TenantEngine } from "./engine/tenant-engine.ts";
import { BackscrollError } from "./model/errors.ts";
import { checkFields, checkPart } from "./model/input.ts";
import type { Backend, Language, Telemetry, ToolIndexing } from "./model/inputs/choices.ts";
import { INPUTS } from "./model/inputs/index.ts";
import type { Embedder, TextModel } from "./model/models.ts";
import { loadOptional } from "./model/optional-package.ts";
import { readVariable } from "./model/variables.ts";
import { type AiSdkEmbeddingModel, toEmbedder } from "./providers/embedding/to-embedder.ts";
import { type AiSdkModel, isAiSdkModel, languageModel } from "./providers/language-model.ts";
import type { IndexingOptions } from "./store/index/indexing-options.ts";
import type { IndexSetting } from "./store/index/stored-indexing.ts";
import { openSqliteStore } from "./store/sqlite/open-sqlite-store.ts";
import type { Store, StoreOptions } from "./store/store.ts";
import { loadTelemetry, traceCalls, traceStore } from "./telemetry.ts";

export interface OpenOptions
  extends Omit<StoreOptions, "indexing">,
    Omit<EngineOptions, "models" | "embedder"> {
  readonly indexing?: IndexingOptions;
  /**
   * Embeds texts, for semantic search. Accepts an embedding model of the AI SDK. New messages are
   * embedded after their commit, stored ones by `embedStored`.
   */
  readonly embedder?: Embedder | AiSdkEmbeddingModel;
  /**
   * Language models by name, such as `default` and `fast`. Optional. Accepts models of the AI SDK.
   */
  readonly models?: Readonly<Record<string, TextModel | AiSdkModel>>;
  /**
   * `spans`: calls of the store are spans of the host's OpenTelemetry, without content; `content`:
   * with the queries. Needs the package `@opentelemetry/api`. Default: BACKSCROLL_TELEMETRY, else
   * off.
   */
  readonly telemetry?: Telemetry;
}

export type { Telemetry } from "./model/inputs/choices.ts";

/**
 * Opens a store, creating or migrating it if needed.
 *
 * `address` is the path of a SQLite file, `:memory:`, or `postgres://…`. Close it with `close()` or
 * `await using`.
 */
export async function open(address: string, options: OpenOptions = {}): Promise<Engine> {
  const {
    models = {},
    embedder,
    telemetry = telemetryOfEnvironment(),
    ...rest
  } = checkFields(options, "options", INPUTS.open);
  const searchDeadlineMs = deadlineOf("BACKSCROLL_SEARCH_DEADLINE_MS");
  const embedDeadlineMs = deadlineOf("BACKSCROLL_EMBED_DEADLINE_MS");
  // Checks arguments before the store is opened, so that nothing needs closing.
  const engineOptions: EngineOptions = {
    ...(searchDeadlineMs === undefined ? {} : { searchDeadlineMs }),
    ...(embedDeadlineMs === undefined ? {} : { embedDeadlineMs }),
    ...rest,
    models: toTextModels(models),
    ...(embedder === undefined ? {} : { embedder: toEmbedder(embedder) }),
  };
  const loaded = telemetry === "off" ? undefined : await loadTelemetry();
  const { indexing } = options;
  if (indexing !== undefined) checkPart(indexing, "indexing", INPUTS["open.indexing"]);
  const plain = await openBackend(address, options);
  const kind = backendOf(address) === "sqlite" ? "internal" : "client";
  const store =
    loaded === undefined
      ? plain
      : traceStore(plain, loaded.tracer, { content: telemetry === "content", kind });
  const heads =
    embedder === undefined || options.readOnly === true ? undefined : await readHeads(store);
  const engine = new Engine(store, engineOptions, heads, options.onWarning);
  return loaded === undefined
    ? engine
    : traceCalls(engine, loaded.tracer, loaded.durations, isHandle);
}

function isHandle(value: unknown): value is object {
  return value instanceof TenantEngine || value instanceof SessionHandle;
}

/** The feed's end of each tenant: later changes are embedded as they arrive. */
async function readHeads(store: Store): Promise<ReadonlyMap<string, number>> {
  const { tenants } = await store.status();
  return new Map(tenants.map(({ tenant, feedPosition }) => [tenant, feedPosition]));
}

export async function openStore(address: string, options: StoreOptions = {}): Promise<Store> {
  const { indexing } = checkFields(options, "options", INPUTS.openStore);
  if (indexing !== undefined) checkPart(indexing, "indexing", INPUTS["openStore.indexing"]);
  return openBackend(address, options);
}

async function openBackend(address: string, given: StoreOptions): Promise<Store> {
  checkFleet(address, given);
  const options = { ...given, indexing: { ...indexingOfEnvironment(), ...given.indexing } };
  switch (backendOf(address)) {
    case "postgres": {
      // Loaded on demand: an embedded store should not pay for a database driver.
      const { openPostgresStore } = await loadOptional(
        "pg",
        "PostgreSQL needs",
        () => import("./store/postgres/open-postgres-store.ts"),
      );
      return openPostgresStore(address, options);
    }
    case "sqlite":
      return openSqliteStore(address, options);
  }
}

/** Followers and notifications exist on PostgreSQL only. */
function checkFleet(address: string, { replicas = [], notify }: StoreOptions): void {
  const refuse = (field: string, why: string): never => {
    throw new BackscrollError("invalid_input", `${field} ${why}`, { details: { field } });
  };
  const isPostgres = (value: unknown) => typeof value === "string" && POSTGRES.test(value);
  if (!Array.isArray(replicas) || !replicas.every(isPostgres)) {
    refuse("replicas", "must be a list of addresses such as postgres://host/database");
  }
  if (notify !== undefined && !["listen", "poll"].includes(notify) && !isPostgres(notify)) {
    refuse("notify", "must be listen, poll or an address such as postgres://host/database");
  }
  if (isPostgres(address)) return;
  const way = "is for a store on PostgreSQL; leave it out";
  if (replicas.length > 0) refuse("replicas", way);
  if (notify !== undefined) refuse("notify", way);
}

export { sealBackup } from "./store/sqlite/sqlite-schema.ts";

const POSTGRES = /^postgres(ql)?:\/\//i;

export function backendOf(address: string): Backend {
  if (typeof address !== "string" || address.trim() === "" || address.includes("\0")) {
    throw invalidAddress("an address must be a path, :memory: or postgres://…");
  }
  if (POSTGRES.test(address)) return "postgres";
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(address)?.[1];
  if (scheme !== undefined) {
    const isServer = /^https?$/i.test(scheme);
    const way = isServer
      ? "is a server, not a store; use connect of backscroll/client"
      : "is no store; use a path, :memory: or postgres://…";
    throw invalidAddress(`${scheme}:// ${way}`);
  }
  return "sqlite";
}

function telemetryOfEnvironment(): Telemetry {
  return (readVariable("BACKSCROLL_TELEMETRY", process.env) ?? "off") as Telemetry;
}

/** The environment's default deadline of a search: a slow machine may need more. */
function deadlineOf(
  name: "BACKSCROLL_SEARCH_DEADLINE_MS" | "BACKSCROLL_EMBED_DEADLINE_MS",
): number | undefined {
  const given = readVariable(name, process.env);
  return given === undefined ? undefined : Number(given);
}

/** The index setting of a new store (an existing one has its own), and the process's cache. */
function indexingOfEnvironment(): Partial<IndexSetting> & { readonly cacheBytes?: number } {
  const tools = readVariable("BACKSCROLL_INDEX_TOOLS", process.env) as ToolIndexing | undefined;
  const language = readVariable("BACKSCROLL_INDEX_LANGUAGE", process.env) as Language | undefined;
  const megabytes = Number(readVariable("BACKSCROLL_INDEX_CACHE_MB", process.env) ?? 0);
  return {
    ...(tools && { tools }),
    ...(language && { language }),
    ...(megabytes > 0 && { cacheBytes: megabytes * 1024 * 1024 }),
  };
}

function toTextModels(
  models: Readonly<Record<string, TextModel | AiSdkModel>>,
): Record<string, TextModel> {
  return Object.fromEntries(
    Object.entries(models).map(([name, model]) => [name, toTextModel(name, model)]),
  );
}

function toTextModel(name: string, model: TextModel | AiSdkModel): TextModel {
  if (isAiSdkModel(model)) return languageModel(model);
  if (typeof model?.generate === "function" && typeof model.name === "string") return model;
  throw new BackscrollError(
    "invalid_input",
    `models.${name} must be a model of the AI SDK, or an object with name and generate`,
    { details: { field: `models.${name}` } },
  );
}

function invalidAddress(message: string): BackscrollError {
  return new BackscrollError("invalid_address", message);
}
