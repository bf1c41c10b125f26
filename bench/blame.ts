/**
 * Blame on a real archive and its repository: how often the named session is right, of commits and
 * of lines, and how long a commit and a long file take. Trailers are left out.
 */

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readCommits, readHistory } from "../src/cli/git-history.ts";
import type { Engine } from "../src/index.ts";
import { type BlamedCommit, blameWork } from "../src/work.ts";
import { type BenchOptions, percentile, Report, withFolder } from "./measure.ts";
import { Archive } from "./unasked/archive.ts";

interface Label {
  readonly commit: string;
  /** The agents' own ids of the sessions that wrote it. */
  readonly gold: readonly string[];
}

/** In percent. */
const LEAST_YES = 97;
const LEAST_RIGHT = 92;
const LEAST_FOUND = 68;
const LEAST_LINES = 90;
/** Milliseconds, on a machine that does nothing else. */
const MOST_OF_COMMIT = 150;
const MOST_OF_FILE = 1_000;
const LINES = 300;
const LONG_FILE = 1_000;

export async function benchBlame(options: BenchOptions): Promise<boolean> {
  const { data, folder, repository = data === undefined ? "" : join(data, "repository") } = options;
  if (data === undefined || !existsSync(join(data, "blame.json")) || !existsSync(repository)) {
    throw new Error(
      "blame needs --data FOLDER with transcripts/ (or transcripts.tar.xz) and blame.json, and --repository CLONE",
    );
  }
  const labels = JSON.parse(readFileSync(join(data, "blame.json"), "utf8")) as readonly Label[];
  const report = new Report("blame");
  // A named folder keeps the store for the next run.
  const run = async (work: string) => {
    const transcripts = join(data, "transcripts");
    if (!existsSync(transcripts) && !existsSync(join(work, "transcripts"))) {
      execFileSync("tar", ["xf", join(data, "transcripts.tar.xz"), "-C", work]);
    }
    const from = existsSync(transcripts) ? transcripts : join(work, "transcripts");
    const { engine } = await Archive.open(join(work, "blame.db"), from);
    await blameCommits(engine, repository, labels, report);
    await blameLines(engine, repository, labels, report);
    await engine.close();
  };
  if (folder === undefined) await withFolder(undefined, run);
  else await run(folder);
  return report.met;
}

async function blameCommits(
  engine: Engine,
  repository: string,
  labels: readonly Label[],
  report: Report,
): Promise<void> {
  const place = { folder: repository, trailers: false };
  const gold = new Map(labels.map(({ commit, gold: ids }) => [commit, ids]));
  const bots = gitLines(repository, "log", "--all", "--author=bot", "--format=%H", "--no-merges");
  const commits = await readCommits([...gold.keys()], place);
  const [yes, maybe, times] = [new Tally(), new Tally(), [] as number[]];
  for (const commit of commits) {
    const start = performance.now();
    const [first] = await sessionsOf(engine, commit);
    times.push(performance.now() - start);
    const tally = first?.sure === "yes" ? yes : maybe;
    if (first !== undefined) tally.add(gold.get(commit.commit)?.includes(first.sourceId ?? ""));
  }
  let ofBots = 0;
  for (const commit of await readCommits(bots, place)) {
    if ((await sessionsOf(engine, commit)).length > 0) ofBots++;
  }
  const right = yes.right + maybe.right;
  const all = yes.all + maybe.all;
  const later = times.slice(1);
  report.measurement("sqlite", "commits", 1, {
    commits: commits.length,
    yes: yes.all,
    yesRight: yes.right,
    maybe: maybe.all,
    maybeRight: maybe.right,
    bots: bots.length,
    p50: percentile(later, 50),
    p95: percentile(later, 95),
  });
  report.bar("yes: right, percent", (100 * yes.right) / yes.all, LEAST_YES, true);
  report.bar("all answers: right, percent", (100 * right) / all, LEAST_RIGHT, true);
  report.bar("found, percent of the commits", (100 * right) / labels.length, LEAST_FOUND, true);
  report.bar("bot commits with an answer", ofBots, 0);
  report.bar("a commit after the first, p95, ms", percentile(later, 95), MOST_OF_COMMIT);
}

async function sessionsOf(engine: Engine, commit: BlamedCommit) {
  const { answers } = await blameWork(engine, { commits: [commit] });
  return answers[0]?.sessions ?? [];
}

/** Of files of the head, the lines whose commit is labelled: as many of each, up to the limit. */
async function blameLines(
  engine: Engine,
  repository: string,
  labels: readonly Label[],
  report: Report,
): Promise<void> {
  const gold = new Map(labels.map(({ commit, gold: ids }) => [commit, ids]));
  const files = gitLines(repository, "ls-files");
  const lines = new Tally();
  const times: number[] = [];
  for (const [i, name] of files.entries()) {
    if (lines.all >= LINES && times.length >= 5) break;
    // Spread over the repository.
    const file = files[(i * 37) % files.length] ?? name;
    const start = performance.now();
    const history = await readHistory(file, { folder: repository, trailers: false });
    const found = history.file?.lines ?? [];
    const isLong = found.length >= LONG_FILE;
    if (!isLong && !found.some(({ commit }) => gold.has(commit))) continue;
    const { commits, file: whole } = history;
    const { answers } = await blameWork(engine, { commits, ...whole });
    if (isLong) times.push((performance.now() - start) * (LONG_FILE / found.length));
    for (const { commit, sessions, lines: run } of answers) {
      const ids = gold.get(commit ?? "");
      const [first] = sessions;
      if (ids === undefined || first === undefined || run === null) continue;
      for (let line = run.first; line <= run.last && lines.all < LINES; line++) {
        lines.add(ids.includes(first.sourceId ?? ""));
      }
    }
  }
  report.measurement("sqlite", "lines", 1, { lines: lines.all, right: lines.right });
  report.bar("lines: right, percent", (100 * lines.right) / lines.all, LEAST_LINES, true);
  report.bar("a thousand lines, p50, ms", percentile(times, 50), MOST_OF_FILE);
}

function gitLines(repository: string, ...args: readonly string[]): readonly string[] {
  const text = execFileSync("git", args, { cwd: repository, encoding: "utf8", maxBuffer: 1e9 });
  return text.split("\n").filter((line) => line !== "");
}

class Tally {
  all = 0;
  right = 0;

  add(isRight: boolean | undefined): void {
    this.all++;
    if (isRight === true) this.right++;
  }
}
