/**
 * `bench recall`: how often a search finds the right session: on labelled conversations, beside
 * SQLite's FTS5 in the same run, or on an archive of transcripts.
 */

import { basename } from "node:path";
import { localEmbedder } from "../src/providers/embedding/local-embedder.ts";
import { PROFILES } from "../src/search/score/profile.ts";
import { KeptVectors } from "./kept-vectors.ts";
import { type BenchOptions, Report } from "./measure.ts";
import { recallOfScan } from "./nearest-recall.ts";
import { paraphraseData } from "./paraphrase-data.ts";
import { isArchiveFolder, measureArchive } from "./recall-archive.ts";
import { type LabelledData, readLabelledData } from "./recall-data.ts";
import { makeDistractors } from "./recall-distractors.ts";
import { RecallStore } from "./recall-engine.ts";
import { differenceBounds, FIGURES, type Gains, mean, measureGains } from "./recall-figures.ts";
import { type Fts5Kind, Fts5Ranker } from "./recall-fts5.ts";

export interface RecallOptions {
  /**
   * A folder with `sessions.jsonl` and `questions.jsonl`, or with `transcripts/` and `commits.json` or
   * `needles.json`; `paraphrases`: questions that share no content word with their answers.
   */
  readonly data: string;
  /** `own`: only the question's conversation is searched. `all`: the whole folder. */
  readonly haystack: "own" | "all";
  readonly profile: keyof typeof PROFILES;
  /** Distractor messages. */
  readonly distractors: number;
  /** `local`: the model that runs without a server, from the packages of the working directory. */
  readonly embedder?: "local";
  /** Where vectors are kept from one run to the next. */
  readonly vectors?: string;
}

/** In place of a folder. */
const PARAPHRASES = "paraphrases";

type Bars = Partial<Record<(typeof FIGURES)[number], number>>;

/** Minimum figures of the default profile, in percent, by name of the folder and haystack. */
const BARS: readonly (readonly [name: RegExp, haystack: "own" | "all", bars: Bars])[] = [
  [/^locomo/, "own", { "hit@1": 75.2, "hit@3": 88, "hit@5": 93.4, "R@10": 70 }],
  [/^locomo/, "all", { "hit@1": 74.2, "hit@5": 92.8 }],
  [/^coding/, "all", { "hit@1": 54.8, "hit@3": 68, "hit@5": 76.5 }],
];

/** The same with vectors. */
const BARS_BY_MEANING: typeof BARS = [
  [/^locomo/, "own", { "hit@1": 76, "hit@5": 94 }],
  [/^locomo/, "all", { "hit@1": 75, "hit@5": 93.5 }],
  [/^coding/, "all", { "hit@1": 56, "hit@5": 79 }],
  [/^paraphrases$/, "all", { "hit@3": 70 }],
];

/** Maximum hit@3 of paraphrases by words alone, in percent: more would mean shared words. */
const MAX_BY_WORDS = 25;

/** Maximum loss of the candidate pass against ranking every session, in points. */
const MAX_LOSS = 2;

export async function benchRecall({ recall }: BenchOptions): Promise<boolean> {
  if (recall === undefined) {
    console.error("recall needs --data FOLDER");
    return false;
  }
  const report = new Report("recall");
  const { data: folder, profile, embedder: kind, vectors } = recall;
  const embedder = kind === undefined ? undefined : new KeptVectors(localEmbedder(), vectors);
  try {
    if (isArchiveFolder(folder)) {
      await measureArchive(report, folder, PROFILES[profile], profile === "default", embedder);
    } else {
      const data = folder === PARAPHRASES ? paraphraseData() : readLabelledData(folder);
      if (recall.distractors > 0) await measureLoss(report, data, recall);
      else await measureRecall(report, data, recall, embedder);
    }
    if (embedder !== undefined) measureNearest(report, embedder);
  } finally {
    await embedder?.close();
  }
  return report.met;
}

/** Recall of quantised vectors against floats, with every tenth text as a query. */
function measureNearest(report: Report, { asked }: KeptVectors): void {
  const vectors = [...asked.values()];
  const queries = vectors.filter((_, i) => i % 10 === 0);
  report.bar(
    "recall@20 of real vectors against floats",
    recallOfScan(vectors, queries),
    0.97,
    true,
  );
}

