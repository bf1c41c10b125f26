/** The engine: a store, and the tenants in it. */

import { randomFillSync } from "node:crypto";
import { KeyedQueue } from "../async/keyed-queue.ts";
import { TOKEN_ESTIMATE, type TokenCounter } from "../context/tokens.ts";
import type { Access } from "../model/access.ts";
import type { ChangeAuthor } from "../model/change.ts";
import { BackscrollError } from "../model/errors.ts";
import { checkName, checkTenantName, createUlids, type IdSource } from "../model/ids.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { LEASE_MS } from "../model/lease.ts";
import { SEARCH_DEADLINE_MS } from "../model/limits.ts";
import type { Embedder, TextModel } from "../model/models.ts";
import { LIST_PRICES, type PriceTable } from "../model/prices.ts";
import type { StoreLoss } from "../model/store-loss.ts";
import type { IndexSetting } from "../store/index/stored-indexing.ts";
import type { RowBatch, StoreStatus } from "../store/records.ts";
import type { ConnectionFigures, Store } from "../store/store.ts";
import { authenticate } from "./access/authenticate.ts";
import { type OpenedShare, openShare } from "./access/shares.ts";
import { checkInput } from "./check.ts";
import { ContextSizeCache } from "./context/context-size-cache.ts";
import { type DeleteTenantOptions, deleteTenant, type TenantDeletion } from "./delete-tenant.ts";
import {
  type EmbedEstimate,
  type EmbedProgress,
  type EmbedStoredInput,
  embedStored,
  estimateEmbedding,
} from "./embeddings/embed-stored.ts";
import { EMBED_DEADLINE_MS, Meaning } from "./embeddings/meaning.ts";
import type { EngineContext } from "./engine-context.ts";
import { checkDuration, claimLease } from "./leases/claim-lease.ts";
import type { HoldLeaseOptions, LeasedWork } from "./leases/hold-lease.ts";
import { applyAllRetention } from "./retention/apply-retention.ts";
import { type SweepReport, sweepAll } from "./sweep.ts";
import { TenantEngine } from "./tenant-engine.ts";
import { type VerifyOptions, type VerifyReport, verifyStore } from "./verify/verify.ts";

const DEFAULT_TENANT = "default";

export interface EngineOptions {
  /** The engine's own tenant; `forTenant` gives others. */
  readonly tenant?: string;
  /** The longest delay before chunks of an open message are stored. Default 250 ms. */
  readonly flushMs?: number;
  /** An open message expires this long after its writer's last renewal. Default 30 s. */
  readonly leaseMs?: number;
  /**
   * Default deadline of a search in milliseconds, after which it answers with the hits so far.
   * Default: 500. A call's own `deadlineMs` takes precedence.
   */
  readonly searchDeadlineMs?: number;
  /** Embeds texts, for search by meaning. Optional. */
  readonly embedder?: Embedder;
  /** The deadline of a query's vector. Default 150 ms. */
  readonly embedDeadlineMs?: number;
  /** Language models by name, such as `default` and `fast`. Optional. */
  readonly models?: Readonly<Record<string, TextModel>>;
  /** Counts tokens where no provider reported them. Default: a quarter of the bytes. */
  readonly tokenCounter?: TokenCounter;
  /** Prices of models, used for cost totals. Default `LIST_PRICES`. */
  readonly prices?: () => PriceTable;
  /** The source of time and randomness. */
  readonly source?: IdSource;
}

/** A pool of random bytes: a system call per id would cost as much as a hash or two. */
const randomPool = new Uint8Array(4_096);
let randomOffset = randomPool.length;

function fillRandom(bytes: Uint8Array): void {
  if (randomOffset + bytes.length > randomPool.length) {
    randomFillSync(randomPool);
    randomOffset = 0;
  }
  // A loop is cheaper than a view for `set` at this size.
  for (let i = 0; i < bytes.length; i++) bytes[i] = randomPool[randomOffset + i] as number;
  randomOffset += bytes.length;
}

/** The engine of the default tenant; `forTenant` gives others. */
export class Engine extends TenantEngine {
  /** `heads`: the feeds' ends; without them new messages are not embedded. */
  constructor(
    store: Store,
    options: EngineOptions = {},
    heads?: ReadonlyMap<string, number>,
    onWarning: (sentence: string) => void = (sentence) => process.emitWarning(sentence),
  ) {
    const source = options.source ?? {
      now: () => Date.now(),
      random: fillRandom,
    };
    const newId = createUlids(source);
    const { embedder, embedDeadlineMs = EMBED_DEADLINE_MS } = options;
    const deadlineMs = checkDuration(embedDeadlineMs, "embedDeadlineMs", 1);
    const meaning =
      embedder && new Meaning({ store, embedder, deadlineMs, heads, owner: newId(), onWarning });
    super({
      store,
      ...(meaning && { meaning }),
      tenant: checkTenantName(options.tenant ?? DEFAULT_TENANT),
      models: options.models ?? {},
      counter: options.tokenCounter ?? TOKEN_ESTIMATE,
      prices: options.prices ?? (() => LIST_PRICES),
      now: () => source.now(),
      newId,
      flushMs: checkDuration(options.flushMs ?? 250, "flushMs", 0),
      leaseMs: checkDuration(options.leaseMs ?? LEASE_MS, "leaseMs", 100),
      searchDeadlineMs: checkDuration(
        options.searchDeadlineMs ?? SEARCH_DEADLINE_MS,
        "searchDeadlineMs",
        1,
      ),
      openMessages: new Set(),
      searches: { total: 0, partial: 0 },
      contextSizes: new ContextSizeCache(),
      queue: new KeyedQueue(),
    });
    meaning?.watch(this.tenant);
  }

