/**
 * A store with every kind of row, and the answers of every read.
 *
 * Compares the fields that a hash or a count covers. Other columns, such as titles, are left out:
 * docs/audit.md has the list.
 */

import type { Engine } from "../../src/engine/engine.ts";
import type { SessionHandle } from "../../src/engine/session-handle.ts";
import type { TenantEngine } from "../../src/engine/tenant-engine.ts";
import type { Entry } from "../../src/model/entry.ts";
import { BackscrollError } from "../../src/model/errors.ts";
import type { IdSource } from "../../src/model/ids.ts";
import { open } from "../../src/open.ts";
import { SEED, seeded } from "./random.ts";
import { fixture, importText } from "./transcripts.ts";

/**
 * Fixed time and ids, so that the same bit of the file damages the same value in each run.
 */
function fixedSource(): IdSource {
  const number = seeded(SEED);
  let now = Date.UTC(2026, 0, 1);
  return {
    now: () => now++,
    random: (bytes) => {
      for (let i = 0; i < bytes.length; i++) bytes[i] = Math.floor(number() * 256);
    },
  };
}

/** Branches, a fork, labels, pins, compactions, payloads, packs, usage, and all kinds of erasing. */
export async function createRichStore(path: string): Promise<void> {
  await using engine = await open(path, { inThread: true, source: fixedSource() });
  const plain = await engine.createSession({ id: "plain", agent: "coder", createdBy: "ana" });
  await plain.append(messages(16));
  const tree = await engine.createSession({ id: "tree", agent: "coder", createdBy: "ana" });
  await growTree(tree);
  await tree.fork({ id: "fork", createdBy: "ben" });
  for (const retention of ["full", "audit-only", "ephemeral"] as const) {
    const session = await engine.createSession({
      id: `kept-${retention}`,
      agent: "coder",
      createdBy: "ana",
      retention,
    });
    await session.append({ role: "user", actor: "ana", content: "a long request ".repeat(100) });
    await session.append(messages(6));
    await session.compact({ keep: { messages: 3 } });
    await session.append(messages(3));
  }
  await importText(engine, fixture("claude-code/version-2.jsonl"));
  await importText(engine, fixture("codex/current.jsonl"));
  const gone = await engine.createSession({ id: "gone", agent: "coder", createdBy: "ana" });
  await gone.append(messages(4));
  await gone.delete();
  const other = engine.forTenant("other");
  const theirs = await other.createSession({ id: "theirs", agent: "coder", createdBy: "eve" });
  await theirs.append(messages(5));
  await engine.putMemory({ agent: "coder", name: "taste", content: "tabs", metadata: { by: 1 } });
}

function messages(count: number) {
  return Array.from({ length: count }, (_, i) => ({
    role: i % 2 === 0 ? ("user" as const) : ("assistant" as const),
    actor: i % 2 === 0 ? "ana" : "coder",
    content: `message ${i}: ${"the quick brown fox ".repeat(i % 7)}`,
    metadata: i % 3 === 0 ? { number: i } : {},
    ...(i % 5 === 1 ? { usage: { inputTokens: 100 + i, outputTokens: 7 } } : {}),
  }));
}

async function growTree(tree: SessionHandle): Promise<void> {
  const first = await tree.append({ role: "user", actor: "ana", content: "start" });
  await tree.append({ role: "assistant", content: "a long answer ".repeat(800) });
  await tree.append(messages(5));
  const branched = await tree.append({ role: "user", content: "left" }, { parent: first.id });
  await tree.append(messages(4));
  await tree.label(branched.id, "fork in the road");
  await tree.pin(branched.id);
  const message = await tree.openMessage({ role: "assistant" });
  await message.write("never finished");
  await message.abort();
  await tree.append({ role: "user", content: "third way" }, { parent: branched.id });
  await tree.append(messages(4));
}

/** Each answer under the name of its call: JSON, or `!` and the code of the error. */
export type Answers = ReadonlyMap<string, string>;

/** By the ids of the undamaged store, so that rows missing from a list are requested, too. */
export interface Known {
  readonly sessions: readonly (readonly [tenant: string, id: string])[];
  readonly entries: readonly (readonly [tenant: string, id: string])[];
}

