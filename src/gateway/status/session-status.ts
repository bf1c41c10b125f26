/** The status of a session: key, context, compactions, next reset. */

import { type ContextWindow, contextWindow } from "../../context/context-window.ts";
import type { SessionHandle } from "../../engine/session-handle.ts";
import type { TenantEngine } from "../../engine/tenant-engine.ts";
import type { SESSION_STATUS } from "../../model/answers/gateway.ts";
import type { FieldsOf } from "../../model/shape.ts";
import { readAutoState } from "../compaction/session-state.ts";
import type { GatewayConfig } from "../config/gateway-config.ts";
import { readConfig } from "../config/read-config.ts";
import { explainPolicy, resetAhead } from "../resets/route-reset.ts";
import { modelOf, routeOf } from "../routes/route-of.ts";

export interface SessionStatus
  extends Omit<FieldsOf<typeof SESSION_STATUS>, "windowTokens" | "windowSource"> {
  readonly window: ContextWindow;
}

/** `session_not_found` if there is no such session. */
export async function sessionStatus(
  tenant: TenantEngine,
  sessionId: string,
  config: GatewayConfig = readConfig({}).config,
): Promise<SessionStatus> {
  const handle = await tenant.getSession(sessionId);
  const session = await handle.meta();
  const route = await routeOf(tenant, sessionId);
  const { contextTokens, estimated, compaction } = await handle.usage();
  // An imported route has counted compactions and flushes elsewhere.
  const fields = route?.route?.fields ?? {};
  const model = await modelOf(handle, fields);
  const isCurrent = route?.route !== undefined;
  const key = route?.key ?? null;
  const channel = fields.provider;
  const next = isCurrent && key !== null ? resetAhead(config, key, session, channel) : undefined;
  return {
    sessionId,
    key,
    current: isCurrent,
    agent: session.agent,
    messageCount: session.messageCount,
    startedAt: session.startedAt,
    lastInteractionAt: session.lastInteractionAt,
    contextTokens,
    estimated,
    model,
    window: contextWindow(model, config.agents.defaults.contextTokens ?? undefined),
    compactionCount: Math.max(
      compaction === null ? 0 : await countCompactions(handle),
      fields.compactionCount ?? 0,
    ),
    memoryFlushAt: readAutoState(session.metadata).memoryFlushAt ?? fields.memoryFlushAt ?? null,
    nextReset: next ?? null,
    resetRule: isCurrent ? explainPolicy(config, route.key, channel) : ruleWithout(key),
  };
}

async function countCompactions(handle: SessionHandle): Promise<number> {
  return (await handle.summaries()).filter(({ kind }) => kind === "compaction").length;
}

function ruleWithout(key: string | null): string {
  if (key === null) return "never automatically: no key leads to it";
  return "it is over: its key leads to another session";
}
