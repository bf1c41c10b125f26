/** Gateway calls, with the server's settings. */

import {
  fromWireMaintenance,
  fromWireSessionStatus,
  type WireMaintenance,
  type WireSessionStatus,
} from "../../api/gateway.ts";
import type { MaintainOptions, MaintenanceReport } from "../../gateway/maintenance/maintain.ts";
import type { SessionStatus } from "../../gateway/status/session-status.ts";
import type { Connection } from "../connection.ts";
import { at, known, toBody } from "../request.ts";

export async function sessionStatus(
  connection: Connection,
  sessionId: string,
): Promise<SessionStatus> {
  const path = at`/v1/sessions/${sessionId}/status`;
  return fromWireSessionStatus(await connection.call<WireSessionStatus>({ method: "GET", path }));
}

export async function maintainSessions(
  connection: Connection,
  options: Pick<MaintainOptions, "dryRun">,
): Promise<MaintenanceReport> {
  const body = toBody(known("maintainSessions", options));
  const call = { method: "POST", path: "/v1/admin/maintain", body, slow: true } as const;
  return fromWireMaintenance(await connection.call<WireMaintenance>(call));
}
