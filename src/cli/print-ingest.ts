/** Prints the report of an ingest for people, and its progress: files, speed, time left. */

import type { RepositoryFound } from "../archive/find-in-repository.ts";
import { type IngestInput, type IngestReport, survey } from "../archive/ingest.ts";
import type { FileOutcome, How, SourceTotals, Totals } from "../archive/outcome.ts";
import type { TenantApi } from "../engine/interfaces.ts";
import { thisMachine } from "../ingest/identity/identity.ts";
import type { ImportProblemCode } from "../ingest/problems.ts";
import type { Environment } from "../ingest/source.ts";
import { SOURCES } from "../ingest/sources.ts";
import { counted, formatBytes, formatCount } from "./print.ts";
import { Progress, type Terminal } from "./terminal.ts";

/** Problems, and files of no known format, listed by default. */
const FEW = 3;

const PROBLEM_WORDS: Readonly<Record<ImportProblemCode, string>> = {
  not_json: "not JSON",
  torn_line: "last line cut off",
  unexpected: "not allowed by the format",
  line_too_long: "line too long",
  line_cut: "long line cut",
  unpacks_too_far: "unpacked size over the limit",
  unreadable: "not readable to the end",
  not_utf8: "not UTF-8",
  missing_header: "first line missing",
  missing_parent: "refers to a missing message",
  duplicate_id: "id given twice",
  missing_reference: "refers to a missing entry",
  entry_cut: "cut because it is too long",
  changed_entry: "changed since it was stored",
  late_file: "older than the stored part of its session",
};

/** A named file with each of its sessions. */
export function fileLines(outcome: FileOutcome, name: string, dryRun: boolean): string[] {
  const { source, sessions, problemCounts, how, message } = outcome;
  const rest = problemCounts.size === 0 ? "" : `; problems: ${problemList(problemCounts)}`;
  if (how === "unchanged") return [`${name}: unchanged since it was read last; --force reads it`];
  if (sessions.length === 0 && how === "ignored") return [`${name}: ignored by ${message}`];
  if (sessions.length === 0) return [`${name}: no session (${source})${rest}`];
  return sessions.map(({ sessionId, created, entries, skipped, forgotten, ignoredBy }) => {
    if (ignoredBy !== undefined) return `${name}: ignored by ${ignoredBy} (${source})`;
    if (forgotten) return `${name}: forgotten; --force stores it again (${source})${rest}`;
    const verb = dryRun ? "would store" : "stored";
    const what = `${verb} ${counted(entries, "entry")}, ${formatCount(skipped)} there already`;
    const where = sessionId ?? "a new session";
    return `${where}  ${created ? "new" : "known"} (${source}): ${what}${rest}`;
  });
}

/**
 * A whole machine or a folder: a line for each agent with files, skipped files. `places` is the
 * command that lists the searched folders.
 */
