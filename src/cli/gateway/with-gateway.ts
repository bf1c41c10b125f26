/**
 * A gateway, local or remote: with this user's settings on a local store, with the server's own on
 * a server.
 */

import type { GatewayConfig } from "../../gateway/config/gateway-config.ts";
import { type MaintenanceReport, maintainSessions } from "../../gateway/maintain.ts";
import { type SessionStatus, sessionStatus } from "../../gateway/session-status.ts";
import { type Context, isServer } from "../context.ts";
import { withOwnTenant, withServer } from "../store.ts";
import { ownConfig } from "./own-config.ts";

export function readSessionStatus(context: Context, id: string): Promise<SessionStatus> {
  if (isServer(context.address)) return withServer(context, (tenant) => tenant.sessionStatus(id));
  return withOwnTenant(context, "read", (tenant) => sessionStatus(tenant, id, ownConfig().config));
}

export function maintain(context: Context, dryRun: boolean): Promise<MaintenanceReport> {
  if (isServer(context.address)) {
    return withServer(context, (tenant) => tenant.maintainSessions({ dryRun }));
  }
  const { config } = ownConfig();
  return withOwnTenant(context, mayDelete(config, dryRun) ? "write" : "read", (tenant) =>
    maintainSessions(tenant, config, { dryRun }),
  );
}

function mayDelete({ session }: GatewayConfig, dryRun: boolean): boolean {
  return session.maintenance.mode === "enforce" && !dryRun;
}