  /**
   * The same store under another tenant, which the host sets once. `by` is the caller if it is not
   * the host: administrative rows of the feed name it.
   */
  forTenant(name: string, by?: ChangeAuthor): TenantEngine {
    const tenant = checkTenantName(name);
    this.engine.meaning?.watch(tenant);
    const engine: EngineContext = { ...this.engine, tenant, ...(by === undefined ? {} : { by }) };
    return new TenantEngine(engine);
  }

  /** Searches of this process since its start, and those that their deadline cut short. */
  get searches(): Readonly<EngineContext["searches"]> {
    return this.engine.searches;
  }

  /** What the connections to a database server do; undefined for a file. */
  connections(): ConnectionFigures | undefined {
    return this.engine.store.connections?.();
  }

  /** The access of a token; undefined if it is malformed, unknown, expired or revoked. */
  authenticate(token: string): Promise<Access | undefined> {
    return authenticate(this.engine, token);
  }

  /** The session of a share link's token; undefined if the link is dead. */
  openShare(token: string): Promise<OpenedShare | undefined> {
    return openShare(this.engine, token);
  }

  /**
   * Runs `work` under the lease `name`, in one process at a time: waits until the lease is free or
   * its holder has died. See `HoldLeaseOptions`.
   *
   * The work's signal is aborted when the lease is lost, and the work then starts again. Resolves
   * when the work has ended, `signal` was aborted, or `patienceMs` have passed.
   */
  async holdLease(name: string, options: HoldLeaseOptions, work: LeasedWork): Promise<void> {
    await claimLease(this.engine, checkName(name, "name"), options, work);
  }

  listTenants(): Promise<readonly string[]> {
    return this.engine.store.listTenants();
  }

  status(): Promise<StoreStatus> {
    return this.engine.store.status();
  }

  /**
   * Acknowledges the losses that `status` lists, so that they are no longer reported. Kept logs
   * stay in place; an index that was ahead is rebuilt. Gives the acknowledged losses.
   */
  acceptLosses(): Promise<readonly StoreLoss[]> {
    return this.engine.store.acceptLosses();
  }

  /** The store's text analysis. */
  indexSetting(): Promise<IndexSetting> {
    return this.engine.store.indexSetting();
  }

  /**
   * Changes it for every process of the store. `maintainIndex("maintain")` of each tenant then
   * rebuilds its index; until then, searches use the old one.
   */
  async setIndexing(change: Partial<IndexSetting>): Promise<IndexSetting> {
    const { language, tools } = checkInput(change, "change", INPUTS.setIndexing);
    return this.engine.store.setIndexing({
      ...(language === undefined ? {} : { language }),
      ...(tools === undefined ? {} : { tools }),
    });
  }

  /** As `sweep`, for every tenant. Damage in one tenant is thrown after the others are done. */
  async sweepAll(): Promise<SweepReport> {
    const { store } = this.engine;
    const swept = await sweepAll((limit) => store.sweep({ now: this.engine.now(), limit }));
    const failures: unknown[] = [];
    let erasedEntries = 0;
    for (const tenant of await store.listTenants()) {
      try {
        erasedEntries += await applyAllRetention({ ...this.engine, tenant });
      } catch (error) {
        if (!BackscrollError.is(error, "store_corrupt")) throw error;
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    return { ...swept, erasedEntries };
  }

  /**
   * Deletes all data of a tenant: sessions, records, memories, facts, routes and tokens, in short
   * transactions, each of which deletes at most 5,000 entries. An interrupted deletion continues when
   * called again. The feed, the tombstones and the name stay, with a quota of zero.
   */
  deleteTenant(name: string, options: DeleteTenantOptions = {}): Promise<TenantDeletion> {
    return deleteTenant({ ...this.engine, tenant: checkTenantName(name) }, options);
  }

  /** The backend's own check of its files. Empty if no problem is found. */
  checkIntegrity(): Promise<readonly string[]> {
    return this.engine.store.checkIntegrity();
  }

  /** Wrong settings of the database server, with remedies; empty without a server. */
  async checkSettings(): Promise<readonly string[]> {
    return (await this.engine.store.advise?.()) ?? [];
  }

  /** The estimated cost of embedding messages without a vector; with `again`, of all. */
  estimateEmbedding(
    options: Pick<EmbedStoredInput, "again"> & { readonly tenant?: string } = {},
  ): Promise<EmbedEstimate> {
    const { again = false, tenant = this.tenant } = options;
    return estimateEmbedding({ ...this.engine, tenant: checkTenantName(tenant) }, again);
  }

  /** Embeds stored messages without a vector. Resumable. */
  embedStored(
    options: EmbedStoredInput & { readonly tenant?: string } = {},
  ): Promise<EmbedProgress> {
    const { tenant = this.tenant, ...input } = options;
    return embedStored({ ...this.engine, tenant: checkTenantName(tenant) }, input);
  }

  /** Recomputes every hash of every tenant. */
  verify(options: VerifyOptions = {}): Promise<VerifyReport> {
    return verifyStore(this.engine.store, options);
  }

  /** Every row of the store in one snapshot, of all tenants, for copies. */
  dump(): AsyncIterable<RowBatch> {
    return this.engine.store.dump();
  }

  /** Flushes open messages and waits for operations in progress. */
  async close(): Promise<void> {
    // A lost message cannot be stored; its own writer gets the error.
    await Promise.allSettled([...this.engine.openMessages].map((message) => message.flush()));
    await this.engine.meaning?.close();
    await this.engine.store.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
