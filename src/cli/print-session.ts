/** A session's heading, from its fields alone. */

import { totalTokens } from "../model/entry.ts";
import type { Session } from "../model/session.ts";
import { counted, formatCount, formatTime } from "./print.ts";
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
    ["last active", formatTime(session.lastInteractionAt)],
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
  const room = Math.min(terminal.columns, MAX_COLUMNS) - 16;
  const title = session.title === "" ? "" : `  ${oneLine(session.title)}`;
  return [
    `${terminal.bold(session.shortId)}${title}`,
    ...rows
      .filter(([, value]) => value !== "")
      .map(([name, value]) => `  ${terminal.dim(name.padEnd(12))}  ${clip(oneLine(value), room)}`),
  ].join("\n");
}
