/** A remote store: an operator's calls beside those of a tenant. */

import type { WireAccess } from "../api/access.ts";
import { ENGINE_CALLS } from "../api/part-operations.ts";
import { fromWireStatus, type WireStatus } from "../api/status.ts";
import type { EngineApi } from "../engine/interfaces.ts";
import type { SweepReport } from "../engine/sweep.ts";
import type { VerifyOptions, VerifyReport } from "../engine/verify/verify.ts";
import { BackscrollError } from "../model/errors.ts";
import type { StoreStatus } from "../store/records.ts";
import { type BackupOptions, backup, type RemoteBackup } from "./backup.ts";
import type { Connection } from "./connection.ts";
import { RemoteTenant } from "./remote-tenant.ts";

/** The caller's access, as the server reports it. */
export type RemoteAccess = WireAccess;

export class RemoteEngine extends RemoteTenant implements EngineApi {
  /** The reported access. */
  readonly access: RemoteAccess;

  constructor(connection: Connection, access: RemoteAccess) {
    super(connection, access.tenant);
    this.access = access;
  }

  /** The tenant is the token's: no request can name another one. */
  forTenant(name: string): RemoteTenant {
    if (name === this.tenant) return new RemoteTenant(this.connection, name);
    throw new BackscrollError(
      "forbidden",
      `the token is for the tenant ${this.tenant}; for another one, connect with a token of that tenant`,
      { details: { tenant: this.tenant } },
    );
  }

  async status(): Promise<StoreStatus> {
    const path = "/v1/admin/store";
    return fromWireStatus(await this.connection.call<WireStatus>({ method: "GET", path }));
  }

  async sweepAll(): Promise<SweepReport> {
    return { ...(await this.send<Omit<SweepReport, "more">>(ENGINE_CALLS.sweepAll)), more: false };
  }

  checkIntegrity(): Promise<readonly string[]> {
    return this.send(ENGINE_CALLS.checkIntegrity);
  }

  /** `onProgress` is not called: the server answers when it is done. */
  verify(options: VerifyOptions = {}): Promise<VerifyReport> {
    return this.send(ENGINE_CALLS.verify, [options]);
  }

  /** A snapshot of the whole store. The server makes it first, which may take a while. */
  backup(options: BackupOptions = {}): Promise<RemoteBackup> {
    return backup(this.connection, options);
  }

  /** Flushes open messages. The server keeps running. */
  async close(): Promise<void> {
    // A lost message cannot be stored; its own writer gets the error.
    await Promise.allSettled([...this.connection.openMessages].map((message) => message.flush()));
    this.connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
