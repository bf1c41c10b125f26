/**
 * Unasked memory on a real archive: how often it speaks where nothing answers, how often it is
 * right, the cures of failed commands, and a replay of every prompt.
 *
 * Everything is asked as of its own time. The decision is cross-validated: it is fitted on four
 * fifths of the examples and asked about the rest. The labels name messages and have no text.
 */

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { askUnasked } from "../src/unasked/ask.ts";
import type { Verdict } from "../src/unasked/moment.ts";
import { DECISION, isSure, type PromptFigures } from "../src/unasked/prompt/sure.ts";
import { type BenchOptions, percentile, Report, withFolder } from "./measure.ts";
import { Archive, leaveOutCommits, PATIENT, placeOf } from "./unasked/archive.ts";
import { fitSum, scoreBy } from "./unasked/fit.ts";
import { SMALL_TALK } from "./unasked/small-talk.ts";

interface Place {
  /** The agent's own id of a session, and a message's index. */
  readonly session: string;
  readonly index: number;
}

interface Labels {
  /** `gold`: the sessions that answer; empty: nothing earlier does. */
  readonly prompts: readonly (Place & { readonly gold: readonly string[] })[];
  /** Failed commands that failed so before, with right cures; empty: there is none. */
  readonly errors: readonly (Place & { readonly gold: readonly Place[] })[];
}

const SETS = ["silent", "foreign", "small talk", "answered", "subjects"] as const;

interface Asked {
  readonly set: (typeof SETS)[number];
  readonly verdict: Verdict;
  readonly right: boolean;
}

const FOLDS = 5;
/** In percent: at most, at least. */
const MOST_FALSE = 3;
const LEAST_RIGHT = 85;
const LEAST_ANSWERED = 45;
const LEAST_SUBJECTS = 42;
const LEAST_CURES = 60;
const MOST_WRONG_CURES = 1;
const MOST_OF_REPLAY = 5;

export async function benchUnasked({ data, folder, only }: BenchOptions): Promise<boolean> {
  if (data === undefined || !existsSync(join(data, "transcripts"))) {
    throw new Error("unasked needs --data FOLDER with transcripts/, and commits.json beside it");
  }
  const report = new Report("unasked");
  const labels = JSON.parse(
    readFileSync(new URL("unasked/labels.json", import.meta.url), "utf8"),
  ) as Labels;
  // A named folder keeps the stores for the next run.
  const run = async (work: string) => {
    const whole = await Archive.open(join(work, "whole.db"), join(data, "transcripts"));
    if ("prompts".includes(only)) {
      const bare = join(work, "bare");
      if (!existsSync(bare)) await leaveOutCommits(join(data, "transcripts"), bare);
      const without = await Archive.open(join(work, "bare.db"), bare);
      judge(report, [
        ...(await askLabelled(whole, labels)),
        ...(await askForeign(whole, data)),
        ...(await askSubjects(without, data)),
      ]);
      await without.engine.close();
    }
    if ("errors".includes(only)) await askErrors(report, whole, labels);
    if ("replay".includes(only)) await replay(report, whole);
    await whole.engine.close();
  };
  await (folder === undefined ? withFolder(undefined, run) : run(folder));
  return report.met;
}

async function askLabelled(archive: Archive, { prompts }: Labels): Promise<Asked[]> {
  const asked: Asked[] = [];
  for (const { session: id, index, gold } of prompts) {
    const session = archive.sessions.get(id);
    const said = session && (await archive.acts(session)).find((act) => act.index === index);
    if (session === undefined || said?.type !== "said") continue;
    const verdict = await archive.askPrompt(said.text, placeOf(session, said.at));
    const right = gold.includes(archive.idOf(verdict.found?.hit.sessionId ?? ""));
    asked.push({ set: gold.length === 0 ? "silent" : "answered", verdict, right });
  }
  return asked;
}

/** With the archive's busiest folder, so that no filter by project helps. */
async function askForeign(archive: Archive, data: string): Promise<Asked[]> {
  const [newest] = [...archive.sessions.values()].sort((a, b) => b.messageCount - a.messageCount);
  const place = { cwd: newest?.origin.projectPath ?? "/", at: Date.now() };
  const path = [data, dirname(data)]
    .map((each) => join(each, "foreign-prompts.json"))
    .find(existsSync);
  const foreign = path === undefined ? [] : (JSON.parse(readFileSync(path, "utf8")) as string[]);
  const asked: Asked[] = [];
  for (const [set, texts] of [
    ["foreign", foreign],
    ["small talk", SMALL_TALK],
  ] as const) {
    for (const text of texts) {
      asked.push({ set, verdict: await archive.askPrompt(text, place), right: false });
    }
  }
  return asked;
}

async function askSubjects(archive: Archive, data: string): Promise<Asked[]> {
  const path = join(data, "commits.json");
  if (!existsSync(path)) return [];
  const commits = JSON.parse(readFileSync(path, "utf8")) as {
    readonly query: string;
    readonly gold: readonly string[];
  }[];
  const asked: Asked[] = [];
  for (const { query, gold } of commits) {
    const verdict = await archive.askPrompt(query, { cwd: "/", at: Date.now() });
    const right = gold.includes(archive.idOf(verdict.found?.hit.sessionId ?? ""));
    asked.push({ set: "subjects", verdict, right });
  }
  return asked;
}

