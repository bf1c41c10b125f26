/**
 * `bench memory`: public benchmarks of memory, through the public API and beside SQLite's FTS5 in
 * the same run: is the evidence of a question among the first messages or sessions?
 */

import { statSync } from "node:fs";
import { join } from "node:path";
import type { Embedder } from "../src/index.ts";
import { localEmbedder } from "../src/providers/embedding/local-embedder.ts";
import { KeptVectors } from "./kept-vectors.ts";
import { type BenchOptions, Report, Timings, withFolder } from "./measure.ts";
import {
  isUpdatedFirst,
  officialFigures,
  type QuestionFigures,
  recallAny,
  recallAt,
  Tally,
} from "./memory-figures.ts";
import { findSets, WHAT_IS_READ } from "./memory-find.ts";
import type { BeamHalf, Haystack, MemoryQuestion, MemorySet, SetName } from "./memory-set.ts";
import { RecallStore } from "./recall-engine.ts";
import type { Found } from "./recall-figures.ts";
import { Fts5Ranker } from "./recall-fts5.ts";

/** A system under test, and what was measured of it. */
class Subject {
  readonly name: string;
  readonly tally = new Tally();
  /** Of the set's main ranking: the messages of a chat, or the sessions. */
  readonly times = new Timings();
  storeBytes = 0;
  indexBytes = 0;

  constructor(name: string) {
    this.name = name;
  }
}

/** Ids, best first; at least ten where as many are found. */
interface Rankings {
  /** The messages of a chat. */
  recalled(question: MemoryQuestion): string[] | Promise<string[]>;
  sessions(question: MemoryQuestion): string[] | Promise<string[]>;
  /** The messages of all sessions. */
  messages(question: MemoryQuestion): string[] | Promise<string[]>;
}

const K = 10;

/** Asked before anything is timed. */
const WARM_UP = "a summary of this conversation";

/** The columns of a set's table: figures of sessions, and for LoCoMo again of messages. */
const OFFICIAL = ["hit@1", "any@5", "any@10", "all@5", "all@10", "ndcg@5", "ndcg@10"] as const;
const OF_MESSAGES = "message ";
const UPDATED = "updated above outdated";
const ASSISTANT = "assistant R@10";
const COLUMNS: Readonly<Record<SetName, readonly string[]>> = {
  locomo: OFFICIAL,
  beam: ["R@10", "hit@1", "hit@5", UPDATED, ASSISTANT],
  "sde-bench": ["hit@1", "hit@5", UPDATED],
  longmemeval: OFFICIAL,
};

/** Minimum percentages of BEAM's development half. The assistant's is what a boost of users costs. */
const BARS: Readonly<Record<string, number>> = {
  "R@10": 54,
  "hit@1": 40,
  "hit@5": 63,
  [UPDATED]: 74,
  [ASSISTANT]: 14.2,
};
/** What vectors of the local model add to R@10, in points. */
const MIN_BY_MEANING = 3;

const WORDS = "backscroll";
const MEANING = "backscroll, vectors";
const FTS5 = "FTS5";

export interface MemoryOptions {
  readonly folder: string;
  /** Only this half of BEAM. */
  readonly half?: BeamHalf;
  /** Also a run with vectors of the local model. */
  readonly embedder?: "local";
  /** Where vectors are kept from one run to the next. */
  readonly vectors?: string;
}

export async function benchMemory({ memory, only, folder }: BenchOptions): Promise<boolean> {
  if (memory === undefined) {
    console.error("memory needs --data FOLDER");
    return false;
  }
  const sets = findSets(memory.folder, memory.half).filter(({ name }) => name.includes(only));
  if (sets.length === 0) {
    const wanted = only === "" ? "" : ` called ${only}`;
    console.error(`memory finds no set${wanted} in ${memory.folder}.\n${WHAT_IS_READ}`);
    return false;
  }
  const report = new Report("memory");
  const embedder =
    memory.embedder === undefined ? undefined : new KeptVectors(localEmbedder(), memory.vectors);
  try {
    for (const set of sets) {
      const subjects = await measureSet(set, folder, embedder);
      if (subjects[0]?.tally.questions("all") === 0) {
        console.error(`memory finds no question with evidence in ${set.name}`);
        report.met = false;
        continue;
      }
      const name = set.name === "beam" && memory.half ? `beam ${memory.half}` : set.name;
      print(name, set.name, subjects);
      measureBy(report, name, subjects);
      if (name === "beam dev") measureBars(report, subjects);
    }
  } finally {
    await embedder?.close();
  }
  return report.met;
}

