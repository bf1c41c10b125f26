/** A whole store behind a server: what an operator may do, beside what everybody may in their tenant. */

import type { WireAccess } from "../api/access.ts";
import {
  fromWireSweep,
  fromWireVerification,
  type WireSweep,
  type WireVerification,
} from "../api/maintenance.ts";
import { fromWireStatus, type WireStatus } from "../api/status.ts";
import type { EngineApi } from "../engine/interfaces/engine-api.ts";
import type { SweepReport } from "../engine/sweep.ts";
import type { VerifyOptions, VerifyReport } from "../engine/verify/verify.ts";
import { BackscrollError } from "../model/errors.ts";
import type { StoreStatus } from "../store/records.ts";
import { type BackupOptions, backup, type RemoteBackup } from "./backup.ts";
import type { Connection } from "./connection.ts";
import { RemoteTenant } from "./remote-tenant.ts";

/** What the server says of the caller. */
export type RemoteAccess = WireAccess;

export class RemoteEngine extends RemoteTenant implements EngineApi {
  /** What the server said that we may do. */
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
    const path = "/v1/admin/store/sweep";
    const call = { method: "POST", path, slow: true } as const;
    return fromWireSweep(await this.connection.call<WireSweep>(call));
  }

  async checkIntegrity(): Promise<readonly string[]> {
    const { problems } = await this.connection.call<{ readonly problems: readonly string[] }>({
      method: "POST",
      path: "/v1/admin/store/check",
      slow: true,
      repeatable: true,
    });
    return problems;
  }

  /** `onProgress` is not told anything: the server answers when it is done. */
  async verify({ head }: VerifyOptions = {}): Promise<VerifyReport> {
    const report = await this.connection.call<WireVerification>({
      method: "POST",
      path: "/v1/admin/store/verify",
      slow: true,
      repeatable: true,
      query: { head },
    });
    return fromWireVerification(report);
  }

  /** A copy of the whole store as of one moment. The server makes it first: that may take a while. */
  backup(options: BackupOptions = {}): Promise<RemoteBackup> {
    return backup(this.connection, options);
  }

  /** Stores what open messages have buffered. The server goes on. */
  async close(): Promise<void> {
    // A message that is lost cannot be stored; that is for its own writer to hear.
    await Promise.allSettled([...this.connection.openMessages].map((message) => message.flush()));
    this.connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
