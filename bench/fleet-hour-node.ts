/** One node of an hour's steady load: it appends on a schedule, follows every feed, and searches. */

import type { Change, MessageInput, SessionHandle } from "../src/index.ts";
import { keepUp, open } from "./library.ts";
import type { Figures } from "./measure.ts";
import { Words } from "./synthetic.ts";

export interface HourTask {
  readonly address: string;
  readonly minutes: number;
  readonly appendsPerSecond: number;
  /** The first takes half of the load, the others share the rest. */
  readonly tenants: readonly string[];
  readonly seed: number;
}

/** A node's report after each minute; times in milliseconds. */
export interface Minute {
  /** From 1. */
  readonly minute: number;
  readonly appends: readonly number[];
  /** The delay of each append behind its schedule. */
  readonly late: readonly number[];
  readonly questions: readonly number[];
  /** Changes received by its subscriptions. */
  readonly heard: number;
  /** Gaps: changes whose position is not the previous one plus one. */
  readonly gaps: number;
  readonly rssBytes: number;
  readonly cpuMs: number;
}

const MINUTE_MS = 60_000;
const QUESTION_EVERY_MS = 1_000;
/** Concurrent callers of a node, each with one session at a time. */
const CALLERS = 20;
/** Every tenth session expires ten minutes after its last message, as work for the sweep. */
const EXPIRING = 10;
const TTL_SECONDS = 600;
/** The rest end after 20 to 600 messages. The first caller of a node stays in one session. */
const SHORTEST = 20;
const LONGEST = 600;
/** Every eighth message is a tool's output of 400 words, the others have 40. */
const TOOL_EVERY = 8;

export async function keepLoad(task: HourTask): Promise<Figures> {
  await using memory = await open(task.address);
  const words = new Words(task.seed);
  const stop = new AbortController();
  const failures: unknown[] = [];
  const { signal } = stop;
  let minute = emptyMinute();
  const background = [
    keepUp(memory, { signal, onError: (error) => failures.push(error) }),
    ...task.tenants.map((tenant) =>
      follow(memory.forTenant(tenant).subscribe({ after: "start", signal })),
    ),
    ask(),
  ];

  const startedAt = performance.now();
  const endsAt = startedAt + task.minutes * MINUTE_MS;
  const intervalMs = 1_000 / task.appendsPerSecond;
  let slot = 0;
  let appended = 0;

  const callers = Array.from({ length: CALLERS }, (_, caller) => call(caller));
  for (let n = 1; n <= task.minutes; n++) {
    await until(startedAt + n * MINUTE_MS);
    const { appends, late, questions, heard, gaps, cpu } = minute;
    minute = emptyMinute();
    const { user, system } = process.cpuUsage(cpu);
    const cpuMs = (user + system) / 1_000;
    const rssBytes = process.memoryUsage.rss();
    const done: Minute = { minute: n, appends, late, questions, heard, gaps, rssBytes, cpuMs };
    process.send?.({ progress: done });
  }
  await Promise.all(callers);
  stop.abort();
  await Promise.all(background);
  if (failures.length > 0) throw failures[0];
  return { appended };

  /** Open loop: a late caller does not skip appends, so the load is independent of the store's speed. */
  async function call(caller: number): Promise<void> {
    let session = await begin(caller);
    for (;;) {
      const due = startedAt + slot++ * intervalMs;
      if (due >= endsAt) return;
      await until(due);
      if (session.left === 0) session = await begin(caller);
      session.left--;
      const start = performance.now();
      await session.handle.append(messageOf(words));
      minute.appends.push(performance.now() - start);
      minute.late.push(start - due);
      appended++;
    }
  }

  async function begin(caller: number): Promise<{ handle: SessionHandle; left: number }> {
    const half = Math.floor(CALLERS / 2);
    const tenant = task.tenants[caller < half ? 0 : 1 + words.below(task.tenants.length - 1)] ?? "";
    const owner = { agent: "coder", createdBy: "ana" };
    const expires = words.below(EXPIRING) === 0 && caller > 0;
    const handle = await memory
      .forTenant(tenant)
      .createSession(expires ? { ...owner, ttl: TTL_SECONDS } : owner);
    const length = SHORTEST + words.below(LONGEST - SHORTEST);
    return { handle, left: caller === 0 ? Number.POSITIVE_INFINITY : length };
  }

  async function follow(changes: AsyncIterable<Change>): Promise<void> {
    let last = 0;
    for await (const { position } of changes) {
      if (position !== last + 1) minute.gaps++;
      minute.heard++;
      last = position;
    }
  }

  async function ask(): Promise<void> {
    for (let due = performance.now(); !signal.aborted; due += QUESTION_EVERY_MS) {
      await until(due);
      const tenant = memory.forTenant(task.tenants[words.below(task.tenants.length)] ?? "");
      await tenant.searchSessions(words.text(4), { deadlineMs: MINUTE_MS });
      minute.questions.push(performance.now() - due);
    }
  }
}

function emptyMinute() {
  return {
    appends: [] as number[],
    late: [] as number[],
    questions: [] as number[],
    heard: 0,
    gaps: 0,
    cpu: process.cpuUsage(),
  };
}

function messageOf(words: Words): MessageInput {
  const isTool = words.below(TOOL_EVERY) === 0;
  return { role: "user", actor: "ana", content: words.text(isTool ? 400 : 40) };
}

function until(due: number): Promise<void> {
  const ms = due - performance.now();
  return ms <= 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms));
}
