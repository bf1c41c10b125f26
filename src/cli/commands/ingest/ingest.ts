/** Flushes the index after an ingest, so that searches do not read the same tail each time. */

import { resolve } from "node:path";
import { toWireError } from "../../../api/error.ts";
import { toWireOutcome, toWireSkipped, toWireTotals } from "../../../api/ingest.ts";
import { deriveAgain } from "../../../archive/derive-again.ts";
import {
  type IngestInput,
  type IngestReport,
  ingest,
  ingestStream,
} from "../../../archive/ingest.ts";
import { createSetting } from "../../../archive/ingest-setting.ts";
import type { FileOutcome } from "../../../archive/outcome.ts";
import type { TenantApi } from "../../../engine/interfaces.ts";
import { thisMachine } from "../../../ingest/identity/identity.ts";
import { SOURCES } from "../../../ingest/sources.ts";
import { BackscrollError } from "../../../model/errors.ts";
import { MEMORY } from "../../../store/store-options.ts";
import { type Command, defineCommand, flag, option, usageError } from "../../command.ts";
import { type Context, isServer } from "../../context.ts";
import { EXIT, exitCodeOf } from "../../exit.ts";
import { counted } from "../../print.ts";
import {
  fileLines,
  IngestProgress,
  ProblemLines,
  placeLines,
  placesOf,
  type Suggestions,
  summaryLines,
} from "../../print-ingest.ts";
import { commandLine, quote } from "../../program.ts";
import { withStore } from "../../store.ts";
import { Progress } from "../../terminal.ts";
import { toInput } from "../input-options.ts";

const NAMES = SOURCES.map(({ name }) => name);

/** The limit of files listed one by one. */
const TOLD = 100;

export const ingestCommand: Command = defineCommand({
  name: "ingest",
  aliases: ["import"],
  summary: "Store the transcripts of other agents: this machine's, or files and folders.",
  details:
    "Without a path it looks where agents keep their files. It may run again at any time: a file that did not change is not opened, one that grew is read from where the last reading ended, and nothing is stored twice. Unreadable parts of a file are counted, the first few with their lines (--problems lists all that were kept, a hundred of a file; with --force also those of files that were read before); the rest is stored. A session that was forgotten stays so. Creates the store, too, if there is none.",
  arguments: [
    { name: "PATH", many: true, optional: true, help: "Files and folders; - is standard input." },
  ],
  options: {
    source: option(
      "NAME",
      `The format: ${NAMES.join(", ")}, or auto (if left out), which looks at the content.`,
    ),
    oversize: option(
      "HOW",
      "Lines over 1 MB: cut their long values (if left out), or skip the lines.",
    ),
    force: flag("Read unchanged files, too, and restore forgotten sessions of named files."),
    again: flag(
      "Derive sessions again from the kept bytes, where their reader has improved; with --force all of them.",
    ),
    "no-originals": flag("Do not keep the bytes of the files (or BACKSCROLL_ORIGINALS=off)."),
    "dry-run": flag("Say what would be stored, and store nothing."),
    problems: flag(
      "List every problem with its file and line, and every file that was not recognised.",
    ),
    places: flag("List the folders that are searched, by agent, and read nothing."),
  },
  examples: ["ingest", "ingest --again", "ingest session.jsonl --dry-run --json"],
  run: async (context, args, options) => {
    if (options.again) {
      for (const name of ["source", "dry-run", "no-originals"] as const) {
        if (options[name] !== undefined) {
          throw usageError(`--again reads the kept originals; leave out --${name}`, `--${name}`);
        }
      }
      if (args.PATH?.length)
        throw usageError("--again reads the kept originals; leave out PATH", "PATH");
      return ingestAgain(context, options.force ?? false);
    }
    const source = options.source === "auto" ? undefined : options.source;
    if (source !== undefined && !NAMES.includes(source)) {
      const known = [...NAMES, "auto"].join(", ");
      throw usageError(`--source must be one of ${known}, not "${source}"`, "--source");
    }
    if (options.places) return printPlaces(context, source);
    const input: IngestInput = {
      environment: thisMachine(),
      ...toInput("ingest", { ...options, source }),
      ...(options["no-originals"] ? { originals: false } : {}),
      ...(args.PATH === undefined || args.PATH.length === 0 ? {} : { paths: args.PATH }),
    };
    return withTarget(context, input.dryRun ?? false, (tenant) =>
      run(context, tenant, input, options.problems ?? false),
    );
  },
});

async function printPlaces({ terminal, json }: Context, only?: string): Promise<number> {
  const environment = thisMachine();
  const places = placesOf(environment, only);
  if (json) {
    const all = [...places].map(([source, folders]) => ({ source, folders }));
    await terminal.printJson({ places: all });
  } else for (const line of placeLines(places, environment)) await terminal.print(line.slice(2));
  return EXIT.ok;
}

