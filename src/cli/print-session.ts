/** A session's heading, from its fields alone, and the answer where there is no session. */

import type { TenantApi } from "../engine/interfaces.ts";
import { totalTokens } from "../model/prices.ts";
import type { Session } from "../model/session.ts";
import type { Context } from "./context.ts";
import { counted, formatCount, formatTime } from "./print.ts";
import { commandLine } from "./program.ts";
import type { Terminal } from "./terminal.ts";
import { clip, oneLine } from "./text.ts";

const MAX_COLUMNS = 400;

export function formatSession(session: Session, terminal: Terminal): string {
  const { origin, tokens } = session;
  const rows: [string, string][] = [
    ["id", session.id],
    ["agent", session.agent],
    ["owner", session.owner],
    ["participants", session.participants.join(", ")],
    ["messages", `${formatCount(session.messageCount)} (${counted(session.entryCount, "entry")})`],
    ["started", formatTime(session.startedAt)],
    ["last input", formatTime(session.lastInteractionAt)],
    ["forked from", session.parentSessionId ?? ""],
    ["source", [origin.source, origin.projectPath, origin.gitBranch].filter(Boolean).join(" · ")],
    ["expires", session.ttl === null ? "" : `${session.ttl} s after the last write`],
    ["retention", session.retention === "full" ? "" : session.retention],
    [
      "tokens",
      totalTokens(tokens) === 0
        ? ""
        : [
            `${formatCount(tokens.inputTokens)} in`,
            `${formatCount(tokens.outputTokens)} out`,
            `${formatCount(tokens.cacheCreationTokens)} cache written`,
            `${formatCount(tokens.cacheReadTokens)} cache read`,
          ].join(", "),
    ],
    ["summary", session.summary ?? ""],
  ];
  // A summary may have a page.
  const columns = Math.min(terminal.columns, MAX_COLUMNS);
  const room = columns - 16;
  const titleRoom = columns - session.shortId.length - 2;
  const title = session.title === "" ? "" : `  ${clip(oneLine(session.title), titleRoom)}`;
  return [
    `${terminal.bold(session.shortId)}${title}`,
    ...rows
      .filter(([, value]) => value !== "")
      .map(([name, value]) => `  ${terminal.dim(name.padEnd(12))}  ${clip(oneLine(value), room)}`),
  ].join("\n");
}

/** Says that no session matches, and how to fill an empty store. */
export async function printNoSessions(context: Context, tenant: TenantApi): Promise<void> {
  const { terminal } = context;
  await terminal.print("No sessions.");
  if (((await tenant.tenantStatus())?.sessions ?? 0) > 0) return;
  await terminal.print(`The store is empty. To fill it: ${commandLine(context, "ingest")}`);
}
