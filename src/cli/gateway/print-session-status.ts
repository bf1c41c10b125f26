/** Prints a session's status for people and programs. */

import { toWireSessionStatus } from "../../api/gateway.ts";
import type { SessionStatus } from "../../gateway/status/session-status.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { formatCount, formatTime } from "../print.ts";
import { readSessionStatus } from "./with-gateway.ts";

export async function printSessionStatus(context: Context, id: string): Promise<number> {
  const status = await readSessionStatus(context, id);
  const { terminal } = context;
  if (context.json) {
    await terminal.printJson(toWireSessionStatus(status));
    return EXIT.ok;
  }
  for (const [name, value] of rowsOf(status)) {
    await terminal.print(`${terminal.dim(name.padEnd(11))}  ${value}`);
  }
  return EXIT.ok;
}

function rowsOf(status: SessionStatus): [string, string][] {
  const { contextTokens, window, estimated, model, nextReset, memoryFlushAt } = status;
  const percent = Math.round((contextTokens / window.tokens) * 100);
  const how = [`${percent} %`, ...(estimated ? ["estimated"] : []), model ?? "no model known"];
  return [
    ["Session", status.sessionId],
    ["Key", status.key === null ? "none" : `${status.key}${status.current ? "" : " (before)"}`],
    ["Agent", status.agent],
    ["Began", formatTime(status.startedAt)],
    ["Last active", formatTime(status.lastInteractionAt)],
    ["Messages", formatCount(status.messageCount)],
    [
      "Context",
      `${formatCount(contextTokens)} of ${formatCount(window.tokens)} tokens (${how.join(", ")})`,
    ],
    ["Compacted", status.compactionCount === 0 ? "never" : `${status.compactionCount} times`],
    ["Last flush", memoryFlushAt === null ? "never" : formatTime(memoryFlushAt)],
    ["Next reset", nextReset === null ? "–" : `${formatTime(nextReset.at)} (${nextReset.reason})`],
    ["Rule", status.resetRule],
  ];
}
