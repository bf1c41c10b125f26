/** The scenarios of `bench adapters`, each run in a process of its own, on stores that survive power loss. */

import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type * as AiSdk from "../src/adapters/ai-sdk/index.ts";
import type * as LangGraph from "../src/adapters/langgraph/index.ts";
import {
  checkpointOf,
  JSON_SERDE,
  loadBuilt,
  mastraLibSql,
  SUBJECTS,
  type Subject,
  type SubjectName,
  toClaudeEntry,
} from "./adapter-subjects.ts";
import { open } from "./library.ts";
import { type Figures, peakRssMb, Timings } from "./measure.ts";

export interface AdapterTask {
  readonly address: string;
  readonly folder: string;
  readonly subject: SubjectName;
  readonly turns: number;
  /** The folder in which `@mastra/libsql` is installed, to compare with. */
  readonly mastra?: string;
}

/** Four entries of a turn have 8 KB. */
const ENTRIES = 4;
const TEXT = "why does the cron job run twice ".repeat(64);
const LOADED = 10_000;
const LOADED_AT_ONCE = 500;
const LOADS = 5;

/** A turn of an agent, beside the framework's own store. The second half of the turns counts. */
export async function turns(task: AdapterTask): Promise<Figures> {
  await using engine = await open(task.address);
  const ours = await timeTurns(await SUBJECTS[task.subject](engine), task.turns);
  // Afterwards: alternating syncs of two files wait for each other.
  const beside = await besideOf(task);
  if (beside === undefined) return { ...ours.figures(), rssMb: peakRssMb() };
  const besideP50Ms = (await timeTurns(beside, task.turns)).percentile(50);
  return { ...ours.figures(), besideP50Ms, rssMb: peakRssMb() };
}

/**
 * A load of 10,000 entries of 2 KB, beside the framework's own store. `cpuMs` is the CPU time of all
 * threads.
 */
export async function load(task: AdapterTask): Promise<Figures> {
  await using engine = await open(task.address);
  const ours = await timeLoads(await SUBJECTS[task.subject](engine));
  const beside = await besideOf(task);
  if (beside === undefined) return { ...ours, rssMb: peakRssMb() };
  const { loadMs: besideMs, cpuMs: besideCpuMs } = await timeLoads(beside);
  return { ...ours, besideMs, besideCpuMs, rssMb: peakRssMb() };
}

async function timeTurns(subject: Subject, count: number): Promise<Timings> {
  const timings = new Timings();
  for (let n = 0; n < count; n++) {
    const texts = Array.from({ length: ENTRIES }, (_, i) => `${n} ${i} ${TEXT}`);
    const time = n < count / 2 ? new Timings() : timings;
    await time.time(() => subject.append(texts));
  }
  return timings;
}

async function timeLoads(subject: Subject): Promise<{ loadMs: number; cpuMs: number }> {
  for (let n = 0; n < LOADED; n += LOADED_AT_ONCE) {
    await subject.append(Array.from({ length: LOADED_AT_ONCE }, (_, i) => `${n + i} ${TEXT}`));
  }
  const timings = new Timings();
  const before = process.cpuUsage();
  for (let run = 0; run < LOADS; run++) {
    const loaded = await timings.time(() => subject.load());
    if (loaded !== LOADED) throw new Error(`${loaded} entries were loaded`);
  }
  const { user, system } = process.cpuUsage(before);
  return { loadMs: timings.percentile(50), cpuMs: (user + system) / 1_000 / LOADS };
}

/** Claude's own store is a JSON Lines file. The other frameworks have none, or one in memory. */
async function besideOf(task: AdapterTask): Promise<Subject | undefined> {
  if (task.subject === "claude") return linesOf(join(task.folder, "beside.jsonl"));
  if (task.subject !== "mastra" || task.mastra === undefined) return undefined;
  return mastraLibSql(task.mastra, join(task.folder, `beside-${crypto.randomUUID()}.db`));
}

/** A new file, synced after each append. */
function linesOf(path: string): Subject {
  closeSync(openSync(path, "w"));
  return {
    append: async (texts) => {
      const lines = texts.map((text, i) => `${JSON.stringify(toClaudeEntry(text, i))}\n`);
      const file = openSync(path, "a");
      writeSync(file, lines.join(""));
      fdatasyncSync(file);
      closeSync(file);
    },
    load: async () => {
      const lines = readFileSync(path, "utf8").trimEnd().split("\n");
      return lines.map((line) => JSON.parse(line) as unknown).length;
    },
  };
}

/** Two checkpoints and their writes a turn, of a list that grows by two messages. */
export async function langGraphTurns(task: AdapterTask): Promise<Figures> {
  const { checkpointSaver } = await loadBuilt<typeof LangGraph>("langgraph");
  await using engine = await open(task.address);
  const saver = checkpointSaver(engine, { serde: JSON_SERDE, messages: null });
  const messages: unknown[] = [];
  const early = new Timings();
  const late = new Timings();
  let config: LangGraph.GraphConfig = { configurable: { thread_id: "t" } };
  for (let turn = 1; turn <= task.turns; turn++) {
    const isEarly = turn >= 10 && turn < 10 + WINDOW;
    const time = isEarly ? early : turn > task.turns - WINDOW ? late : new Timings();
    await time.time(async () => {
      for (const role of ["human", "ai"]) {
        const id = String(messages.length);
        messages.push({ type: role, id, content: TEXT.slice(0, 400) });
        const checkpoint = checkpointOf(messages);
        const metadata = { source: "loop", step: turn, parents: {} };
        config = await saver.put(config, checkpoint, metadata, checkpoint.channel_versions);
        await saver.putWrites(config, [["messages", messages.at(-1)]], "task");
      }
    });
  }
  const [earlyMs, lateMs] = [early.percentile(50), late.percentile(50)];
  return { tenthMs: earlyMs, lastMs: lateMs, ratio: lateMs / earlyMs, rssMb: peakRssMb() };
}

/** From a chunk of a stream to the reader on another node of the same store. */
export async function resumedStream(task: AdapterTask): Promise<Figures> {
  const { resumableStreams } = await loadBuilt<typeof AiSdk>("ai-sdk");
  await using engine = await open(task.address);
  await using other = await open(task.address);
  const producer = await resumableStreams(engine).start("chat");
  const chunks = async function* () {
    for (let n = 0; n < task.turns; n++) {
      // Coprime to the flush and poll intervals.
      await sleep(37);
      yield { type: "data-time", at: performance.now() };
    }
  };
  const writing = (async () => {
    for await (const _ of producer.pipe(ReadableStream.from(chunks())));
  })();
  const delays: number[] = [];
  for await (const chunk of (await resumableStreams(other).resume("chat")) ?? []) {
    const { at } = chunk as unknown as { readonly at?: number };
    if (at !== undefined) delays.push(performance.now() - at);
  }
  await writing;
  delays.sort((a, b) => a - b);
  const at = (share: number) => delays[Math.floor(share * delays.length)] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99), chunks: delays.length };
}

/** Turns around the 10th and up to the last one of which the median counts. */
const WINDOW = 40;
