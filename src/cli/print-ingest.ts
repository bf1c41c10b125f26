/** What ingesting did, as a person reads it. */

import type { IngestReport } from "../archive/ingest.ts";
import type { FileOutcome, How } from "../archive/outcome.ts";
import type { Context } from "./context.ts";
import { counted, formatBytes, formatCount } from "./print.ts";

/** A file that somebody named, with each of its sessions. */
export function fileLines(outcome: FileOutcome, name: string, dryRun: boolean): string[] {
  const { source, sessions, problemCounts, how } = outcome;
  const rest = problemCounts.size === 0 ? "" : `; problems: ${countList(problemCounts)}`;
  if (how === "unchanged") return [`${name}: unchanged since it was read last; --force reads it`];
  if (sessions.length === 0) return [`${name}: no session (${source})${rest}`];
  return sessions.map(({ sessionId, created, entries, skipped, forgotten }) => {
    if (forgotten) return `${name}: forgotten; --force stores it again (${source})${rest}`;
    const verb = dryRun ? "would store" : "stored";
    const what = `${verb} ${counted(entries, "entry")}, ${formatCount(skipped)} there already`;
    const where = sessionId ?? "a new session";
    return `${where}  ${created ? "new" : "known"} (${source}): ${what}${rest}`;
  });
}

/** A whole machine, or a folder. */
export function summaryLines({ totals, skipped }: IngestReport, seconds: number): string[] {
  const { files, sources } = totals;
  if (totals.found === 0) return ["No transcripts found."];
  const done = files.read + files.continued;
  const speed = totals.bytes / Math.max(seconds, 0.001);
  const took = seconds < 0.05 ? "" : ` in ${seconds.toFixed(1)} s, ${formatBytes(speed)}/s`;
  const lines = [
    `Found ${counted(totals.found, "file")}: ${formatCount(files.unchanged)} unchanged, ` +
      `${formatCount(done)} read (${formatBytes(totals.bytes)}${took}).`,
  ];
  const width = Math.max(0, ...[...sources.keys()].map((name) => name.length));
  for (const [name, source] of [...sources].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const what = `${counted(source.created, "new session")}, ${counted(source.entries, "entry")}`;
    lines.push(`  ${name.padEnd(width)}  ${counted(source.files, "file")}: ${what}`);
  }
  const passed: [string, number][] = [
    ...NOT_READ.map((how): [string, number] => [how, files[how]]),
    ["forgotten here", totals.forgotten],
    ["links", skipped.links],
    ["devices, sockets or pipes", skipped.special],
    ["unreadable folders or files", skipped.unreadable],
    ["nested too deep", skipped.tooDeep],
  ];
  const told = passed.filter(([, count]) => count > 0);
  if (told.length > 0) lines.push(`Skipped: ${countList(told)}.`);
  if (totals.ignored.size > 0) {
    lines.push(`Left out as no part of a conversation: ${countList(totals.ignored)}.`);
  }
  if (totals.problems.size > 0) lines.push(`Problems: ${countList(totals.problems)}.`);
  return lines;
}

const NOT_READ: readonly How[] = ["unrecognised", "empty", "vanished", "unreadable", "sparse"];

/** The first problems of a file, on standard error. */
export function noteProblems(context: Context, outcome: FileOutcome, name: string): void {
  for (const { line, message } of outcome.problems.slice(0, 10)) {
    context.terminal.note(`${name}${line === undefined ? "" : `:${line}`}: ${message}`);
  }
  const total = [...outcome.problemCounts.values()].reduce((sum, count) => sum + count, 0);
  if (total > 10) context.terminal.note(`${name}: ${total - 10} more; --json lists the first 100`);
}

function countList(counts: Iterable<readonly [string, number]>): string {
  return [...counts].map(([what, count]) => `${formatCount(count)} ${what}`).join(", ");
}
