/**
 * Recall on a real archive: transcripts are ingested into a fresh store and each query is searched,
 * with defaults.
 */

import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { ingest } from "../src/archive/index.ts";
import { type Engine, open } from "../src/index.ts";
import type { RankingProfile } from "../src/search/score/profile.ts";
import type { KeptVectors } from "./kept-vectors.ts";
import type { Report } from "./measure.ts";
import { patientOptions } from "./recall-engine.ts";

/** A query, and the agents' own ids of its right sessions. */
interface ArchiveQuery {
  readonly kind: string;
  readonly query: string;
  readonly gold: readonly string[];
}

const QUERY_FILES = ["commits.json", "needles.json"] as const;

/** Minimum hit@1 and hit@5, in percent, by kind of query. */
const BARS: Readonly<Record<string, readonly [number, number]>> = {
  commit: [57, 79],
  path: [85, 97],
  command: [75, 92],
  error: [75, 92],
  identifier: [90, 97],
};
/** The same with vectors of the local model. */
const BARS_BY_MEANING: typeof BARS = { commit: [59, 81] };
/** The maximum loss by vectors where the words match. */
const MAX_LOST_POINTS = 1;
/** The maximum size of the index, and of the store with it, in percent of the transcripts. */
const MAX_INDEX_PERCENT = 9;
const MAX_STORE_PERCENT = 28;

export function isArchiveFolder(folder: string): boolean {
  return existsSync(join(folder, "transcripts"));
}

/** `folder` has `transcripts/`, and `commits.json` or `needles.json` or both. */
export async function measureArchive(
  report: Report,
  folder: string,
  profile: RankingProfile,
  hasBars: boolean,
  embedder?: KeptVectors,
): Promise<void> {
  const queries = QUERY_FILES.map((name) => join(folder, name))
    .filter((path) => existsSync(path))
    .flatMap((path) => JSON.parse(readFileSync(path, "utf8")) as ArchiveQuery[]);
  const work = await mkdtemp(join(tmpdir(), "backscroll-recall-"));
  const address = join(work, "archive.db");
  try {
    const sourceBytes = await ingestArchive(address, join(folder, "transcripts"));
    await using engine = await open(address, patientOptions(embedder));
    if (embedder !== undefined) await engine.embedStored();
    const { bytes: indexBytes } = await engine.indexStatus();
    const ids = await ownIds(engine);
    const ranks: [kind: string, rank: number][] = [];
    const wordRanks: [kind: string, rank: number][] = [];
    for (const query of queries) {
      ranks.push([query.kind, await rankOf(engine, ids, query, profile)]);
      if (embedder === undefined) continue;
      const words = { ...profile, meaning: 0 };
      wordRanks.push([query.kind, await rankOf(engine, ids, query, words)]);
    }
    const storeBytes = sizeOf(address) + sizeOf(`${address}-index`);
    const share = (bytes: number) => (100 * bytes) / sourceBytes;
    const figures: Record<string, number> = {};
    const byWords = hitsByKind(wordRanks);
    for (const [kind, own] of hitsByKind(ranks)) {
      figures[`${kind} hit@1`] = own.first;
      figures[`${kind} hit@5`] = own.fifth;
      const words = byWords.get(kind);
      const beside =
        words === undefined
          ? ""
          : `; by words ${words.first.toFixed(1)}, ${words.fifth.toFixed(1)}`;
      console.log(
        `${kind.padEnd(14)}${String(own.queries).padStart(5)} queries, hit@1 ${own.first.toFixed(1)}, hit@5 ${own.fifth.toFixed(1)}${beside}`,
      );
      if (!hasBars || words === undefined) continue;
      report.bar(`${kind} hit@1 lost to vectors, points`, words.first - own.first, MAX_LOST_POINTS);
      report.bar(`${kind} hit@5 lost to vectors, points`, words.fifth - own.fifth, MAX_LOST_POINTS);
    }
    figures["index, percent of the source"] = share(indexBytes);
    figures["store and index, percent of the source"] = share(storeBytes);
    report.measurement("sqlite", `${basename(folder)} archive`, 1, figures);
    if (!hasBars) return;
    const bars = embedder === undefined ? BARS : { ...BARS, ...BARS_BY_MEANING };
    for (const [kind, [first, fifth]] of Object.entries(bars)) {
      if (figures[`${kind} hit@1`] === undefined) continue;
      report.bar(`${kind} hit@1, percent`, figures[`${kind} hit@1`], first, true);
      report.bar(`${kind} hit@5, percent`, figures[`${kind} hit@5`], fifth, true);
    }
    if (embedder !== undefined) return;
    report.bar("index, percent of the source", share(indexBytes), MAX_INDEX_PERCENT);
    report.bar("store and index, percent of the source", share(storeBytes), MAX_STORE_PERCENT);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

interface Hits {
  readonly queries: number;
  /** hit@1 and hit@5 in percent. */
  readonly first: number;
  readonly fifth: number;
}

function hitsByKind(
  ranks: readonly (readonly [kind: string, rank: number])[],
): ReadonlyMap<string, Hits> {
  const hits = new Map<string, Hits>();
  for (const [kind, own] of Map.groupBy(ranks, ([name]) => name)) {
    const hit = (k: number) =>
      (100 * own.filter(([, rank]) => rank >= 0 && rank < k).length) / own.length;
    hits.set(kind, { queries: own.length, first: hit(1), fifth: hit(5) });
  }
  return hits;
}

/** Gives the bytes of the transcripts. */
async function ingestArchive(address: string, transcripts: string): Promise<number> {
  await using engine = await open(address, { durability: "process" });
  await ingest(engine, {
    environment: { home: transcripts, variables: { WORKSTATION_ID: "bench" }, platform: "linux" },
    paths: [transcripts],
    // The bars are those of derived sessions, without original bytes.
    originals: false,
  });
  await engine.maintainIndex("flush");
  await engine.maintainIndex("maintain");
  return globSync(join(transcripts, "**/*")).reduce((sum, file) => sum + sizeOf(file), 0);
}

/** From our ids to those that the agents gave. */
async function ownIds(engine: Engine): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  for (let cursor: string | undefined; ; ) {
    const page = await engine.listSessions({
      machineMade: true,
      limit: 100,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const { id, origin } of page.sessions) ids.set(id, origin?.key ?? "");
    if (page.nextCursor === null || page.nextCursor === undefined) return ids;
    cursor = page.nextCursor;
  }
}

/** -1: not among the first ten. */
async function rankOf(
  engine: Engine,
  ids: ReadonlyMap<string, string>,
  { query, gold }: ArchiveQuery,
  ranking: RankingProfile,
): Promise<number> {
  const { hits } = await engine.searchSessions(query, { ranking });
  return hits.findIndex(({ sessionId }) => gold.some((id) => ids.get(sessionId)?.includes(id)));
}

function sizeOf(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isFile() ? stat.size : 0;
}
