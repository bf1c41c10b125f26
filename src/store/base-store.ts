/** What the facades of both backends share: the operations of `operations.ts`, and searches. */

import { BackscrollError } from "../model/errors.ts";
import { MAX_DELETED_ENTRIES } from "../model/limits.ts";
import type { FoundLines, IndexAnswer, IndexRequest } from "../search/request.ts";
import type { IndexStatus } from "./index/index-status.ts";
import type { Indexer } from "./indexer.ts";
import {
  TENANT_READS,
  TENANT_WRITES,
  type TenantRead,
  type TenantWrite,
  type WriteEffects,
} from "./operations.ts";
import type { Tombstone } from "./records.ts";
import type { Store } from "./store.ts";

type TenantOperations = Pick<Store, TenantWrite | TenantRead>;

/** Methods of the port are properties of the instance, so that a store can be spread. */
export abstract class StoreOfTables {
  protected abstract readonly indexer: Indexer;
  protected abstract readonly signal: { committed(): void };

  constructor() {
    for (const name of Object.keys(TENANT_WRITES) as TenantWrite[]) {
      Object.assign(this, { [name]: (...args: unknown[]) => this.#write(name, args) });
    }
    for (const name of Object.keys(TENANT_READS) as TenantRead[]) {
      Object.assign(this, { [name]: (...args: unknown[]) => this.callRead(name, args) });
    }
  }

  /** Runs an operation with the arguments of its method, in one transaction or snapshot. */
  protected abstract callWrite(name: TenantWrite, args: readonly unknown[]): Promise<unknown>;
  protected abstract callRead(name: TenantRead, args: readonly unknown[]): Promise<unknown>;
  /** Without the last failure. */
  protected abstract readIndexStatus(tenant: string): Promise<IndexStatus>;
  protected abstract searchIndex(
    tenant: string,
    request: IndexRequest,
    signal?: AbortSignal,
  ): Promise<IndexAnswer>;
  /** Whether a write failed because the tenant has an entry with the id. */
  protected abstract isEntryTaken(error: unknown): boolean;
  /** Purges the tenant's soft-deleted sessions; false if there were none. */
  protected abstract purgeDeleted(tenant: string): Promise<boolean>;

  indexStatus: Store["indexStatus"] = async (tenant) => {
    const failure = this.indexer.failure(tenant);
    const status = await this.readIndexStatus(tenant);
    return { ...status, ...(failure === undefined ? {} : { failure }) };
  };

  search: Store["search"] = (tenant, request, signal) => this.#search(tenant, request, signal);
  searchNotes: Store["searchNotes"] = (tenant, request) => this.#search(tenant, request);
  findSessionsWithText: Store["findSessionsWithText"] = (tenant, request) =>
    this.#search(tenant, request);
  findLines: Store["findLines"] = async (tenant, request) => {
    const answer = await this.#search<FoundLines>(tenant, request);
    if (answer.indexing) this.indexer.outdated(tenant);
    return answer;
  };
  readPieces: Store["readPieces"] = (tenant, request) => this.#search(tenant, request);

  async #search<Answer extends IndexAnswer>(
    tenant: string,
    request: IndexRequest,
    signal?: AbortSignal,
  ): Promise<Answer> {
    const answer = await this.searchIndex(tenant, request, signal);
    this.indexer.found(tenant, answer.unreadable, "lag" in answer ? answer.lag : 0);
    return answer as Answer;
  }

  async #write(name: TenantWrite, args: readonly unknown[]): Promise<unknown> {
    const effects: WriteEffects<never> = TENANT_WRITES[name];
    const tenant = args[0] as string;
    const result = effects.takesIds
      ? await this.#purgingTakenIds(tenant, () => this.callWrite(name, args))
      : await this.callWrite(name, args);
    const { changes = 1 } = effects;
    if (changes !== 0) {
      this.signal.committed();
      const count = typeof changes === "function" ? changes(...(args as never)) : changes;
      // Back-pressure while the index is far behind.
      await this.indexer.wrote(tenant, count, effects.bytes?.(...(args as never)));
    }
    const isLarge =
      name === "deleteSession" && (result as Tombstone).entryCount > MAX_DELETED_ENTRIES;
    if (isLarge) await this.purgeDeleted(tenant);
    return result;
  }

  /** Repeats a write once after a purge if its id was taken. */
  async #purgingTakenIds(tenant: string, write: () => Promise<unknown>): Promise<unknown> {
    try {
      return await write();
    } catch (error) {
      const isTaken = BackscrollError.is(error, "session_exists") || this.isEntryTaken(error);
      if (!isTaken || !(await this.purgeDeleted(tenant))) throw error;
      return write();
    }
  }

  /** Notifies listeners after a commit. */
  protected async notified<Result>(write: Promise<Result>): Promise<Result> {
    const result = await write;
    this.signal.committed();
    return result;
  }
}

/** The compiler learns of the methods that the constructor adds. */
export const BaseStore: abstract new () => StoreOfTables & TenantOperations =
  StoreOfTables as unknown as abstract new () => StoreOfTables & TenantOperations;