/** Each haystack in a store of its own, on disk, and in an FTS5 table of its own. */
async function measureSet(
  set: MemorySet,
  parent: string | undefined,
  embedder: KeptVectors | undefined,
): Promise<Subject[]> {
  const words = new Subject(WORDS);
  const meaning = new Subject(MEANING);
  const fts5 = new Subject(FTS5);
  for (const haystack of set.haystacks()) {
    if (haystack.questions.length === 0) continue;
    await measureStore(set.name, haystack, words, parent);
    if (embedder !== undefined) await measureStore(set.name, haystack, meaning, parent, embedder);
    await measureFts5(set.name, haystack, fts5);
  }
  return embedder === undefined ? [words, fts5] : [words, meaning, fts5];
}

async function measureStore(
  set: SetName,
  { sessions, questions }: Haystack,
  subject: Subject,
  parent: string | undefined,
  embedder?: Embedder,
): Promise<void> {
  await withFolder(parent, async (folder) => {
    const address = join(folder, "memory.db");
    const store = await RecallStore.fill(sessions, embedder, address);
    const ranker = store.ranker({}, "all");
    await askAll(set, questions, subject, {
      recalled: (question) => store.recall(question, K),
      sessions: async (question) => sessionsOf(await ranker.sessions(question)),
      messages: async (question) => messagesOf(await ranker.messages(question)),
    });
    await store.close();
    const indexBytes = sizeOf(`${address}-index`);
    subject.indexBytes += indexBytes;
    subject.storeBytes += sizeOf(address) + indexBytes;
  });
}

async function measureFts5(
  set: SetName,
  { sessions, questions }: Haystack,
  subject: Subject,
): Promise<void> {
  const ranker = new Fts5Ranker(sessions, "porter", "all");
  const messages = (question: MemoryQuestion) => messagesOf(ranker.messages(question, K));
  await askAll(set, questions, subject, {
    recalled: messages,
    sessions: (question) => sessionsOf(ranker.sessions(question)),
    messages,
  });
  subject.storeBytes += ranker.bytes;
  ranker.close();
}

async function askAll(
  set: SetName,
  questions: readonly MemoryQuestion[],
  { tally, times }: Subject,
  rankings: Rankings,
): Promise<void> {
  const timed = (ask: (question: MemoryQuestion) => string[] | Promise<string[]>) => {
    return (question: MemoryQuestion) => times.time(async () => ask(question));
  };
  const figures = {
    beam: async (question: MemoryQuestion) =>
      figuresOfChat(await timed(rankings.recalled)(question), question),
    locomo: async (question: MemoryQuestion) => ({
      ...officialFigures(await timed(rankings.sessions)(question), new Set(question.sessions)),
      ...ofMessages(await rankings.messages(question), question),
    }),
    "sde-bench": async (question: MemoryQuestion) =>
      figuresOfDecision(await timed(rankings.sessions)(question), question),
    longmemeval: async (question: MemoryQuestion) =>
      officialFigures(await timed(rankings.sessions)(question), new Set(question.sessions)),
  }[set];
  // The first question of a store waits for its index.
  const [first] = questions;
  const warmUp = first === undefined ? undefined : { ...first, question: WARM_UP };
  if (warmUp !== undefined)
    await Promise.all([rankings.recalled(warmUp), rankings.sessions(warmUp)]);
  for (const question of questions) {
    tally.add(["all", ...question.groups], await figures(question));
  }
}

function ofMessages(ranking: readonly string[], { messages }: MemoryQuestion): QuestionFigures {
  if (messages.length === 0) return {};
  const figures = Object.entries(officialFigures(ranking, new Set(messages)));
  return Object.fromEntries(figures.map(([name, value]) => [`${OF_MESSAGES}${name}`, value]));
}

function figuresOfChat(ranking: readonly string[], question: MemoryQuestion): QuestionFigures {
  const evidence = new Set(question.messages);
  const ofAssistant = new Set(question.ofAssistant);
  return {
    "R@10": recallAt(ranking, evidence, K),
    "hit@1": recallAny(ranking, evidence, 1),
    "hit@5": recallAny(ranking, evidence, 5),
    ...ofUpdate(ranking, question),
    ...(ofAssistant.size === 0 ? {} : { [ASSISTANT]: recallAt(ranking, ofAssistant, K) }),
  };
}

function figuresOfDecision(ranking: readonly string[], question: MemoryQuestion): QuestionFigures {
  const right = new Set(question.sessions);
  return {
    "hit@1": recallAny(ranking, right, 1),
    "hit@5": recallAny(ranking, right, 5),
    ...ofUpdate(ranking, question),
  };
}

