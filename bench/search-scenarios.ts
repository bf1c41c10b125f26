/** The scenarios of `bench search`, each run in a process of its own and through the public API. */

import type { Engine, SearchInput } from "../src/index.ts";
import { open } from "./library.ts";
import { type Figures, peakRssMb, Timings } from "./measure.ts";
import { type QueryClass, SearchCorpus } from "./search-corpus.ts";

export interface FillTask {
  readonly address: string;
  readonly messages: number;
  /** Everything on one thread, so on one core. */
  readonly inThread: boolean;
}

const BATCH = 100;
const PROJECTS = 50;

/** Appends the corpus in batches, and waits until all of it is in segments. */
export async function fill(task: FillTask): Promise<Figures> {
  const options = { durability: "process", inThread: task.inThread } as const;
  await using engine = await open(task.address, options);
  let textBytes = 0;
  let sessions = 0;
  let madeMs = 0;
  let madeCpu = 0;
  const start = performance.now();
  const cpu = process.cpuUsage();
  const corpus = bySession(new SearchCorpus(1).messages(task.messages));
  for (;;) {
    const before = performance.now();
    const cpuBefore = process.threadCpuUsage();
    const next = corpus.next();
    madeMs += performance.now() - before;
    madeCpu += sum(process.threadCpuUsage(cpuBefore));
    if (next.done) break;
    const { session, messages } = next.value;
    sessions++;
    const handle = await engine.createSession({
      agent: `agent-${session % 5}`,
      createdBy: "bench",
      origin: { projectId: `project-${session % PROJECTS}` },
      startedAt: Date.UTC(2026, 0, 1) + session * 60_000,
    });
    for (let i = 0; i < messages.length; i += BATCH) {
      const batch = messages.slice(i, i + BATCH);
      for (const { text } of batch) textBytes += Buffer.byteLength(text);
      await handle.append(batch.map(({ role, text }) => ({ role, actor: role, content: text })));
    }
  }
  await engine.maintainIndex("flush");
  await engine.maintainIndex("merge");
  // Making the texts up is not our work.
  const seconds = (performance.now() - start - madeMs) / 1_000;
  const cpuMicroseconds = sum(process.cpuUsage(cpu)) - madeCpu;
  const { bytes, positionBytes, segments } = await engine.indexStatus();
  return {
    messages: task.messages,
    sessions,
    messagesPerSecond: task.messages / seconds,
    // Of all threads. On a machine with other work this says more than the time that passed.
    cpuMicrosecondsPerMessage: cpuMicroseconds / task.messages,
    textMb: textBytes / 1e6,
    indexMb: bytes / 1e6,
    indexOfText: bytes / textBytes,
    indexOfTextWithoutPositions: (bytes - positionBytes) / textBytes,
    segments,
    rssMb: peakRssMb(),
  };
}

function sum({ user, system }: NodeJS.CpuUsage): number {
  return user + system;
}

function* bySession(
  messages: Iterable<{ session: number; role: "user" | "assistant"; text: string }>,
) {
  let current:
    | { session: number; messages: { role: "user" | "assistant"; text: string }[] }
    | undefined;
  for (const message of messages) {
    if (current?.session !== message.session) {
      if (current !== undefined) yield current;
      current = { session: message.session, messages: [] };
    }
    current.messages.push(message);
  }
  if (current !== undefined) yield current;
}

export interface QueryTask {
  readonly address: string;
  readonly kind: QueryClass;
  readonly ranking: "seed" | "default";
  readonly filtered: boolean;
  readonly cacheMb: number;
  readonly warmUp: number;
  readonly count: number;
}

/** Searches end to end: 20 hits with their windows. */
export async function queries(task: QueryTask): Promise<Figures> {
  await using engine = await open(task.address, { indexing: { cacheBytes: task.cacheMb * 1e6 } });
  const corpus = new SearchCorpus(task.kind.length);
  const input: SearchInput = { limit: 20, ranking: task.ranking };
  const ask = () => ({
    query: corpus.query(task.kind),
    options: task.filtered ? { ...input, project: `project-${corpus.below(PROJECTS)}` } : input,
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

/** Appends to a store that keeps its index up, each next to one to a store that does not. */
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
