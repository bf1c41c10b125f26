/** The status of a session: key, context, compactions, next reset; and the commands that show it. */

import { type ContextWindow, contextWindow } from "../context/context-window.ts";
import type { CompactionResult } from "../engine/compaction/compact.ts";
import type { SessionHandle } from "../engine/session-handle.ts";
import type { TenantEngine } from "../engine/tenant-engine.ts";
import type { SESSION_STATUS } from "../model/answers/gateway.ts";
import { formatCount } from "../model/display.ts";
import { BackscrollError } from "../model/errors.ts";
import type { FieldsOf } from "../model/shape.ts";
import { matchTrigger } from "../routing/resets.ts";
import { readAutoState } from "./compaction/session-state.ts";
import type { GatewayConfig } from "./config/gateway-config.ts";
import { readConfig } from "./config/read-config.ts";
import { explainPolicy, modelOf, resetAhead, routeOf } from "./start-session.ts";

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

/** Compacts on request. `instructions` is the text after the command, or empty. */
export type CompactOnRequest = (
  session: SessionHandle,
  instructions: string,
) => Promise<CompactionResult>;

/** Runs `/compact`: the host's function with the instructions, or the engine's. */
export interface CompactCommand {
  readonly compact: CompactOnRequest;
  readonly isHosts: boolean;
}

interface GatewayCommand {
  readonly name: "/status" | "/compact";
  readonly rest: string;
}

/** A mechanical summary ignores instructions; tell the sender. */
const UNREAD = "Your instructions were not used: no model wrote this summary.";

export function matchCommand(text: string): GatewayCommand | undefined {
  const found = matchTrigger(text, ["/status", "/compact"]);
  if (found === undefined) return undefined;
  const name = found.trigger as GatewayCommand["name"];
  // With text after it, `/status` is an ordinary message.
  return name === "/status" && found.rest !== "" ? undefined : { name, rest: found.rest };
}

export async function answerCommand(
  tenant: TenantEngine,
  config: GatewayConfig,
  session: SessionHandle | undefined,
  command: GatewayCommand,
  { compact, isHosts }: CompactCommand,
): Promise<string> {
  if (session === undefined) return "There is no session yet.";
  if (command.name === "/status") {
    const status = await sessionStatus(tenant, session.id, config);
    return formatSessionStatus(status, config.session.timeZone);
  }
  try {
    const { entry, removed, tokensBefore, tokensAfter } = await compact(session, command.rest);
    const isRead = isHosts || command.rest === "" || (entry !== null && entry.model !== null);
    const unread = isRead ? "" : ` ${UNREAD}`;
    return `Compacted ${removed} ${removed === 1 ? "entry" : "entries"}: ${tokensBefore} tokens became ${tokensAfter}.${unread}`;
  } catch (error) {
    // Our own errors are shown to the sender; others are thrown to the host.
    if (!BackscrollError.is(error)) throw error;
    return `Not compacted: ${error.message}`;
  }
}

/** A session's status in a few lines, for a chat. */
function formatSessionStatus(status: SessionStatus, timeZone: string): string {
  const { contextTokens, window, estimated, compactionCount, nextReset } = status;
  const percent = Math.round((contextTokens / window.tokens) * 100);
  const times = compactionCount === 1 ? "once" : `${compactionCount} times`;
  const when = (ms: number) => new Date(ms).toLocaleString("sv-SE", { timeZone }).slice(0, 16);
  return [
    `Session ${status.sessionId}${status.key === null ? "" : ` (${status.key})`}`,
    `Context ${formatCount(contextTokens)} of ${formatCount(window.tokens)} tokens (${percent} %${estimated ? ", estimated" : ""}), compacted ${compactionCount === 0 ? "never" : times}`,
    ...(status.memoryFlushAt === null ? [] : [`Notes written ${when(status.memoryFlushAt)}`]),
    `Reset ${status.resetRule}${nextReset === null ? "" : `; next ${when(nextReset.at)}`}`,
  ].join("\n");
}
