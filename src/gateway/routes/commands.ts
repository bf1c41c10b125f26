/** Commands that the gateway answers itself. */

import type { CompactionResult } from "../../engine/compaction/compact.ts";
import type { SessionHandle } from "../../engine/session-handle.ts";
import type { TenantEngine } from "../../engine/tenant-engine.ts";
import { formatCount } from "../../model/display.ts";
import { BackscrollError } from "../../model/errors.ts";
import { matchTrigger } from "../../routing/resets.ts";
import type { GatewayConfig } from "../config/gateway-config.ts";
import { type SessionStatus, sessionStatus } from "../status/session-status.ts";

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

export interface GatewayCommand {
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
