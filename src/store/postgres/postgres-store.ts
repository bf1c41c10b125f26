/** The store on PostgreSQL: one database, many nodes. */

import type { IndexAnswer, IndexRequest } from "../../search/request.ts";
import { BaseStore } from "../base-store.ts";
import { loadIndexCode } from "../index/index-code.ts";
import type { IndexStatus } from "../index/index-status.ts";
import { publicSetting } from "../index/stored-indexing.ts";
import { flushAtOf, Indexer } from "../indexer.ts";
import type { TenantRead, TenantWrite } from "../operations.ts";
import type { ConnectionFigures, Store, StoreOptions } from "../store.ts";
import type { ChangeSignal } from "./change-signal.ts";
import { dumpRows, loadRows } from "./dump.ts";
import { Maintainer } from "./index/maintainer.ts";
import { indexLag, indexStatus } from "./index/manifest.ts";
import { Searcher } from "./index/searcher.ts";
import { adviseOn, readFacts } from "./operations/advise.ts";
import * as append from "./operations/append.ts";
import * as deleteSession from "./operations/delete-session.ts";
import * as eraseContent from "./operations/erase-content.ts";
import * as feed from "./operations/feed.ts";
import * as fork from "./operations/fork.ts";
import { dropLease, takeLease } from "./operations/leases.ts";
import * as listSessions from "./operations/list-sessions.ts";
import { findToken, PROGRAMS } from "./operations/programs.ts";
import { purgeDeleted } from "./operations/purge-deleted.ts";
import * as readEntries from "./operations/read-entries.ts";
import * as sessions from "./operations/sessions.ts";
import { checkIntegrity, status } from "./operations/status.ts";
import * as streams from "./operations/streams.ts";
import { sweep } from "./operations/sweep.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import { isEntryTaken } from "./postgres-errors.ts";
import {
  LOAD_START,
  READ_START,
  readSetting,
  WRITE_START,
  writeSetting,
} from "./postgres-schema.ts";
import type { Transaction } from "./transaction.ts";

const AGAIN = { again: true };

/** The port's method with the tenant's transaction in the place of its name. */
const OPERATIONS: {
  readonly [Name in TenantWrite | TenantRead]: Store[Name] extends (
    tenant: string,
    ...args: infer Args
  ) => infer Result
    ? (tx: Transaction, ...args: Args) => Result
    : never;
} = {
  ...append,
  ...deleteSession,
  ...eraseContent,
  ...feed,
  ...fork,
  ...listSessions,
  ...readEntries,
  ...sessions,
  ...streams,
  ...PROGRAMS,
};

export class PostgresStore extends BaseStore implements Store {
  readonly #db: PostgresDatabase;
  protected readonly signal: ChangeSignal;
  readonly #indexModule: string | undefined;
  readonly #searcher: Searcher;
  readonly #maintainer: Maintainer;
  protected readonly indexer: Indexer;

  constructor(db: PostgresDatabase, signal: ChangeSignal, options: StoreOptions) {
    super();
    this.#db = db;
    this.signal = signal;
    this.#indexModule = options.indexing?.module;
    this.#searcher = new Searcher(db, options.indexing ?? {});
    db.onSwitch(() => this.#searcher.forget());
    this.#maintainer = new Maintainer(db, options.indexing ?? {});
    const store = {
      maintenance: (tenant: string) => this.maintain(tenant, "maintain"),
      flush: (tenant: string) => this.maintain(tenant, "flush"),
      lag: (tenant: string) => db.read(tenant, indexLag),
      stop: () => this.#maintainer.stop(),
    };
    this.indexer = new Indexer(store, {
      flushAt: flushAtOf(options),
      shortLived: options.inThread ?? false,
    });
  }

  takeLease: Store["takeLease"] = (name, owner, durationMs) =>
    this.#db.across(WRITE_START, AGAIN, (tx) => takeLease(tx, name, owner, durationMs));

  dropLease: Store["dropLease"] = (name, owner) =>
    this.#db.across(WRITE_START, AGAIN, (tx) => dropLease(tx, name, owner));

  sweep: Store["sweep"] = (request) => this.notified(sweep(this.#db, request));

  findToken: Store["findToken"] = (id) =>
    this.#db.across(READ_START, AGAIN, (tx) => findToken(tx, id));

  feedHead: Store["feedHead"] = (tenant, position) =>
    position === undefined
      ? this.#db.plain((connection) => feed.feedHead(connection, tenant))
      : this.#db.read(tenant, (tx) => feed.feedHeadAt(tx, position));

  maintain: Store["maintain"] = async (tenant, task) => {
    const code = await loadIndexCode(this.#indexModule);
    return this.#maintainer.maintain(code, tenant, task, this.indexer.unreadable(tenant));
  };

  listTenants: Store["listTenants"] = () => this.#db.plain(feed.listTenants);

  status: Store["status"] = async () => {
    const found = await this.#db.across(READ_START, AGAIN, (tx) => status(tx, this.#db.address));
    return { ...found, losses: this.#db.losses };
  };

  switches = (): number => this.#db.switches;
  connections = (): ConnectionFigures => this.#db.connections();

  checkIntegrity: Store["checkIntegrity"] = () => this.#db.plain(checkIntegrity);

  advise = async (): Promise<string[]> => adviseOn(await this.#db.plain(readFacts));

  onChange: Store["onChange"] = (listener) => this.signal.onChange(listener);

  dump: Store["dump"] = () => this.#db.pieces(READ_START, dumpRows);

  acceptLosses: Store["acceptLosses"] = async () => this.#db.acceptLosses();

  indexSetting: Store["indexSetting"] = () =>
    this.#db.plain((connection) => readSetting(connection, {}).then(publicSetting));

  setIndexing: Store["setIndexing"] = async (change) => {
    const setting = await this.#db.plain((connection) => writeSetting(connection, change));
    this.#searcher.settle(setting);
    return publicSetting(setting);
  };

  load: Store["load"] = (batches) =>
    this.notified(
      this.#db.across(LOAD_START, { again: false }, async (tx) => {
        await loadRows(tx, this.#db.address, batches);
        await tx.commit();
      }),
    );

  async close(): Promise<void> {
    await this.indexer.close();
    await this.signal.close();
    await this.#db.close();
  }

  protected callWrite(name: TenantWrite, args: readonly unknown[]): Promise<unknown> {
    return this.#db.write(...onTenant(name, args));
  }

  protected callRead(name: TenantRead, args: readonly unknown[]): Promise<unknown> {
    return this.#db.read(...onTenant(name, args));
  }

  protected readIndexStatus(tenant: string): Promise<IndexStatus> {
    return this.#db.read(tenant, indexStatus);
  }

  protected async searchIndex(
    tenant: string,
    request: IndexRequest,
    signal?: AbortSignal,
  ): Promise<IndexAnswer> {
    const code = await loadIndexCode(this.#indexModule);
    return this.#searcher.search(code, tenant, request, signal);
  }

  protected isEntryTaken(error: unknown): boolean {
    return isEntryTaken(error);
  }

  protected purgeDeleted(tenant: string): Promise<boolean> {
    return purgeDeleted(this.#db, tenant);
  }
}

/** The tenant, and what to run in its transaction. */
function onTenant(
  name: TenantWrite | TenantRead,
  [tenant, ...args]: readonly unknown[],
): [string, (tx: Transaction) => Promise<unknown>] {
  const operation: (tx: Transaction, ...args: never) => Promise<unknown> = OPERATIONS[name];
  return [tenant as string, (tx) => operation(tx, ...(args as never))];
}