export function summaryLines(
  { totals, skipped, expired, repositories }: IngestReport,
  seconds: number,
  looked: Pick<IngestInput, "environment" | "paths" | "source">,
  places: string,
): string[] {
  const { files, sources } = totals;
  const { environment = thisMachine(), paths, source: only } = looked;
  const searched = placesOf(environment, only);
  if (totals.found === 0) {
    return paths === undefined
      ? ["No transcripts found.", "Looked in:", ...placeLines(searched, environment, 1)]
      : [
          ...repositories.flatMap(repositoryLines),
          `No transcripts found in ${paths.join(", ")}.`,
          ...WHICH_FILES,
        ];
  }
  const done = files.read + files.continued;
  const speed = totals.bytes / Math.max(seconds, 0.001);
  const took = seconds < 0.05 ? "" : ` in ${seconds.toFixed(1)} s, ${formatBytes(speed)}/s`;
  const counts = [
    done === 0 ? "0 read" : `${formatCount(done)} read (${formatBytes(totals.bytes)}${took})`,
    ...(files.unchanged > 0 ? [`${formatCount(files.unchanged)} unchanged`] : []),
    ...(files.unrecognised > 0 ? [`${formatCount(files.unrecognised)} not recognised`] : []),
  ];
  const inPath = paths?.length === 1 ? ` in ${paths[0]}` : "";
  const lines = repositories.flatMap(repositoryLines);
  lines.push(`Found ${counted(totals.found, "file")}${inPath}: ${counts.join(", ")}.`);
  const agents = [...sources].filter(([name]) => name !== "").sort(([a], [b]) => (a < b ? -1 : 1));
  const width = Math.max(0, ...agents.map(([name]) => name.length));
  for (const [name, source] of agents) {
    const [place, ...others] = [...source.places].map((root) => shortened(root, environment));
    const more = others.length === 0 ? "" : ` and ${counted(others.length, "other folder")}`;
    const where = place === undefined ? "" : ` in ${place}${more}`;
    const total = source.files + source.unchanged;
    lines.push(`  ${name.padEnd(width)}  ${counted(total, "file")}${where}: ${news(source)}`);
  }
  const others = [...searched.keys()].filter((name) => !sources.has(name)).length;
  if (paths === undefined && others > 0) {
    lines.push(
      `No files of ${formatCount(others)} other formats; ${places} lists where it looked.`,
    );
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
  if (totals.problems.size > 0) lines.push(`Problems: ${problemList(totals.problems)}.`);
  if (totals.ignoredBy.size > 0) lines.push(`Ignored: ${ignoredList(totals.ignoredBy)}.`, STAYS);
  if (expired > 0)
    lines.push(`Deleted, because they are older than keep: ${counted(expired, "session")}.`);
  return lines;
}

/** What a repository has in its history, or that it has nothing. */
function repositoryLines({ path, sessions, histories, problems }: RepositoryFound): string[] {
  const has = [
    ...(sessions > 0 ? [`${counted(sessions, "session")} in checkpoints of Entire`] : []),
    ...(histories > 0 ? [`${counted(histories, "history")} of SpecStory`] : []),
  ];
  const none = "no checkpoints of Entire and no histories of SpecStory";
  return [
    `The repository ${path} has ${has.length === 0 ? none : has.join(" and ")}.`,
    ...problems.map((problem) => `  ${problem}`),
  ];
}

/** What a rule does not do. */
const STAYS =
  "What was stored before a rule stays, until backscroll forget --project FOLDER removes it.";

/** Sessions that rules keep out of the store, by rule. */
export function ignoredList(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([rule, count]) => `${counted(count, "session")} by ${rule}`).join(", ");
}

const NOT_READ: readonly How[] = ["empty", "vanished", "unreadable", "sparse"];

function news({ created, entries }: SourceTotals): string {
  if (entries === 0 && created === 0) return "nothing new";
  return `${counted(created, "new session")}, ${counted(entries, "new entry")}`;
}

/** The way out of a folder without a possible transcript. */
const WHICH_FILES: readonly string[] = [
  "It searches folders for .jsonl, .json, .ndjson, .md, .txt and database files.",
  "Name a file to read it whatever its ending.",
];

type Places = ReadonlyMap<string, readonly string[]>;

/** The folders of each agent with known ones, or of `only` one. */
export function placesOf(environment: Environment, only?: string): Places {
  const sources = SOURCES.filter(({ name }) => only === undefined || name === only);
  const all = sources.map(({ name, places }): [string, readonly string[]] => [
    name,
    [...(places?.(environment) ?? [])].map(({ root }) => root),
  ]);
  return new Map(all.filter(([, roots]) => roots.length > 0));
}

/** An agent's name beside its folders, a line each; the first `limit` of each agent. */
export function placeLines(places: Places, environment: Environment, limit?: number): string[] {
  const width = Math.max(...[...places.keys()].map((name) => name.length));
  return [...places].flatMap(([name, roots]) =>
    roots.slice(0, limit).map((root, i) => {
      const label = (i === 0 ? name : "").padEnd(width);
      return `  ${label}  ${shortened(root, environment)}`;
    }),
  );
}