function ofUpdate(
  ranking: readonly string[],
  { updated, outdated }: MemoryQuestion,
): QuestionFigures {
  if (updated === undefined || outdated === undefined) return {};
  return { [UPDATED]: isUpdatedFirst(ranking, updated, outdated) };
}

/** One line for each group of questions, and one for times and sizes. */
function measureBy(report: Report, name: string, subjects: readonly Subject[]): void {
  for (const group of subjects[0]?.tally.groups ?? []) {
    const questions = subjects[0]?.tally.questions(group) ?? 0;
    const figures = subjects.flatMap((subject) => prefixed(subject, subject.tally.percents(group)));
    report.measurement("sqlite", `${name}, ${group}`, 1, {
      questions,
      ...Object.fromEntries(figures),
    });
  }
  const costs = subjects.flatMap((subject) => prefixed(subject, costOf(subject)));
  report.measurement("sqlite", `${name}, cost`, 1, Object.fromEntries(costs));
}

/** Names of figures are bare for words alone. */
function prefixed({ name }: Subject, figures: Readonly<Record<string, number>>) {
  const prefix = { [FTS5]: "fts5 ", [MEANING]: "vectors " }[name] ?? "";
  return Object.entries(figures).map(([figure, value]) => [`${prefix}${figure}`, value] as const);
}

function costOf({ times, storeBytes, indexBytes }: Subject): Record<string, number> {
  return {
    p50Ms: times.percentile(50),
    p99Ms: times.percentile(99),
    storeMb: storeBytes / 1e6,
    ...(indexBytes === 0 ? {} : { indexMb: indexBytes / 1e6 }),
  };
}

function measureBars(report: Report, subjects: readonly Subject[]): void {
  const tallyOf = (wanted: string) => subjects.find(({ name }) => name === wanted)?.tally;
  const own = tallyOf(WORDS) as Tally;
  const fts5 = tallyOf(FTS5) as Tally;
  const figures = own.percents("all");
  for (const [figure, limit] of Object.entries(BARS)) {
    report.bar(`beam dev, ${figure}, percent`, figures[figure], limit, true);
  }
  const kinds = own.groups.filter((group) => /^[a-z_]+$/.test(group) && group !== "all");
  for (const kind of kinds) {
    const least = Math.floor(100 * (fts5.percents(kind)["R@10"] as number)) / 100;
    report.bar(`beam dev, ${kind}, R@10 beside FTS5's`, own.percents(kind)["R@10"], least, true);
  }
  const meaning = tallyOf(MEANING)?.percents("all")["R@10"];
  if (meaning === undefined) return;
  const gain = meaning - (figures["R@10"] as number);
  report.bar("beam dev, R@10 gained by vectors, points", gain, MIN_BY_MEANING, true);
}

function print(name: string, set: SetName, subjects: readonly Subject[]): void {
  printTable(name, COLUMNS[set], "", subjects);
  if (set === "locomo") printTable(`${name}, messages`, COLUMNS[set], OF_MESSAGES, subjects);
  for (const subject of subjects) {
    const costs = Object.entries(costOf(subject)).map(([key, value]) => `${key} ${cell(value)}`);
    console.log(`${subject.name}: ${costs.join(", ")}`);
  }
}

function printTable(
  title: string,
  columns: readonly string[],
  prefix: string,
  subjects: readonly Subject[],
): void {
  const widths = columns.map((column) => Math.max(8, column.length + 2));
  const row = (first: string, second: string, count: string, cells: readonly string[]) =>
    console.log(
      `${first.padEnd(27)}${second.padEnd(20)}${count.padStart(6)}${cells.map((each, i) => each.padStart(widths[i] as number)).join("")}`,
    );
  row(`${title}, percent`, "", "n", columns);
  for (const group of subjects[0]?.tally.groups ?? []) {
    for (const [i, { name, tally }] of subjects.entries()) {
      const percents = tally.percents(group);
      const cells = columns.map((column) => cell(percents[`${prefix}${column}`]));
      row(i === 0 ? group : "", name, i === 0 ? String(tally.questions(group)) : "", cells);
    }
  }
}

function cell(figure: number | undefined): string {
  return figure === undefined ? "–" : figure.toFixed(1);
}

/** Each session once, by its best message. */
function sessionsOf(found: readonly Found[]): string[] {
  return [...new Set(found.map(({ session }) => session))];
}

function messagesOf(found: readonly Found[]): string[] {
  return found.flatMap(({ message }) => message ?? []);
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
