/** What the nodes of a fleet do while they are measured, each in a process of its own. */

import { open } from "./library.ts";
import { type Figures, Timings } from "./measure.ts";
import { Words } from "./synthetic.ts";

/** Messages in one session, and in one append while a store is filled. */
const SESSION_MESSAGES = 1_000;
const BATCH_MESSAGES = 500;

export interface FillTask {
  readonly address: string;
  readonly messages: number;
  readonly seed: number;
}

/** Adds messages to a store, in sessions of a thousand. */
export async function fillFleet({ address, messages, seed }: FillTask): Promise<Figures> {
  await using memory = await open(address);
  const words = new Words(seed);
  const start = performance.now();
  for (let stored = 0; stored < messages; ) {
    const session = await memory.createSession({ agent: "coder", createdBy: "ana" });
    for (let i = 0; i < SESSION_MESSAGES && stored < messages; ) {
      const count = Math.min(BATCH_MESSAGES, messages - stored);
      const batch = Array.from({ length: count }, (_, n) => ({
        role: n % 2 === 0 ? ("user" as const) : ("assistant" as const),
        actor: "ana",
        content: words.text(40),
      }));
      await session.append(batch);
      i += count;
      stored += count;
    }
  }
  await memory.maintainIndex("upkeep");
  return { messagesPerSecond: (1_000 * messages) / (performance.now() - start) };
}

export interface AskTask {
  readonly address: string;
  readonly replicas: readonly string[];
  readonly cacheBytes: number;
  readonly seed: number;
}

/** Single appends, pages of random sessions, and questions, one after another. */
export async function askFleet(task: AskTask): Promise<Figures> {
  const { address, replicas, cacheBytes, seed } = task;
  await using memory = await open(address, { replicas, indexing: { cacheBytes } });
  const words = new Words(seed);
  const { sessions } = await memory.listSessions({ limit: 200 });
  const own = await memory.createSession({ agent: "coder", createdBy: "ana" });
  const [appends, pages, questions] = [new Timings(), new Timings(), new Timings()];
  for (let i = 0; i < 200; i++) {
    await appends.time(() => own.append({ role: "user", actor: "ana", content: words.text(40) }));
  }
  for (let i = 0; i < 500; i++) {
    const { id = "" } = sessions[words.below(sessions.length)] ?? {};
    await pages.time(() => memory.session(id).history({ limit: 50 }));
  }
  for (let i = 0; i < 110; i++) {
    const ask = () => memory.searchSessions(words.text(4), { deadlineMs: 60_000 });
    // The first ones fill the caches.
    if (i < 10) await ask();
    else await questions.time(ask);
  }
  return {
    appendP50Ms: appends.percentile(50),
    appendP99Ms: appends.percentile(99),
    pageP50Ms: pages.percentile(50),
    pageP99Ms: pages.percentile(99),
    questionP50Ms: questions.percentile(50),
    questionP99Ms: questions.percentile(99),
  };
}

export interface WriteTask {
  readonly address: string;
  readonly appends: number;
  /** How many callers the node has at once. */
  readonly callers: number;
  readonly seed: number;
}

/** One node of several that append at once, each caller to a session of its own. */
export async function writeFleet(task: WriteTask): Promise<Figures> {
  await using memory = await open(task.address);
  const words = new Words(task.seed);
  const each = Math.ceil(task.appends / task.callers);
  const start = Date.now();
  await Promise.all(
    Array.from({ length: task.callers }, async () => {
      const session = await memory.createSession({ agent: "coder", createdBy: "ana" });
      for (let i = 0; i < each; i++) {
        await session.append({ role: "user", actor: "ana", content: words.text(40) });
      }
    }),
  );
  return { startedAt: start, endedAt: Date.now(), appends: each * task.callers };
}
