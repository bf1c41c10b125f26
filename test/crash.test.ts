/**
 * Writers killed with SIGKILL while they write.
 *
 * Every acknowledged write must be there: every entry, in order, with its content; an open message
 * with its flushed text.
 */

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Engine, type Entry, open, type SessionHandle, textOf } from "../src/index.ts";
import { Child } from "./support/child.ts";
import { type CrashLine, type CrashTask, type Written, written } from "./support/crash-lines.ts";
import { createFolder } from "./support/folder.ts";
import { createEmptyDatabase } from "./support/postgres.ts";
import { SEED, seeded } from "./support/random.ts";
import { repeats } from "./support/repeats.ts";

const SHARED = "shared";
const LEASE_MS = 1_500;

const random = seeded(SEED);

const MODES: readonly CrashTask["mode"][] = ["single", "batch", "stream", "edit", "reopen"];

describe("acknowledged writes survive SIGKILL", () => {
  test("on SQLite", async () => {
    const address = join(createFolder(), "crash.db");
    await killWriters(address, repeats(4, 500), (n) => ({
      mode: MODES[n % MODES.length] ?? "single",
      inThread: n % 3 !== 0,
      durability: n % 2 === 0 ? "process" : "power-loss",
    }));
  });

  test("on PostgreSQL", async () => {
    await killWriters(await createEmptyDatabase(), repeats(1, 50), (n) => ({
      mode: MODES[n % MODES.length] ?? "single",
      inThread: false,
      durability: "power-loss",
    }));
  });
});

type WriterOptions = Pick<CrashTask, "mode" | "inThread" | "durability">;

/**
 * In each round two writers share the store until both are killed. The rounds go on until a dead
 * writer has left an open message.
 */
async function killWriters(
  address: string,
  rounds: number,
  choose: (n: number) => WriterOptions,
): Promise<void> {
  await using first = await open(address, { inThread: true });
  await first.createSession({ id: SHARED, agent: "crash", createdBy: "test" });
  await first.close();

  const writers: Writer[] = [];
  /** The last entry of the shared session that earlier rounds checked. */
  let checked: string | undefined;
  let next = [new Child("./crash-writer.ts"), new Child("./crash-writer.ts")];
  let hasLeftOpen = false;
  for (let round = 0; round < rounds || !hasLeftOpen; round++) {
    const pair = next.map((child) => {
      const n = writers.length;
      const task = { address, ownSession: `own-${n}`, sharedSession: SHARED, leaseMs: LEASE_MS };
      const writer = new Writer(child, { ...task, ...choose(n) });
      writers.push(writer);
      return writer;
    });
    // The next two start while these write: start-up is most of a writer's life.
    next = [new Child("./crash-writer.ts"), new Child("./crash-writer.ts")];
    await Promise.all(pair.map((writer) => writer.liveAndDie()));

    await using engine = await open(address, { inThread: true });
    for (const writer of pair) {
      await writer.checkOwn(engine);
      hasLeftOpen ||= (await writer.pending(engine)).length > 0;
    }
    checked = await checkShared(engine, pair, checked);
    if (round % 50 === 49) await checkWhole(engine);
  }
  await Promise.all(next.map((child) => child.kill()));

  await using engine = await open(address, { inThread: true });
  for (const writer of writers) await writer.checkOwn(engine);
  await checkShared(engine, writers, undefined);
  await checkSweep(engine, writers);
  await checkWhole(engine);
  expect(writers.filter((writer) => writer.died)).toEqual(writers);
  // Guards against writers that were killed before they wrote.
  expect(writers.flatMap((writer) => writer.acknowledged(SHARED)).length).toBeGreaterThan(rounds);
}

class Writer {
  readonly #child: Child;
  readonly #task: CrashTask;
  died = false;

  constructor(child: Child, task: CrashTask) {
    this.#child = child;
    this.#task = task;
    child.tell(task);
  }

  /** Most are killed shortly after their first output, some while opening the store. */
  async liveAndDie(): Promise<void> {
    if (random() < 0.85) {
      await this.#child.until(2 + random() * 30);
      await sleep(random() * 5);
    } else {
      await sleep(random() * 250);
    }
    const { signal } = await this.#child.kill();
    expect(this.#child.errors).toBe("");
    expect(signal).toBe("SIGKILL");
    this.died = true;
  }

  /** The entries of `session` that were acknowledged, in order. */
  acknowledged(session: string): Written[] {
    return this.#said().flatMap((line) =>
      "did" in line && line.did === "append" && line.session === session ? line.entries : [],
    );
  }