/** A path with ~ for the home folder. */
function shortened(root: string, { home }: Environment): string {
  return root.startsWith(`${home}/`) ? `~${root.slice(home.length)}` : root;
}

/** The commands that a report suggests. */
export interface Suggestions {
  /** Lists every problem. */
  readonly problems: string;
  /** Reads a file as a named format. */
  readonly source: string;
  /** Lists the names of the formats. */
  readonly formats: string;
}

/** Problems with their file and line, and files of no known format: the first few, or all. */
export class ProblemLines {
  readonly #all: boolean;
  readonly #lines: string[] = [];
  #more = 0;

  constructor(all: boolean) {
    this.#all = all;
  }

  add({ problems, problemCounts }: FileOutcome, name: string): void {
    for (const { line, message } of problems) {
      this.#push(`${name}${line === undefined ? "" : `:${line}`}: ${message}`);
    }
    const total = [...problemCounts.values()].reduce((sum, count) => sum + count, 0);
    const unkept = total - problems.length;
    if (unkept > 0 && this.#all) this.#lines.push(`${name}: ${formatCount(unkept)} more`);
    else this.#more += unkept;
  }

  #push(line: string): void {
    if (this.#all || this.#lines.length < FEW) this.#lines.push(line);
    else this.#more++;
  }

  /** `unrecognised` are the files of no known format. */
  print(terminal: Terminal, unrecognised: readonly string[], suggested: Suggestions): void {
    const { problems, source, formats } = suggested;
    for (const line of this.#lines) terminal.note(`  ${line}`);
    if (this.#more > 0) {
      terminal.note(`  … ${counted(this.#more, "more problem")}; all of them: ${problems}`);
    }
    const shown = this.#all ? unrecognised : unrecognised.slice(0, FEW);
    for (const path of shown) terminal.note(`  not recognised: ${path}`);
    const rest = unrecognised.length - shown.length;
    if (rest > 0) {
      terminal.note(`  … ${counted(rest, "more file")} not recognised; all of them: ${problems}`);
    }
    if (unrecognised.length > 0) {
      terminal.note(`  Read one in a named format: ${source}`);
      terminal.note(`  List the formats: ${formats}`);
    }
  }
}

function problemList(counts: ReadonlyMap<string, number>): string {
  const named = [...counts].map(([code, count]): [string, number] => [
    PROBLEM_WORDS[code as ImportProblemCode] ?? code,
    count,
  ]);
  return named.map(([words, count]) => `${formatCount(count)} × ${words}`).join(", ");
}

function countList(counts: Iterable<readonly [string, number]>): string {
  return [...counts].map(([what, count]) => `${formatCount(count)} ${what}`).join(", ");
}

export class IngestProgress {
  readonly #progress = new Progress();
  readonly #started = Date.now();
  #goal: { readonly files: number; readonly bytes: number } | undefined;

  /** Counts the files first, on a terminal. */
  async prepare(tenant: TenantApi, input: IngestInput): Promise<void> {
    if (!process.stderr.isTTY) return;
    this.#progress.show(() => "Looking for transcripts");
    this.#goal = await survey(tenant, input);
  }

  show(totals: Totals): void {
    this.#progress.show(() => this.#text(totals));
  }

  showIndexing(): void {
    this.#progress.show(() => "Indexing new messages");
  }

  end(): void {
    this.#progress.end();
  }

  #text(totals: Totals): string {
    const seconds = Math.max(0.1, (Date.now() - this.#started) / 1000);
    const done = totals.found - totals.files.unchanged;
    const speed = totals.bytes / seconds;
    const { files = 0, bytes = 0 } = this.#goal ?? {};
    const left = speed > 0 ? Math.ceil(Math.max(0, bytes - totals.bytes) / speed) : undefined;
    const rest = left === undefined || bytes === 0 ? "" : `, about ${formatCount(left)} s left`;
    return `Read ${formatCount(done)} of ${formatCount(Math.max(files, done))} files, ${formatBytes(speed)}/s${rest}`;
  }
}
