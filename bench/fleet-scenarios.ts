/** The nodes of a fleet under measurement, each in its own process. */

import type { MessageInput } from "../src/index.ts";
import { open } from "./library.ts";
import { type Figures, Timings } from "./measure.ts";
import { Words } from "./synthetic.ts";

/** Messages in one session, and in one append while a store is filled. */
const SESSION_MESSAGES = 1_000;
const BATCH_MESSAGES = 500;
/**
 * Sessions that a node fills concurrently: the server writes one batch while the node makes the
 * next.
 */
const FILLED_AT_ONCE = 4;
/** Questions before those that are timed: a node in service has its cache filled. */
const WARM_UP = 200;

export interface FillTask {
  readonly address: string;
  readonly messages: number;
  readonly seed: number;
}

/** One of several nodes that bulk-load a store, in sessions of a thousand, without indexing. */
export async function fillFleet({ address, messages, seed }: FillTask): Promise<Figures> {
  await using memory = await open(address, { indexing: { flushAt: 0 } });
  const words = new Words(seed);
  const startedAt = Date.now();
  let begun = 0;
  const fill = async () => {
    while (begun < messages) {
      const session = await memory.createSession({ agent: "coder", createdBy: "ana" });
      for (let i = 0; i < SESSION_MESSAGES && begun < messages; i += BATCH_MESSAGES) {
        const count = Math.min(BATCH_MESSAGES, messages - begun);
        begun += count;
        await session.append(batchOf(words, count));
      }
    }
  };
  await Promise.all(Array.from({ length: FILLED_AT_ONCE }, fill));
  return { startedAt, endedAt: Date.now(), messages };
}

/** Indexes the loaded messages. */
export async function indexFleet({ address, messages }: Omit<FillTask, "seed">): Promise<Figures> {
  await using memory = await open(address);
  const start = performance.now();
  await memory.maintainIndex("maintain");
  const seconds = (performance.now() - start) / 1_000;
  return { seconds, messagesPerSecond: messages / seconds };
}

function batchOf(words: Words, count: number): MessageInput[] {
  return Array.from({ length: count }, (_, n) => ({
    role: n % 2 === 0 ? "user" : "assistant",
    actor: "ana",
    content: words.text(40),
  }));
}

/** A small tenant's session, and its initial number of messages. */
const SMALL_SESSION = "chat";
const SMALL_MESSAGES = 10;

export interface TenantsTask {
  readonly address: string;
  readonly tenants: number;
  readonly seed: number;
}

/** Makes small tenants, with a session of ten messages each. */
export async function fillTenants({ address, tenants, seed }: TenantsTask): Promise<Figures> {
  await using memory = await open(address);
  const words = new Words(seed);
  const start = performance.now();
  let begun = 0;
  const fill = async () => {
    while (begun < tenants) {
      const tenant = memory.forTenant(`small-${begun++}`);
      const owner = { agent: "coder", createdBy: "ana" };
      const session = await tenant.createSession({ id: SMALL_SESSION, ...owner });
      await session.append(batchOf(words, SMALL_MESSAGES));
    }
  };
  await Promise.all(Array.from({ length: FILLED_AT_ONCE }, fill));
  return { tenantsPerSecond: (1_000 * tenants) / (performance.now() - start) };
}

/** An append, a page and a search of random small tenants, one after another. */
export async function askTenants({ address, tenants, seed }: TenantsTask): Promise<Figures> {
  await using memory = await open(address);
  const words = new Words(seed);
  const [appends, pages, questions] = [new Timings(), new Timings(), new Timings()];
  for (let i = 0; i < 300; i++) {
    const tenant = memory.forTenant(`small-${words.below(tenants)}`);
    const session = tenant.session(SMALL_SESSION);
    await appends.time(() =>
      session.append({ role: "user", actor: "ana", content: words.text(40) }),
    );
    await pages.time(() => session.history({ limit: 50 }));
    await questions.time(() => tenant.searchSessions(words.text(4), { deadlineMs: 60_000 }));
  }
  return percentiles({ append: appends, page: pages, question: questions });
}

export interface AskTask {
  readonly address: string;
  readonly replicas: readonly string[];
  readonly seed: number;
}

/** Single appends, pages of random sessions, and searches, one after another. */
export async function askFleet(task: AskTask): Promise<Figures> {
  const { address, replicas, seed } = task;
  await using memory = await open(address, { replicas });
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
  for (let i = 0; i < WARM_UP + 100; i++) {
    const ask = () => memory.searchSessions(words.text(4), { deadlineMs: 60_000 });
    if (i < WARM_UP) await ask();
    else await questions.time(ask);
  }
  return percentiles({ append: appends, page: pages, question: questions });
}

function percentiles(timings: Readonly<Record<string, Timings>>): Figures {
  const figures = Object.entries(timings).flatMap(([name, times]) => [
    [`${name}P50Ms`, times.percentile(50)],
    [`${name}P99Ms`, times.percentile(99)],
  ]);
  return Object.fromEntries(figures) as Figures;
}

export interface WriteTask {
  readonly address: string;
  readonly appends: number;
  /** Concurrent callers of the node. */
  readonly callers: number;
  readonly seed: number;
}

/** One of several nodes that append concurrently, each caller to its own session. */
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