async function run(
  context: Context,
  tenant: TenantApi,
  input: IngestInput,
  allProblems: boolean,
): Promise<number> {
  const started = performance.now();
  const told = new ToldFiles(input);
  const problems = new ProblemLines(allProblems);
  const progress = new IngestProgress();
  const files = input.paths?.filter((path) => path !== "-");
  const ran: IngestInput = {
    ...input,
    ...(files === undefined ? {} : { paths: files }),
    onOutcome: (outcome) => {
      told.add(outcome);
      problems.add(outcome, told.nameOf(outcome));
    },
    onProgress: (totals) => progress.show(totals),
  };
  let report: IngestReport;
  try {
    await progress.prepare(tenant, ran);
    report = await ingest(tenant, ran);
    if (input.paths?.includes("-")) {
      const outcome = await ingestStream(await createSetting(tenant, input), process.stdin);
      report.totals.add(outcome);
      for (const session of outcome.sessions) {
        report.totals.addSession(outcome.source ?? "", session);
      }
      told.add(outcome);
      problems.add(outcome, told.nameOf(outcome));
    }
    if (!input.dryRun) {
      progress.showIndexing();
      await flushAfterIngest(context, tenant);
    }
  } finally {
    progress.end();
  }
  const failures = told.failures(report);
  const [failure] = failures;
  // A command with one named file fails as that file does.
  if (failure !== undefined && input.paths?.length === 1) throw failure.error;
  const seconds = (performance.now() - started) / 1000;
  await print(context, input, report, told, failures, seconds);
  if (!context.json) {
    const unnamed = report.totals.unrecognised.filter((path) => !told.isNamed({ path }));
    problems.print(context.terminal, unnamed, suggestionsFor(context, input));
  }
  return failure === undefined ? EXIT.ok : exitCodeOf(failure.error);
}

/** The way out of a file of no known format. */
const WAY_OUT = "--source NAME reads it as one, and ingest --help lists the names";

/** A named path that could not be ingested. */
interface Failure {
  readonly file: string;
  readonly error: BackscrollError;
}

/** The files with a line of their own: named ones, and the first with news. */
class ToldFiles {
  readonly #names: ReadonlyMap<string, string>;
  readonly #all = new Map<string, FileOutcome>();

  constructor({ paths = [] }: IngestInput) {
    this.#names = new Map(paths.map((name) => [name === "-" ? "-" : resolve(name), name]));
  }

  add(outcome: FileOutcome): void {
    const hasNews = outcome.problemCounts.size > 0 || outcome.sessions.some((s) => s.entries > 0);
    const isTold = this.#names.has(outcome.path) || (hasNews && this.#all.size < TOLD);
    if (isTold) this.#all.set(outcome.path, outcome);
  }

  nameOf({ path }: FileOutcome): string {
    return this.#names.get(path) ?? path;
  }

  isNamed({ path }: Pick<FileOutcome, "path">): boolean {
    return this.#names.has(path);
  }