async function measureRecall(
  report: Report,
  data: LabelledData,
  options: RecallOptions,
  embedder: KeptVectors | undefined,
): Promise<void> {
  const { sessions, questions } = data;
  const { haystack, profile } = options;
  const store = await RecallStore.fill(sessions, embedder);
  const own = await measureGains(store.ranker(PROFILES[profile], haystack), questions);
  const words = { ...PROFILES[profile], meaning: 0 };
  const byWords =
    embedder === undefined ? own : await measureGains(store.ranker(words, haystack), questions);
  await store.close();
  const porter = await measureFts5(data, "porter", haystack);
  const plain = await measureFts5(data, "plain", haystack);

  console.log(`${basename(options.data)}, ${haystack}, ${questions.length} questions, percent`);
  printRow("", [...FIGURES]);
  printRow(`backscroll, ${profile}`, percents(own));
  if (embedder !== undefined) printRow("backscroll, words alone", percents(byWords));
  printRow("FTS5 porter, stop-words dropped", percents(porter));
  printRow("FTS5 plain", percents(plain));
  const bounds = FIGURES.map((name) => differenceBounds(own[name], porter[name]));
  printRow(
    "difference to FTS5 porter, from",
    bounds.map(([low]) => cell(low)),
  );
  printRow(
    "to (95 %)",
    bounds.map(([, high]) => cell(high)),
  );

  const figures = (gains: Gains) => Object.fromEntries(FIGURES.map((f) => [f, mean(gains[f])]));
  report.measurement("sqlite", `${basename(options.data)} ${haystack} ${profile}`, 1, {
    ...figures(own),
    ...Object.fromEntries(FIGURES.map((f) => [`fts5 ${f}`, mean(porter[f])])),
    ...Object.fromEntries(
      FIGURES.map((f, i) => [`${f} over fts5, low`, bounds[i]?.[0] ?? Number.NaN]),
    ),
  });
  if (profile !== "default") return;
  const all = embedder === undefined ? BARS : BARS_BY_MEANING;
  const bars = all.find(([name, kind]) => name.test(basename(options.data)) && kind === haystack);
  for (const [name, limit] of Object.entries(bars?.[2] ?? {})) {
    report.bar(`${name}, percent`, mean(own[name as keyof Gains]), limit, true);
  }
  if (options.data === PARAPHRASES) {
    const least = "hit@3 of words alone, percent";
    report.bar(least, mean(byWords["hit@3"]), MAX_BY_WORDS);
  }
  report.bar("hit@1 over FTS5, lower 95 % bound, points", bounds[0]?.[0], 0, true);
}

async function measureFts5(
  { sessions, questions }: LabelledData,
  kind: Fts5Kind,
  haystack: "own" | "all",
): Promise<Gains> {
  const fts5 = new Fts5Ranker(sessions, kind, haystack);
  const gains = await measureGains(fts5, questions);
  fts5.close();
  return gains;
}

/** The loss of re-ranking only the best candidates, in a store full of other sessions. */
async function measureLoss(
  report: Report,
  { sessions, questions }: LabelledData,
  options: RecallOptions,
): Promise<void> {
  const { haystack, distractors } = options;
  const profile = PROFILES[options.profile];
  const store = await RecallStore.fill([...sessions, ...makeDistractors(sessions, distractors)]);
  const pass = await measureGains(store.ranker(profile, haystack), questions);
  const exact = await measureGains(
    store.ranker({ ...profile, candidates: Number.POSITIVE_INFINITY }, haystack),
    questions,
  );
  await store.close();
  console.log(
    `${basename(options.data)}, ${haystack}, among ${distractors} other messages, percent`,
  );
  printRow("", [...FIGURES]);
  printRow(`best ${profile.candidates} sessions`, percents(pass));
  printRow("every session", percents(exact));
  for (const name of FIGURES) {
    if (Number.isNaN(mean(pass[name]))) continue;
    report.bar(
      `${name} lost to the candidate pass, points`,
      mean(exact[name]) - mean(pass[name]),
      MAX_LOSS,
    );
  }
}

function percents(gains: Gains): string[] {
  return FIGURES.map((name) => cell(mean(gains[name])));
}

function cell(figure: number): string {
  return Number.isNaN(figure) ? "–" : figure.toFixed(1);
}

function printRow(name: string, cells: readonly string[]): void {
  console.log(`${name.padEnd(34)}${cells.map((cell) => cell.padStart(8)).join("")}`);
}
