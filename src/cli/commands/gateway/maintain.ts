import { toWire } from "../../../api/shape.ts";
import type { MaintenanceReport } from "../../../gateway/maintain.ts";
import { MAINTENANCE_REPORT } from "../../../model/answers/gateway.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { maintain as maintainSessions } from "../../gateway/with-gateway.ts";
import { counted, formatBytes, formatTable, formatTime } from "../../print.ts";

const WHY: Readonly<Record<MaintenanceReport["deletions"][number]["reason"], string>> = {
  age: "idle for too long",
  count: "there are too many",
  disk: "they take too much",
};

export const maintain: Command = defineCommand({
  name: "maintain",
  summary: "Delete sessions that are too old, too many or too large, as the configuration says.",
  details:
    "Off by default: nothing is deleted unless session.maintenance.mode is enforce. Sessions in use stay, and so do current sessions of groups and threads, and ingested sessions unless session.maintenance.ingested names their agent. A server uses its own configuration.",
  options: {
    "dry-run": { type: "boolean", help: "Only report the plan, in any mode." },
  },
  examples: ["maintain --dry-run"],
  run: async (context, _args, options) => {
    const report = await maintainSessions(context, options["dry-run"] ?? false);
    const { terminal } = context;
    if (context.json) {
      await terminal.printJson(toWire(MAINTENANCE_REPORT, report));
      return EXIT.ok;
    }
    for (const line of formatReport(report, terminal.columns)) await terminal.print(line);
    return EXIT.ok;
  },
});

function formatReport(report: MaintenanceReport, columns: number): string[] {
  const { deletions, skipped, spared, contentBytes, contentBytesAfter, applied, mode } = report;
  const done = applied ? "Deleted" : "Would delete";
  const count = counted(deletions.length - (applied ? skipped.length : 0), "session");
  const rows = deletions.map(({ sessionId, lastInteractionAt, reason, key }) => [
    sessionId,
    formatTime(lastInteractionAt),
    WHY[reason],
    key ?? "",
  ]);
  const bytes = `${formatBytes(contentBytes)} of content, ${formatBytes(contentBytesAfter)} without them`;
  return [
    ...(rows.length === 0
      ? []
      : formatTable(["SESSION", "LAST INPUT", "WHY", "KEY"], rows, columns)),
    `${done} ${count} of ${report.sessions} (${bytes}).`,
    `Spared: ${spared.running} in use, ${spared.shared} of groups and threads, ${spared.ingested} ingested.`,
    ...(skipped.length === 0 ? [] : [`${counted(skipped.length, "session")} changed meanwhile.`]),
    ...(report.overBudget
      ? ["The budget is still exceeded: the rules spare all other sessions."]
      : []),
    ...(mode === "enforce" ? [] : [`session.maintenance.mode is ${mode}: nothing is deleted.`]),
  ];
}
