import { toWireError } from "../../../api/error.ts";
import type { TenantEngine } from "../../../engine/tenant-engine.ts";
import { SOURCES } from "../../../ingest/sources.ts";
import { BackscrollError } from "../../../model/errors.ts";
import { type Command, defineCommand, usageError } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT, exitCodeOf } from "../../exit.ts";
import { counted, formatCount } from "../../print.ts";
import { Progress } from "../../progress.ts";
import { withStore } from "../../store.ts";
import { type FileReport, importFile } from "../../transfer/import-file.ts";

const NAMES = SOURCES.map(({ name }) => name);

/** A file that could not be imported, beside those that could. */
interface Failure {
  readonly file: string;
  readonly error: unknown;
}

export const importFiles: Command = defineCommand({
  name: "import",
  summary: "Store the session files of other agents. Creates the store, too, if there is none.",
  details:
    "A file may be imported again at any time: what is there already is skipped, what is new is added. What cannot be read of a file is counted and listed with its line; the rest is stored. A file of no known format is told, and the others are imported.",
  arguments: [{ name: "FILE", many: true, help: "The files; - is standard input." }],
  options: {
    source: {
      type: "string",
      value: "NAME",
      help: `The format: ${NAMES.join(", ")}, or auto (if left out), which looks at the content.`,
    },
    "dry-run": { type: "boolean", help: "Say what would be stored, and store nothing." },
  },
  examples: ["import session.jsonl", "import session.jsonl --dry-run --json"],
  run: async (context, args, options) => {
    const source = options.source === "auto" ? undefined : options.source;
    if (source !== undefined && !NAMES.includes(source)) {
      const known = [...NAMES, "auto"].join(", ");
      throw usageError(`--source must be one of ${known}, not "${source}"`, "--source");
    }
    const dryRun = options["dry-run"] ?? false;
    return withTarget(context, dryRun, async (tenant) => {
      const reports: FileReport[] = [];
      const failures: Failure[] = [];
      const progress = new Progress();
      let entries = 0;
      for (const [i, file] of args.FILE.entries()) {
        const before = entries;
        const onProgress = (read: number) => {
          entries = before + read;
          const files = `${i + 1} of ${counted(args.FILE.length, "file")}`;
          progress.show(() => `Read ${formatCount(entries)} entries, ${files}`);
        };
        const settings = source === undefined ? {} : { source };
        try {
          reports.push(await importFile(tenant, file, { ...settings, dryRun, onProgress }));
        } catch (error) {
          // One file's fault is told at the end; anything else ends the command.
          if (!isFault(error) || args.FILE.length === 1) throw error;
          failures.push({ file, error });
        } finally {
          progress.end();
        }
      }
      await print(context, reports, failures, dryRun);
      const [failed] = failures;
      return failed === undefined ? EXIT.ok : exitCodeOf(failed.error);
    });
  },
});

/** A dry run never makes a store: without one, everything would be new. */
async function withTarget<Result>(
  context: Context,
  dryRun: boolean,
  use: (tenant: TenantEngine) => Promise<Result>,
): Promise<Result> {
  if (!dryRun) return withStore(context, "create", use);
  try {
    return await withStore(context, "read", use);
  } catch (error) {
    if (!BackscrollError.is(error, "store_not_found")) throw error;
    return withStore({ ...context, address: ":memory:" }, "create", use);
  }
}

function isFault(error: unknown): boolean {
  return BackscrollError.is(error, "unknown_format") || BackscrollError.is(error, "invalid_input");
}

async function print(
  context: Context,
  reports: readonly FileReport[],
  failures: readonly Failure[],
  dryRun: boolean,
): Promise<void> {
  const { terminal } = context;
  if (context.json) {
    await terminal.printJson({
      dry_run: dryRun,
      files: reports.map(toWireReport),
      failed: failures.map(({ file, error }) => ({ file, ...toWireError(error) })),
    });
    return;
  }
  for (const report of reports) {
    for (const line of reportLines(report, dryRun)) await terminal.print(line);
    for (const { line, message } of report.problems.slice(0, 10)) {
      terminal.note(`${report.file}${line === undefined ? "" : `:${line}`}: ${message}`);
    }
    const total = [...report.problemCounts.values()].reduce((sum, count) => sum + count, 0);
    if (total > 10) terminal.note(`${report.file}: ${total - 10} more; --json lists the first 100`);
  }
  for (const { file, error } of failures) {
    terminal.note(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function reportLines(report: FileReport, dryRun: boolean): string[] {
  const { file, source, sessions, problemCounts } = report;
  const problems = [...problemCounts].map(([code, count]) => `${formatCount(count)} ${code}`);
  const rest = problems.length === 0 ? "" : `; problems: ${problems.join(", ")}`;
  if (sessions.length === 0) return [`${file}: no session (${source})${rest}`];
  return sessions.map(({ sessionId, created, entries, skipped }) => {
    const verb = dryRun ? "would store" : "stored";
    const what = `${verb} ${counted(entries, "entry")}, ${formatCount(skipped)} there already`;
    const where = sessionId ?? "a new session";
    return `${where}  ${created ? "new" : "known"} (${source}): ${what}${rest}`;
  });
}

function toWireReport(report: FileReport): object {
  return {
    file: report.file,
    source: report.source,
    sessions: report.sessions.map(({ sessionId, created, entries, skipped }) => ({
      ...{ session_id: sessionId, created, entries, skipped },
    })),
    problem_counts: Object.fromEntries(report.problemCounts),
    problems: report.problems.map(({ line, code, message }) => ({
      ...{ line: line ?? null, code, message },
    })),
  };
}
