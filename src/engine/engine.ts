/** The engine: a store, and the tenants in it. */

import { getRandomValues } from "node:crypto";
import { createUlids, type IdSource } from "../model/ids.ts";
import type { StoreStatus, SweepResult } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import type { Scope } from "./scope.ts";
import { checkTenantName, sweepAll, TenantEngine } from "./tenant-engine.ts";
import { type VerifyOptions, type VerifyReport, verifyStore } from "./verify.ts";

export const DEFAULT_TENANT = "default";

export interface EngineOptions {
  /** The tenant that the engine itself speaks for; `forTenant` gives others. */
  readonly tenant?: string;
  /** How long chunks of an open message may wait before they are stored: 250 ms if left out. */
  readonly flushMs?: number;
  /** How long an open message outlives its writer's last sign of life: 30 s if left out. */
  readonly leaseMs?: number;
  /** Where time and randomness come from. */
  readonly source?: IdSource;
}

/** The engine of the default tenant, and the door to the others. */
export class Engine extends TenantEngine {
  constructor(store: Store, options: EngineOptions = {}) {
    const source = options.source ?? {
      now: () => Date.now(),
      random: (bytes: Uint8Array) => getRandomValues(bytes),
    };
    super({
      store,
      tenant: checkTenantName(options.tenant ?? DEFAULT_TENANT),
      now: () => source.now(),
      newId: createUlids(source),
      flushMs: options.flushMs ?? 250,
      leaseMs: options.leaseMs ?? 30_000,
    });
  }

  /** The same store, scoped to another tenant. Set once, by the host, at the edge. */
  forTenant(name: string): TenantEngine {
    const scope: Scope = { ...this.scope, tenant: checkTenantName(name) };
    return new TenantEngine(scope);
  }

  listTenants(): Promise<readonly string[]> {
    return this.scope.store.listTenants();
  }

  status(): Promise<StoreStatus> {
    return this.scope.store.status();
  }

  /** As `sweep`, for every tenant. */
  sweepAll(): Promise<SweepResult> {
    return sweepAll((limit) => this.scope.store.sweep({ now: this.scope.now(), limit }));
  }

  /** The backend's own check of its files. Empty if all is well. */
  checkIntegrity(): Promise<readonly string[]> {
    return this.scope.store.checkIntegrity();
  }

  /** Recomputes every hash of every tenant. */
  verify(options: VerifyOptions = {}): Promise<VerifyReport> {
    return verifyStore(this.scope.store, options);
  }

  async close(): Promise<void> {
    await this.scope.store.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
