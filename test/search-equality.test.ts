/**
 * Search on real stores against the naive formula over all messages: the same hits, order and
 * scores, with a tail, several segments, merges, deletions and erased messages; and searches while
 * another process writes and merges.
 */

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Engine, open, textOf } from "../src/index.ts";
import { PLAIN_PROFILE } from "../src/search/score/profile.ts";
import { BruteForce } from "./support/brute-force.ts";
import { Child } from "./support/child.ts";
import { createFolder } from "./support/folder.ts";
import { IndexModel } from "./support/index-model.ts";
import { createDatabase } from "./support/postgres.ts";
import { randomText } from "./support/random-text.ts";
import { repeats } from "./support/repeats.ts";
import type { SearchWork } from "./support/search-writer.ts";

const BACKENDS: readonly [string, () => Promise<string>][] = [
  ["SQLite", () => Promise.resolve(join(createFolder(), "search.db"))],
  ["PostgreSQL", createDatabase],
];

describe.each(BACKENDS)("on %s", (_, newAddress) => {
  test("search ranks as the naive formula, also during another process's writes and merges", async () => {
    const address = await newAddress();
    // Small enough for several segments in either mode.
    const indexing = { flushAt: repeats(100, 200) };
    await using engine = await open(address, { durability: "process", indexing });
    const writer = new Child("./search-writer.ts");
    const work: SearchWork = { address, seed: 1, sessions: repeats(12, 24), messages: 30 };
    writer.tell(work);
    const text = randomText(2);
    const own = [];
    for (let i = 0; i < 12; i++) {
      const session = await engine.createSession({ agent: "even", createdBy: "b", title: text(2) });
      own.push(session);
      for (let j = 0; j < repeats(8, 20); j++) {
        const content = `${text(12)} own${i}x${j}`;
        await session.append({ role: "user", actor: "b", content });
        // An acknowledged append is found at once, despite concurrent maintenance.
        const { hits, degraded } = await engine.searchSessions(`own${i}x${j}`, { limit: 1 });
        expect([hits[0]?.sessionId, hits[0]?.index, degraded]).toEqual([session.id, j, false]);
      }
    }
    await writer.succeed();
    await engine.deleteSession(own[3]?.id ?? "");
    await own[4]?.update({ title: "w1 renamed" });
    for (const [i, retention] of [
      [5, "audit-only"],
      [6, "ephemeral"],
    ] as const) {
      await own[i]?.update({ retention });
      const summary = text(8);
      await own[i]?.compact({ keep: { messages: 6 }, before: () => ({ summary }) });
    }

    await expectSame(engine, text);
    await engine.maintainIndex("flush");
    await expectSame(engine, text);
    await engine.maintainIndex("purge");
    await expectSame(engine, text);
  });
});

async function expectSame(engine: Engine, text: (words: number) => string): Promise<void> {
  const { model, ids } = await modelOf(engine);
  const brute = new BruteForce(model);
  const inEven = (session: number) => model.sessions.get(session)?.agent === "even";
  for (let i = 0; i < repeats(5, 15); i++) {
    const query = i % 5 === 4 ? `${text(4)} +w0 -w3` : text(6);
    for (const filtered of [false, true]) {
      const { hits } = await engine.searchSessions(query, {
        limit: 20,
        ranking: "plain",
        contextBefore: 0,
        contextAfter: 0,
        ...(filtered ? { agent: "even" } : {}),
      });
      const right = brute
        .rank(query, PLAIN_PROFILE, undefined, filtered ? inEven : undefined)
        .slice(0, hits.length);
      expect(hits.length).toBeGreaterThan(0);
      const scores = hits.map(({ score }) => score);
      for (const [j, { score }] of right.entries()) expect(scores[j]).toBeCloseTo(score, 6);
      // Sessions of equal scores may differ in their order: their numbers are not known here.
      expect(hits.map(({ sessionId }) => sessionId).sort()).toEqual(
        right.map(({ session }) => ids.get(session)).sort(),
      );
    }
  }
}

/** The store's content as a naive model, the oracle of the test. */
async function modelOf(
  engine: Engine,
): Promise<{ readonly model: IndexModel; readonly ids: ReadonlyMap<number, string> }> {
  const model = new IndexModel();
  const ids = new Map<number, string>();
  const { sessions } = await engine.listSessions({ limit: 500 });
  // The order of creation: on a tie the older session comes first.
  for (const { id, title, summary, agent } of sessions.toSorted(
    (a, b) => a.createdAt - b.createdAt,
  )) {
    const session = model.createSession({ title, agent, summary: summary ?? "" });
    ids.set(session, id);
    const { messages } = await engine.listMessages(id, { limit: 500 });
    for (const { role, blocks, createdAt } of messages) {
      if (role !== null) model.append(session, role, textOf(blocks), { time: createdAt });
    }
  }
  return { model, ids };
}
