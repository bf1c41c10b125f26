/** The scenarios of `bench vectors`, each in its own process and through the public API. */

import type { Embedder, SearchInput } from "../src/index.ts";
import { open } from "./library.ts";
import { type Figures, peakRssMb, Timings } from "./measure.ts";
import { SearchCorpus } from "./search-corpus.ts";
import { AGENTS, PROJECTS, startOf } from "./search-fill.ts";
import type { Filter } from "./search-scenarios.ts";
import { Best, DIMENSIONS, dot, VectorCorpus } from "./vector-corpus.ts";

/** Queries whose nearest vectors are found by brute force over floats. */
const EXACT_QUERIES = 40;
const NEAREST = 20;
const NAME = "synthetic";
/** The engine's probe text for the size of vectors. */
const PROBE = "backscroll";
/** Words without even a near match, so that vectors alone decide. */
const EXACT_WORDS = Array.from(
  { length: EXACT_QUERIES },
  (_, i) => `zzyzx${String.fromCharCode(97 + (i % 26), 97 + Math.floor(i / 26))}qqq`,
);

export interface EmbedTask {
  readonly address: string;
  readonly messages: number;
}

/** Embeds every message; resumes an interrupted run. */
export async function embedCorpus({ address }: EmbedTask): Promise<Figures> {
  const corpus = new VectorCorpus();
  let next = 0;
  const embedder: Embedder = {
    name: NAME,
    dimensions: DIMENSIONS,
    embed: async (texts) => texts.map((text) => corpus.vector(text === PROBE ? 0 : next++)),
  };
  await using engine = await open(address, { embedder });
  // Vectors are made in the order of the messages.
  const { vectors: before } = await engine.indexStatus();
  next = before?.vectors ?? 0;
  const start = performance.now();
  const cpu = process.cpuUsage();
  const { vectors: made } = await engine.embedStored();
  const seconds = (performance.now() - start) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  const { vectors } = await engine.indexStatus();
  if (vectors === null) throw new Error("nothing was embedded");
  return {
    vectors: vectors.vectors,
    vectorsPerSecond: made / seconds,
    cpuMicrosecondsPerVector: (user + system) / made,
    segments: vectors.segments,
    bytesPerVector: vectors.bytes / vectors.vectors,
    rssMb: peakRssMb(),
  };
}

/** The share of the exact nearest vectors (brute force over floats) that a search finds. */
export async function recallOfNearest({ address, messages }: EmbedTask): Promise<Figures> {
  const corpus = new VectorCorpus();
  const queries = EXACT_WORDS.map((_, i) => corpus.query(i));
  const nearest = queries.map(() => new Best(NEAREST));
  for (let number = 0; number < messages; number++) {
    const vector = corpus.vector(number);
    for (const [i, query] of queries.entries()) nearest[i]?.add(number, dot(query, vector));
  }
  const exact = nearest.map((best) => best.numbers());
  const texts = textsOf(new Set(exact.flat()), messages);
  const embedder: Embedder = {
    name: NAME,
    dimensions: DIMENSIONS,
    embed: async (given) => given.map((text) => queries[EXACT_WORDS.indexOf(text)] as Float32Array),
  };
  await using engine = await open(address, { embedder, embedDeadlineMs: 60_000 });
  let found = 0;
  for (const [i, query] of EXACT_WORDS.entries()) {
    const options = { limit: NEAREST, perSession: NEAREST, contextBefore: 0, contextAfter: 0 };
    const { hits } = await engine.searchSessions(query, { ...options, deadlineMs: 60_000 });
    const snippets = new Set(hits.map(({ window }) => window[0]?.snippet));
    found += exact[i]?.filter((number) => snippets.has(texts.get(number))).length ?? 0;
  }
  return { recall: found / (NEAREST * EXACT_QUERIES) };
}

function textsOf(numbers: ReadonlySet<number>, messages: number): ReadonlyMap<number, string> {
  const texts = new Map<number, string>();
  let number = 0;
  for (const { text } of new SearchCorpus(1).messages(messages)) {
    if (numbers.has(number)) texts.set(number, text);
    number++;
  }
  return texts;
}

export interface HybridTask {
  readonly address: string;
  /** Without: by words alone. */
  readonly meaning: boolean;
  readonly filter: Filter;
  readonly sessions: number;
  readonly cacheMb: number;
  readonly warmUp: number;
  readonly count: number;
}

/** Questions of ten words whose vectors are there at once: 20 hits with their windows. */
export async function hybridQueries(task: HybridTask): Promise<Figures> {
  const words = new SearchCorpus(8);
  const corpus = new VectorCorpus();
  let asked = 0;
  const embedder: Embedder = {
    name: NAME,
    dimensions: DIMENSIONS,
    embed: async (texts) => texts.map(() => corpus.query(++asked)),
  };
  const indexing = { cacheBytes: task.cacheMb * 1e6 };
  await using engine = await open(task.address, { embedder, indexing });
  const { sessions } = await engine.listSessions({ limit: 100 });
  const filters: Readonly<Record<Filter, () => SearchInput>> = {
    none: () => ({}),
    agent: () => ({ agent: `agent-${words.below(AGENTS)}` }),
    project: () => ({ project: `project-${words.below(PROJECTS)}` }),
    session: () => ({ session: (sessions[words.below(sessions.length)] as { id: string }).id }),
    time: () => ({ since: startOf(task.sessions / 2) }),
  };
  const run = async (timings: Timings) => {
    const ranking = task.meaning ? {} : { meaning: 0 };
    const input: SearchInput = {
      limit: 20,
      deadlineMs: 10_000,
      ranking,
      ...filters[task.filter](),
    };
    const query = words.query("question");
    const result = await timings.time(() => engine.searchSessions(query, input));
    const isAlone = result.notes.some((note) => note.startsWith("Words alone"));
    if (result.degraded || result.indexing || result.partial || isAlone)
      throw new Error(`an incomplete answer: ${result.notes.join(" ")}`);
  };
  const first = new Timings();
  await run(first);
  for (let i = 0; i < task.warmUp; i++) await run(new Timings());
  const timings = new Timings();
  const cpu = process.cpuUsage();
  for (let i = 0; i < task.count; i++) await run(timings);
  const { user, system } = process.cpuUsage(cpu);
  const { p50Ms, p99Ms } = timings.figures();
  return {
    p50Ms,
    p99Ms,
    firstMs: first.percentile(50),
    cpuMs: (user + system) / 1_000 / task.count,
    rssMb: peakRssMb(),
  };
}
