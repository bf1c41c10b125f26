/**
 * The scenarios of `bench append`, each in its own process and through the public API.
 *
 * A message has 70 words, about 400 bytes: a usual turn.
 */

import { closeSync, fdatasyncSync, openSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { type Durability, type Engine, type MessageInput, open } from "../src/index.ts";
import { findLoss } from "../src/store/sqlite/opening/look-at-log.ts";
import { type Figures, peakRssMb, Timings } from "./measure.ts";
import { Words } from "./synthetic.ts";

const WORDS = 70;
const PAGE = 50;

export interface AppendTask {
  readonly address: string;
  readonly durability: Durability;
  /** False: no indexing, to measure the store alone. */
  readonly indexing?: boolean;
  readonly warmUp: number;
  readonly count: number;
  /** Where the bare file is written. */
  readonly folder: string;
}

/** One appender that waits for each append. */
export async function appendOne(task: AppendTask): Promise<Figures> {
  await using engine = await open(task.address, { durability: task.durability });
  const session = await newSession(engine);
  const messages = messageSource();
  const first = new Timings();
  for (let i = 0; i < task.warmUp; i++) {
    const message = messages();
    await first.time(() => session.append(message));
  }
  const timings = new Timings();
  for (let i = 0; i < task.count; i++) {
    const message = messages();
    await timings.time(() => session.append(message));
  }
  return { ...timings.figures(), warmUpP50Ms: first.percentile(50), rssMb: peakRssMb() };
}

/** The same, each append next to a bare write and fdatasync of the same text to a growing file. */
export async function appendBesideBareWrite(task: AppendTask): Promise<Figures> {
  await using engine = await open(task.address, { durability: task.durability });
  const session = await newSession(engine);
  const messages = messageSource();
  const file = openSync(join(task.folder, `bare-${process.pid}`), "a");
  const bare = (message: MessageInput) => {
    writeSync(file, `${JSON.stringify(message)}\n`);
    fdatasyncSync(file);
  };
  const first = new Timings();
  for (let i = 0; i < task.warmUp; i++) {
    const message = messages();
    await first.time(() => session.append(message));
    bare(message);
  }
  const appends = new Timings();
  const writes = new Timings();
  for (let i = 0; i < task.count; i++) {
    const message = messages();
    await appends.time(() => session.append(message));
    writes.timeSync(() => bare(message));
  }
  closeSync(file);
  return {
    ...appends.figures(),
    bareP50Ms: writes.percentile(50),
    bareP99Ms: writes.percentile(99),
    overBareP50Ms: appends.percentile(50) - writes.percentile(50),
    warmUpP50Ms: first.percentile(50),
    rssMb: peakRssMb(),
  };
}

/** One appender of batches of 100 that waits for each. */
export async function appendBatches(task: AppendTask): Promise<Figures> {
  const { durability, indexing } = task;
  await using engine = await open(task.address, {
    durability,
    ...(indexing === false ? { indexing: { flushAt: 0 } } : {}),
  });
  const session = await newSession(engine);
  const messages = messageSource();
  const batch = () => Array.from({ length: 100 }, messages);
  for (let i = 0; i < task.warmUp / 100; i++) await session.append(batch());
  const timings = new Timings();
  for (let i = 0; i < task.count / 100; i++) {
    const input = batch();
    await timings.time(() => session.append(input));
  }
  const { p50Ms, p99Ms, perSecond } = timings.figures();
  return { p50Ms, p99Ms, messagesPerSecond: perSecond * 100, rssMb: peakRssMb() };
}

const LOG_BYTES = 12 * 1024 * 1024;

/** The time of reading the log before SQLite opens a store, per MB. */
export async function lookAtLog(task: AppendTask): Promise<Figures> {
  await using engine = await open(task.address, { durability: task.durability, inThread: true });
  const session = await newSession(engine);
  const messages = messageSource();
  const log = `${task.address}-wal`;
  while (statSync(log).size < LOG_BYTES) await session.append(messages());
  const megabytes = statSync(log).size / 2 ** 20;
  // The first is the cost of a process that opens one store.
  const first = new Timings();
  await first.time(() => findLoss(log));
  const others = new Timings();
  for (let i = 1; i < task.count; i++) await others.time(() => findLoss(log));
  return {
    firstMsPerMegabyte: first.percentile(50) / megabytes,
    msPerMegabyte: others.percentile(50) / megabytes,
    megabytes,
  };
}

/** 64 concurrent appenders, one session each, and the delay of the host's event loop. */
export async function appendConcurrently(task: AppendTask): Promise<Figures> {
  await using engine = await open(task.address, { durability: task.durability });
  const sessions = await Promise.all(Array.from({ length: 64 }, () => newSession(engine)));
  const messages = messageSource();
  const appendAll = (count: number, timings: Timings) =>
    Promise.all(
      sessions.map(async (session) => {
        for (let i = 0; i < count / sessions.length; i++) {
          const message = messages();
          await timings.time(() => session.append(message));
        }
      }),
    );
  await appendAll(task.warmUp, new Timings());
  const timings = new Timings();
  const resolutionMs = 1;
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  const start = performance.now();
  await appendAll(task.count, timings);
  const seconds = (performance.now() - start) / 1_000;
  delay.disable();
  // The histogram measures tick to tick, so every value includes the interval.
  const delayMs = (percent: number) => delay.percentile(percent) / 1e6 - resolutionMs;
  return {
    p50Ms: timings.percentile(50),
    p99Ms: timings.percentile(99),
    perSecond: task.count / seconds,
    loopDelayP50Ms: delayMs(50),
    loopDelayP99Ms: delayMs(99),
    rssMb: peakRssMb(),
  };
}

export interface FillTask {
  readonly address: string;
  readonly count: number;
}

/** Sessions of 20 agents, 500 projects and 1,000 people, started a second after one another. */
export async function fillSessions(task: FillTask): Promise<Figures> {
  await using engine = await open(task.address, { durability: "process" });
  const words = new Words(2);
  const first = Date.UTC(2026, 0, 1);
  for (let i = 0; i < task.count; ) {
    const creations: Promise<unknown>[] = [];
    for (let end = Math.min(i + 256, task.count); i < end; i++) {
      const creation = engine.createSession({
        agent: `agent-${words.below(20)}`,
        createdBy: `person-${words.below(1_000)}`,
        participants: [`person-${words.below(1_000)}`, `person-${words.below(1_000)}`],
        title: `${words.text(5)}${i % 100 === 0 ? " quarterly" : ""}${i % 10_000 === 0 ? " singular" : ""}`,
        origin: { projectId: `project-${words.below(500)}`, source: "bench" },
        startedAt: first + i * 1_000,
      });
      creations.push(creation);
    }
    await Promise.all(creations);
  }
  return { sessions: task.count };
}

/** One session with `count` messages. */
export async function fillMessages(task: FillTask): Promise<Figures> {
  await using engine = await open(task.address, { durability: "process" });
  const session = await newSession(engine, "long");
  const messages = messageSource();
  for (let i = 0; i < task.count; i += 500) {
    await session.append(Array.from({ length: Math.min(500, task.count - i) }, messages));
  }
  return { messages: task.count };
}

export interface PageTask {
  readonly large: string;
  readonly small: string;
  readonly largeCount: number;
  readonly smallCount: number;
  readonly queries: number;
}

/** A page of 50 sessions at a random place of the list: among many and among few, in turns. */
export async function pageSessions(task: PageTask): Promise<Figures> {
  await using large = await open(task.large, { readOnly: true });
  await using small = await open(task.small, { readOnly: true });
  const words = new Words(3);
  const inLarge = await sessionCursors(large);
  const inSmall = await sessionCursors(small);
  const page = (engine: Engine, cursors: readonly string[]) => {
    const cursor = cursors[words.below(cursors.length)];
    return engine.listSessions({ limit: PAGE, ...(cursor === "" ? {} : { cursor: `${cursor}` }) });
  };
  return await inTurns(
    task.queries,
    () => page(large, inLarge),
    () => page(small, inSmall),
  );
}

/** 50 messages at a random place in the middle of a long session and of a short one, in turns. */
export async function pageMessages(task: PageTask): Promise<Figures> {
  await using large = await open(task.large, { readOnly: true });
  await using small = await open(task.small, { readOnly: true });
  const words = new Words(4);
  const page = async (engine: Engine, count: number) => {
    const offset = Math.floor(count / 4) + words.below(Math.floor(count / 2));
    const { messages } = await engine.listMessages("long", { offset, limit: PAGE });
    if (messages.length !== PAGE) throw new Error(`a page of ${messages.length} messages`);
  };
  return await inTurns(
    task.queries,
    () => page(large, task.largeCount),
    () => page(small, task.smallCount),
  );
}

/** The first page of 50 of a filtered list, one filter after the other. */
export async function pageFiltered(task: PageTask): Promise<Figures> {
  await using engine = await open(task.large, { readOnly: true });
  const words = new Words(5);
  const filters = {
    agent: () => ({ agent: `agent-${words.below(20)}` }),
    project: () => ({ projectId: `project-${words.below(500)}` }),
    participant: () => ({ participant: `person-${words.below(1_000)}` }),
    titleInOneOf100: () => ({ title: "quarterly" }),
    titleInOneOf10000: () => ({ title: "singular" }),
  };
  const figures: Record<string, number> = {};
  for (const [name, filter] of Object.entries(filters)) {
    const queries = Math.ceil(task.queries / (name === "titleInOneOf10000" ? 40 : 4));
    const timings = new Timings();
    for (let i = 0; i < 20; i++) await engine.listSessions({ ...filter(), limit: PAGE });
    for (let i = 0; i < queries; i++) {
      await timings.time(() => engine.listSessions({ ...filter(), limit: PAGE }));
    }
    figures[`${name}P50Ms`] = timings.percentile(50);
    figures[`${name}P99Ms`] = timings.percentile(99);
  }
  return { ...figures, rssMb: peakRssMb() };
}

/** Interleaved, so that disturbances of the machine affect both alike. */
async function inTurns(
  queries: number,
  large: () => Promise<unknown>,
  small: () => Promise<unknown>,
): Promise<Figures> {
  for (let i = 0; i < queries / 5; i++) {
    await large();
    await small();
  }
  const inLarge = new Timings();
  const inSmall = new Timings();
  for (let i = 0; i < queries; i++) {
    await inLarge.time(large);
    await inSmall.time(small);
  }
  return {
    ...inLarge.figures(),
    smallP50Ms: inSmall.percentile(50),
    smallP99Ms: inSmall.percentile(99),
    ratioP50: inLarge.percentile(50) / inSmall.percentile(50),
    ratioP99: inLarge.percentile(99) / inSmall.percentile(99),
    rssMb: peakRssMb(),
  };
}

/** Page offsets, spread over the list. */
async function sessionCursors(engine: Engine): Promise<string[]> {
  const cursors = [""];
  for (;;) {
    const cursor = cursors.at(-1);
    const page = await engine.listSessions({
      limit: 500,
      ...(cursor === "" || cursor === undefined ? {} : { cursor }),
    });
    // The last pages are shorter than 50.
    if (page.nextCursor === undefined || page.sessions.length < 500) return cursors;
    cursors.push(page.nextCursor);
  }
}

function newSession(engine: Engine, id?: string) {
  return engine.createSession({
    agent: "bench",
    createdBy: "person",
    ...(id === undefined ? {} : { id }),
  });
}

/**
 * Texts are made beforehand: making one takes as long as drafting it, and its garbage would be
 * collected during a timed append.
 */
export function messageSource(): () => MessageInput {
  const words = new Words(1);
  const texts = Array.from({ length: 5_000 }, () => words.text(WORDS));
  let count = 0;
  return () => {
    const content = texts[count % texts.length] ?? "";
    return count++ % 2 === 0
      ? { role: "user", actor: "person", content }
      : { role: "assistant", actor: "bench", content, model: "model-1" };
  };
}