export async function readEverything(engine: Engine, known: Known): Promise<Answers> {
  const answers = new Map<string, string>();
  const ask = async (name: string, call: () => Promise<unknown>) => {
    answers.set(name, await answerOf(call));
  };
  for (const tenant of ["default", "other"]) {
    const scope = engine.forTenant(tenant);
    await ask(`${tenant} sessions`, async () =>
      (await scope.listSessions({ limit: 100 })).sessions.map(countedOf),
    );
    await ask(`${tenant} feed`, () => readFeed(scope));
    await ask(`${tenant} memories`, async () => {
      await scope.listMemories({ limit: 10 });
    });
  }
  await ask("status", async () =>
    (await engine.status()).tenants.map(({ index: _, quota: __, ...tenant }) => tenant),
  );
  for (const [tenant, id] of known.sessions) {
    const scope = engine.forTenant(tenant);
    const on = <Result>(call: (session: SessionHandle) => Promise<Result>) =>
      call(scope.session(id));
    await ask(`${id} row`, async () => countedOf(await (await scope.getSession(id)).meta()));
    await ask(`${id} messages`, () => on((session) => pagesOf(session)));
    await ask(`${id} history`, () =>
      on(async (s) => (await s.history({ limit: 500, includeSummaries: true })).map(coveredOf)),
    );
    await ask(`${id} newest`, () =>
      on(async (s) => (await s.history({ limit: 5 })).map(coveredOf)),
    );
    for (const isTree of [true, false]) {
      await ask(`${id} ${isTree ? "tree" : "path"}`, () =>
        on(async (s) => (await s.listEntries({ tree: isTree, limit: 500 })).entries.map(coveredOf)),
      );
    }
    await ask(`${id} branches`, () =>
      on(async (s) => (await s.branches()).map((b) => ({ ...b, leaf: coveredOf(b.leaf) }))),
    );
    await ask(`${id} labels`, () => on(async (s) => [...(await s.labels())]));
  }
  for (const [tenant, id] of known.entries) {
    await ask(`entry ${id}`, async () => coveredOf(await engine.forTenant(tenant).getEntry(id)));
  }
  return answers;
}

async function answerOf(call: () => Promise<unknown>): Promise<string> {
  try {
    return JSON.stringify(await call()) ?? "";
  } catch (error) {
    if (BackscrollError.is(error)) return `!${error.code}`;
    return `!internal_error ${String((error as Error).stack)}`;
  }
}

async function pagesOf(session: SessionHandle): Promise<unknown> {
  const first = await session.listMessages({ limit: 7 });
  const second = await session.listMessages({ limit: 100, offset: 7 });
  return [first.total, ...[...first.messages, ...second.messages].map(coveredOf)];
}

async function readFeed(scope: TenantEngine): Promise<unknown> {
  const all = [];
  for (let after = "start"; ; ) {
    const page = await scope.listChanges({ after, limit: 100 });
    all.push(...page.changes.map(({ cursor: _, ...change }) => change));
    after = page.next;
    if (page.end) return all;
  }
}

function coveredOf({ supersededBy: _, pinned: __, ...entry }: Entry): unknown {
  return entry;
}

function countedOf(session: {
  readonly id: string;
  readonly messageCount: number;
  readonly entryCount: number;
  readonly tokens: unknown;
  readonly leaf: string | null;
}): unknown {
  const { id, messageCount, entryCount, tokens, leaf } = session;
  return { id, messageCount, entryCount, tokens, leaf };
}

export async function knownOf(engine: Engine): Promise<Known> {
  const sessions: [string, string][] = [];
  const entries: [string, string][] = [];
  for (const tenant of ["default", "other"]) {
    const scope = engine.forTenant(tenant);
    for (const { id } of (await scope.listSessions({ limit: 100 })).sessions) {
      sessions.push([tenant, id]);
      const session = await scope.getSession(id);
      const tree = await session.listEntries({ tree: true, limit: 500 });
      // Pages of the session return these entries, too.
      for (const entry of tree.entries) {
        if (entry.sequence % 15 === 1) entries.push([tenant, entry.id]);
      }
    }
  }
  return { sessions, entries };
}