  /** Named ones first, in order; without failed ones. */
  list(): FileOutcome[] {
    const named = [...this.#names.keys()].map((path) => this.#all.get(path));
    const others = [...this.#all.values()].filter((each) => !this.isNamed(each));
    return [
      ...named.filter((each) => each !== undefined && !isFailure(each)),
      ...others,
    ] as FileOutcome[];
  }

  /** Whether every found file has a line of its own; false for a folder without files. */
  isAll({ totals, missing }: IngestReport): boolean {
    const named = [...this.#all.values()].filter((each) => this.isNamed(each)).length;
    return named === totals.found && named + missing.length > 0;
  }

  failures(report: IngestReport): Failure[] {
    const unread = [...this.#all.values()].filter((each) => this.isNamed(each) && isFailure(each));
    return [
      ...unread.map((outcome) => ({ file: this.nameOf(outcome), error: this.#error(outcome) })),
      ...report.missing.map(({ path, message }) => ({
        file: path,
        error: new BackscrollError("invalid_input", message, {
          details: { field: "PATH", file: path },
        }),
      })),
    ];
  }

  #error(outcome: FileOutcome): BackscrollError {
    const { path, how, message } = outcome;
    const name = this.nameOf(outcome);
    if (how !== "unrecognised" && how !== "empty") {
      return new BackscrollError("invalid_input", `${name} cannot be read: ${message ?? how}`, {
        details: { field: "PATH", file: path },
      });
    }
    const why = how === "empty" ? "is empty" : `is not a transcript of a known format; ${WAY_OUT}`;
    return new BackscrollError("unknown_format", `${name} ${why}`, { details: { file: path } });
  }
}

function isFailure({ how }: FileOutcome): boolean {
  return !["read", "continued", "unchanged", "ignored"].includes(how);
}

async function print(
  context: Context,
  input: IngestInput,
  report: IngestReport,
  told: ToldFiles,
  failures: readonly Failure[],
  seconds: number,
): Promise<void> {
  const { terminal } = context;
  const dryRun = input.dryRun ?? false;
  const outcomes = told.list();
  if (context.json) {
    await terminal.printJson({
      dry_run: dryRun,
      workstation: report.workstation,
      totals: { ...toWireTotals(report.totals), skipped: toWireSkipped(report) },
      repositories: report.repositories,
      expired: report.expired,
      seconds: Math.round(seconds * 1000) / 1000,
      files: outcomes.map((outcome) => toWireOutcome(outcome, told.nameOf(outcome))),
      failed: failures.map(({ file, error }) => ({ file, ...toWireError(error) })),
    });
    return;
  }
  for (const outcome of outcomes) {
    const name = told.nameOf(outcome);
    // For a whole machine only the counts are printed.
    if (!told.isNamed(outcome)) continue;
    for (const line of fileLines(outcome, name, dryRun)) await terminal.print(line);
  }
  if (input.paths === undefined || !told.isAll(report)) {
    const places = commandLine(context, "ingest --places");
    for (const line of summaryLines(report, seconds, input, places)) await terminal.print(line);
  }
  for (const { error } of failures) terminal.note(error.message);
}

function suggestionsFor(context: Context, { paths = [] }: IngestInput): Suggestions {
  return {
    problems: commandLine(context, ["ingest", ...paths.map(quote), "--force --problems"].join(" ")),
    source: commandLine(context, "ingest FILE --source NAME"),
    formats: commandLine(context, "ingest --help"),
  };
}

/** A dry run never creates a store: without one, everything would be new. */
async function withTarget<Result>(
  context: Context,
  dryRun: boolean,
  use: (tenant: TenantApi) => Promise<Result>,
): Promise<Result> {
  if (!dryRun) return withStore(context, "create", use, "bulk");
  try {
    return await withStore(context, "read", use);
  } catch (error) {
    if (!BackscrollError.is(error, "store_not_found")) throw error;
    return withStore({ ...context, address: MEMORY }, "create", use);
  }
}

/** `ingest --again`: derives sessions again from the kept bytes of their files. */
function ingestAgain(context: Context, force: boolean): Promise<number> {
  return withStore(
    context,
    "write",
    async (tenant) => {
      const progress = new Progress();
      const failures: FileOutcome[] = [];
      let files = 0;
      const report = await deriveAgain(tenant, {
        environment: thisMachine(),
        force,
        onOutcome: (outcome) => {
          files++;
          progress.show(() => `Read ${counted(files, "file")}`);
          if (!["read", "continued", "ignored"].includes(outcome.how)) failures.push(outcome);
        },
      });
      await flushAfterIngest(context, tenant);
      progress.end();
      const { terminal } = context;
      if (context.json) {
        await terminal.printJson({
          ...report,
          failures: failures.map(({ path, how, message }) => ({ path, how, message })),
        });
      } else {
        const { originals, read, sessions, extended } = report;
        await terminal.print(
          `Read ${counted(read, "file")} of ${originals} kept: ${counted(sessions, "session")} derived again.`,
        );
        if (extended > 0) {
          await terminal.print(
            `${counted(extended, "session")} with messages of their own got only new entries.`,
          );
        }
        for (const { path, how, message } of failures) terminal.note(`${path}: ${message ?? how}`);
      }
      return failures.length === 0 ? EXIT.ok : EXIT.damaged;
    },
    "bulk",
  );
}

/** A shorter tail is searched in a few milliseconds. */
const WORTH_A_SEGMENT = 64;

/**
 * More segments than one load leaves: many small runs wrote them, so they are merged. Segments of
 * a load are not merged here, which may take longer than the load.
 */
const TOO_MANY_SEGMENTS = 96;

export async function flushIndex(
  tenant: Pick<TenantApi, "indexStatus" | "maintainIndex">,
): Promise<void> {
  const { lag } = await tenant.indexStatus();
  if (lag < WORTH_A_SEGMENT) return;
  const { segments } = await tenant.maintainIndex("flush");
  if (segments > TOO_MANY_SEGMENTS) await tenant.maintainIndex("maintain");
}

/** The same at the end of a command. All is stored by then: a failure only makes searches slower. */
async function flushAfterIngest(context: Context, tenant: TenantApi): Promise<void> {
  // A server keeps its index itself.
  if (isServer(context.address)) return;
  try {
    await flushIndex(tenant);
  } catch (error) {
    if (!BackscrollError.is(error)) throw error;
    context.terminal.note(`All is stored, but not yet in the index: ${error.message}`);
  }
}