  /** How many entries the operation that the kill interrupted would have added to `session`. */
  interrupted(session: string): number {
    const last = this.#said().at(-1);
    return last !== undefined && "will" in last && last.session === session ? last.entries : 0;
  }

  async checkOwn(engine: Engine): Promise<void> {
    const created = this.#said().length > 0;
    const session = await engine.getSession(this.#task.ownSession).catch((error: unknown) => {
      if (created) throw error;
      return undefined;
    });
    if (session === undefined) return;
    const entries = await readTree(session);
    expect(entries.map((entry) => entry.sequence)).toEqual(entries.map((_, i) => i + 1));

    const committed = entries.filter((entry) => entry.status === "committed");
    const acknowledged = this.acknowledged(session.id);
    expect(committed.slice(0, acknowledged.length).map(written)).toEqual(acknowledged);
    // Atomic: all of the interrupted operation, or nothing.
    expect([0, this.interrupted(session.id)]).toContain(committed.length - acknowledged.length);
    expect((await session.meta()).messageCount).toBe(committed.length);
    await this.#checkStreams(session);
  }

  /** Flushed text is there, whatever became of the message. Gives the pending ones. */
  async #checkStreams(session: SessionHandle): Promise<Entry[]> {
    const pending: Entry[] = [];
    const committed = new Set(this.acknowledged(session.id).map((entry) => entry.id));
    for (const [id, text] of this.flushed()) {
      const entry = await session.getEntry(id);
      expect(textOf(entry.blocks).startsWith(text)).toBe(true);
      if (committed.has(id)) expect(entry.status).toBe("committed");
      if (entry.status === "pending") pending.push(entry);
    }
    return pending;
  }

  /** The text of each message that was at least opened and flushed once. */
  flushed(): Map<string, string> {
    const texts = new Map<string, string>();
    for (const line of this.#said()) {
      if ("did" in line && line.did === "flush") texts.set(line.id, line.text);
    }
    return texts;
  }

  async pending(engine: Engine): Promise<Entry[]> {
    if (this.flushed().size === 0) return [];
    return this.#checkStreams(await engine.getSession(this.#task.ownSession));
  }

  #said(): CrashLine[] {
    return this.#child.said<CrashLine>();
  }
}

/**
 * The shared session has every acknowledged entry at its sequence. Checks the entries after `after`
 * and gives the last one.
 */
async function checkShared(
  engine: Engine,
  writers: readonly Writer[],
  after: string | undefined,
): Promise<string | undefined> {
  // A kill leaves no frame behind the log's end that would count as a loss.
  expect((await engine.status()).losses).toEqual([]);
  const entries = await readTree(await engine.getSession(SHARED), after);
  const stored = new Map(entries.map((entry) => [entry.id, entry]));
  const promised = writers.flatMap((writer) => writer.acknowledged(SHARED));
  const found = promised.map(({ id }) => {
    const entry = stored.get(id);
    return entry === undefined ? `${id} is lost` : written(entry);
  });
  expect(found).toEqual(promised);
  return entries.at(-1)?.id ?? after;
}

/** After lease expiry a sweep aborts the messages of dead writers, with their flushed text. */
async function checkSweep(engine: Engine, writers: readonly Writer[]): Promise<void> {
  const pending: Entry[] = [];
  for (const writer of writers) pending.push(...(await writer.pending(engine)));
  expect(pending.length).toBeGreaterThan(0);
  await sleep(LEASE_MS + 50);
  const { abortedMessages } = await engine.sweep();
  const aborted = new Set(abortedMessages.map((message) => message.entryId));
  for (const entry of pending) {
    expect(aborted).toContain(entry.id);
    const after = await engine.getEntry(entry.id);
    expect(after.status).toBe("aborted");
    expect(textOf(after.blocks)).toBe(textOf(entry.blocks));
  }
  expect((await engine.tenantStatus())?.pending).toBe(0);
}

async function checkWhole(engine: Engine): Promise<void> {
  expect(await engine.checkIntegrity()).toEqual([]);
  const report = await engine.verify();
  expect(report.problems).toEqual([]);
  expect(report.ok).toBe(true);
}

/** All entries of all branches, after a given one. */
async function readTree(session: SessionHandle, start?: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  let after = start;
  do {
    const page = await session.listEntries({
      tree: true,
      limit: 500,
      ...(after === undefined ? {} : { after }),
    });
    entries.push(...page.entries);
    after = page.next;
  } while (after !== undefined);
  return entries;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