/** Each example by a decision that was fitted without its fifth; prints the fit of all, too. */
function judge(report: Report, asked: readonly Asked[]): void {
  const names = Object.keys(DECISION.weights);
  const known = asked.flatMap((each, i) => {
    const { figures } = each.verdict;
    return figures?.["spread"] === undefined ? [] : [{ ...each, figures, fold: i % FOLDS }];
  });
  const spoken = new Set<Asked>();
  for (let fold = 0; fold < FOLDS; fold++) {
    const fitted = fitSum(
      known.filter((each) => each.fold !== fold),
      names,
    );
    for (const each of known.filter((one) => one.fold === fold)) {
      if (scoreBy(fitted, each.figures) >= DECISION.least) spoken.add(each);
    }
  }
  const all = fitSum(known, names);
  console.log(JSON.stringify({ fitted: all, shipped: DECISION }));
  const shipped = known.filter(({ figures }) => isSure(figures as unknown as PromptFigures));
  let [told, right] = [0, 0];
  for (const set of SETS) {
    const of = asked.filter((each) => each.set === set);
    const said = known.filter((each) => each.set === set && spoken.has(each));
    const good = said.filter((each) => each.right).length;
    const percent = (count: number) => (100 * count) / (of.length || 1);
    if (set === "answered" || set === "subjects") {
      told += said.length;
      right += good;
    }
    report.measurement("sqlite", set, 1, {
      asked: of.length,
      spoke: said.length,
      right: good,
      "right in percent of asked": percent(good),
      "right in percent of spoken": (100 * good) / (said.length || 1),
      "best session right": of.filter((each) => each.right).length,
      "spoke by the shipped constants": shipped.filter((each) => each.set === set).length,
    });
    if (set === "answered")
      report.bar(`${set}: right, percent`, percent(good), LEAST_ANSWERED, true);
    else if (set === "subjects")
      report.bar(`${set}: right, percent`, percent(good), LEAST_SUBJECTS, true);
    else report.bar(`${set}: false fires, percent`, percent(said.length), MOST_FALSE);
  }
  report.bar("right when it speaks, percent", (100 * right) / told, LEAST_RIGHT, true);
}

/** Every failed command, as of its time. */
async function askErrors(report: Report, archive: Archive, { errors }: Labels): Promise<void> {
  const key = ({ session, index }: Place) => `${session}#${index}`;
  const labelled = new Map(errors.map((each) => [key(each), each.gold.map(key)]));
  let [failed, shown, right] = [0, 0, 0];
  const wrong: string[] = [];
  for (const [id, session] of archive.sessions) {
    for (const act of await archive.acts(session)) {
      if (act.type !== "call" || act.result?.failed !== true) continue;
      const [command] = act.effects.commands;
      if (command === undefined) continue;
      failed++;
      const moment = { moment: "error", command, error: act.result.output } as const;
      const place = placeOf(session, act.at);
      const { hit } = await askUnasked(archive.engine, { ...moment, ...place }, PATIENT);
      if (hit === null) continue;
      shown++;
      const gold = labelled.get(key({ session: id, index: act.index })) ?? [];
      const cure = key({ session: archive.idOf(hit.sessionId), index: hit.index });
      if (gold.includes(cure)) right++;
      else wrong.push(`${session.shortId}#${act.index} ← ${hit.shortId}#${hit.index}`);
    }
  }
  const curable = errors.filter(({ gold }) => gold.length > 0).length;
  report.measurement("sqlite", "errors", 1, { failed, curable, shown, right, wrong: wrong.length });
  if (wrong.length > 0) console.log(JSON.stringify({ wrong }));
  report.bar("cures shown, percent of the curable", (100 * right) / curable, LEAST_CURES, true);
  report.bar("wrong cures", wrong.length, MOST_WRONG_CURES);
}

/** Every prompt of the archive, as of its time. */
async function replay(report: Report, archive: Archive): Promise<void> {
  let [prompts, spoke] = [0, 0];
  const ms: number[] = [];
  for (const session of archive.sessions.values()) {
    const said: { sessionId: string; index: number }[] = [];
    for (const act of await archive.acts(session)) {
      if (act.type !== "said" || act.role !== "user") continue;
      prompts++;
      const moment = { moment: "prompt", text: act.text, said } as const;
      const start = performance.now();
      const answer = await askUnasked(
        archive.engine,
        { ...moment, ...placeOf(session, act.at) },
        PATIENT,
      );
      ms.push(performance.now() - start);
      if (answer.hit === null) continue;
      spoke++;
      said.push(answer.hit);
      const asked = `${session.shortId}#${act.index}`;
      console.log(JSON.stringify({ asked, score: answer.why.figures["score"], text: answer.text }));
    }
  }
  report.measurement("sqlite", "replay", 1, {
    prompts,
    spoke,
    "p50 ms": percentile(ms, 50),
    "p95 ms": percentile(ms, 95),
  });
  report.bar("replay: spoke, percent", (100 * spoke) / prompts, MOST_OF_REPLAY);
}
