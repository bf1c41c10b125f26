/** The scenarios of `bench search`, each run in a process of its own and through the public API. */

import type { Engine, SearchInput } from "../src/index.ts";
import { open } from "./library.ts";
import { type Figures, peakRssMb, Timings } from "./measure.ts";
import { type QueryClass, SearchCorpus } from "./search-corpus.ts";
import { AGENTS, PROJECTS, startOf } from "./search-fill.ts";

/** `time`: the newer half of the corpus. */
export type Filter = "none" | "agent" | "project" | "session" | "time";

export interface QueryTask {
  readonly address: string;
  readonly kind: QueryClass;
  readonly ranking: "plain" | "default";
  readonly filter: Filter;
  /** Sessions of the corpus. */
  readonly sessions: number;
  readonly cacheMb: number;
  readonly warmUp: number;
  readonly count: number;
}

/** Searches end to end: 20 hits with their windows. */
export async function queries(task: QueryTask): Promise<Figures> {
  await using engine = await open(task.address, { indexing: { cacheBytes: task.cacheMb * 1e6 } });
  const corpus = new SearchCorpus(task.kind.length);
  const input: SearchInput = { limit: 20, ranking: task.ranking };
  const { sessions } = await engine.listSessions({ limit: 100 });
  const filterInput = (): SearchInput => {
    switch (task.filter) {
      case "none":
        return {};
      case "agent":
        return { agent: `agent-${corpus.below(AGENTS)}` };
      case "project":
        return { project: `project-${corpus.below(PROJECTS)}` };
      case "session":
        return { session: (sessions[corpus.below(sessions.length)] as { id: string }).id };
      case "time":
        return { since: startOf(task.sessions / 2) };
    }
  };
  const ask = () => ({
    query: corpus.query(task.kind),
    options: { ...input, ...filterInput() },
  });
  let hits = 0;
  const run = async (timings: Timings) => {
    const { query, options } = ask();
    const result = await timings.time(() => engine.searchSessions(query, options));
    if (result.degraded || result.indexing || result.partial)
      throw new Error("an incomplete answer");
    hits += result.hits.length;
  };
  const first = performance.now();
  await run(new Timings());
  const firstMs = performance.now() - first;
  for (let i = 0; i < task.warmUp; i++) await run(new Timings());
  hits = 0;
  const timings = new Timings();
  for (let i = 0; i < task.count; i++) await run(timings);
  const { p50Ms, p99Ms } = timings.figures();
  return { p50Ms, p99Ms, firstMs, hits: hits / task.count, rssMb: peakRssMb() };
}

export interface OverheadTask {
  readonly indexed: string;
  readonly plain: string;
  readonly count: number;
}

/** Appends to a store with automatic indexing, each next to one without. */
export async function appendOverhead(task: OverheadTask): Promise<Figures> {
  await using indexed = await open(task.indexed, { durability: "process" });
  await using plain = await open(task.plain, { durability: "process", indexing: { flushAt: 0 } });
  const sessions = await Promise.all([indexed, plain].map((engine) => newSession(engine)));
  const corpus = new SearchCorpus(9);
  const timings = [new Timings(), new Timings()];
  const texts = [...corpus.messages(task.count + 500)].map(({ text }) => text);
  for (const [i, content] of texts.entries()) {
    for (const [j, session] of sessions.entries()) {
      const kept = i < 500 ? new Timings() : (timings[j] as Timings);
      await kept.time(() => session.append({ role: "user", actor: "bench", content }));
    }
  }
  const [withIndex, without] = timings as [Timings, Timings];
  return {
    p50Ms: withIndex.percentile(50),
    p99Ms: withIndex.percentile(99),
    plainP50Ms: without.percentile(50),
    plainP99Ms: without.percentile(99),
    addedP50Ms: withIndex.percentile(50) - without.percentile(50),
    addedP99Ms: withIndex.percentile(99) - without.percentile(99),
  };
}

function newSession(engine: Engine) {
  return engine.createSession({ agent: "bench", createdBy: "bench" });
}
