/** The scenarios of `bench adapters`, each run in a process of its own, on stores that survive power loss. */

import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type * as AiSdk from "../src/adapters/ai-sdk/index.ts";
import type * as Claude from "../src/adapters/claude-agent-sdk/index.ts";
import type * as LangGraph from "../src/adapters/langgraph/index.ts";
import type * as OpenAi from "../src/adapters/openai-agents/index.ts";
import { open } from "./library.ts";
import { type Figures, peakRssMb, Timings } from "./measure.ts";

export interface AdapterTask {
  readonly address: string;
  readonly folder: string;
  readonly turns: number;
}

/** Four entries of a turn have 8 KB. */
const ENTRIES = 4;
const TEXT = "why does the cron job run twice ".repeat(64);
const LOADED = 10_000;
const LOADED_AT_ONCE = 500;

async function loadBuilt<Module>(path: string): Promise<Module> {
  return (await import(
    new URL(`../dist/adapters/${path}/index.js`, import.meta.url).href
  )) as Module;
}

/** A turn of the Claude Agent SDK, beside the same lines appended to a file and synced. */
export async function claudeTurns(task: AdapterTask): Promise<Figures> {
  const { claudeSessionStore } = await loadBuilt<typeof Claude>("claude-agent-sdk");
  await using engine = await open(task.address);
  const store = claudeSessionStore(engine);
  const key = { projectKey: "p", sessionId: "s" };
  const turn = (n: number) =>
    Array.from({ length: ENTRIES }, (_, i) => {
      const role = i % 2 === 0 ? "user" : "assistant";
      const message = { role, content: `${n} ${i} ${TEXT}` };
      return { type: role, uuid: crypto.randomUUID(), sessionId: "s", message };
    });
  const ours = new Timings();
  for (let n = 0; n < task.turns; n++) {
    const entries = turn(n);
    const time = n < task.turns / 2 ? new Timings() : ours;
    await time.time(() => store.append(key, entries));
  }
  // Afterwards, because two files that are synced in turns wait for each other.
  const file = openSync(join(task.folder, "beside.jsonl"), "w");
  const beside = new Timings();
  for (let n = 0; n < task.turns; n++) {
    const lines = turn(n).map((entry) => `${JSON.stringify(entry)}\n`);
    beside.timeSync(() => {
      writeSync(file, lines.join(""));
      fdatasyncSync(file);
    });
  }
  closeSync(file);
  return { ...ours.figures(), fileP50Ms: beside.percentile(50), rssMb: peakRssMb() };
}

/** Loads 10,000 entries of 400 bytes, beside a file with the same lines. */
export async function claudeLoad(task: AdapterTask): Promise<Figures> {
  const { claudeSessionStore } = await loadBuilt<typeof Claude>("claude-agent-sdk");
  await using engine = await open(task.address);
  const store = claudeSessionStore(engine);
  const key = { projectKey: "p", sessionId: "s" };
  const path = join(task.folder, "loaded.jsonl");
  const file = openSync(path, "w");
  for (let n = 0; n < LOADED; n += LOADED_AT_ONCE) {
    const entries = Array.from({ length: LOADED_AT_ONCE }, (_, i) => {
      const message = { role: "user", content: `${n + i} ${TEXT.slice(0, 250)}` };
      return { type: "user", uuid: crypto.randomUUID(), sessionId: "s", message };
    });
    await store.append(key, entries);
    writeSync(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  }
  closeSync(file);
  const ours = new Timings();
  const beside = new Timings();
  for (let run = 0; run < 5; run++) {
    const loaded = await ours.time(() => store.load(key));
    if (loaded?.length !== LOADED) throw new Error(`${loaded?.length} entries were loaded`);
    beside.timeSync(() => {
      for (const line of readFileSync(path, "utf8").trimEnd().split("\n")) JSON.parse(line);
    });
  }
  return { loadMs: ours.percentile(50), fileMs: beside.percentile(50), rssMb: peakRssMb() };
}

export async function openAiTurns(task: AdapterTask): Promise<Figures> {
  const { agentsSession } = await loadBuilt<typeof OpenAi>("openai-agents");
  await using engine = await open(task.address);
  const session = agentsSession(engine, { sessionId: "s" });
  const ours = new Timings();
  for (let n = 0; n < task.turns; n++) {
    const items = Array.from({ length: ENTRIES }, (_, i) => ({
      role: "user",
      content: `${n} ${i} ${TEXT}`,
    }));
    const time = n < task.turns / 2 ? new Timings() : ours;
    await time.time(() => session.addItems(items));
  }
  return { ...ours.figures(), rssMb: peakRssMb() };
}

/**
 * Two checkpoints and their writes a turn, of a list that grows by two messages. Plain JSON stands for
 * LangGraph's serializer: what is measured is the store.
 */
export async function langGraphTurns(task: AdapterTask): Promise<Figures> {
  const { checkpointSaver } = await loadBuilt<typeof LangGraph>("langgraph");
  await using engine = await open(task.address);
  const serde: LangGraph.Serializer = {
    dumpsTyped: async (value) => ["json", Buffer.from(JSON.stringify(value ?? null))],
    loadsTyped: async (_type, bytes) => JSON.parse(Buffer.from(bytes as Uint8Array).toString()),
  };
  const saver = checkpointSaver(engine, { serde, messages: null });
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
        const checkpoint = {
          v: 4,
          id: String(messages.length).padStart(9, "0"),
          ts: new Date().toISOString(),
          channel_values: { messages: [...messages] },
          channel_versions: { messages: messages.length },
          versions_seen: {},
        };
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
      // No multiple of the intervals at which producers flush and readers poll.
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
