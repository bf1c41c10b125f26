import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BruteForce } from "../../test/support/brute-force.ts";
import {
  type Command,
  command,
  IndexFixture,
  query,
  text,
} from "../../test/support/index-fixture.ts";
import type { ModelMessage } from "../../test/support/index-model.ts";
import { repeats } from "../../test/support/repeats.ts";
import type { SearchRequest } from "./request.ts";
import { PLAIN_PROFILE, type RankingProfile } from "./score/profile.ts";

interface Expected {
  readonly profile?: RankingProfile;
  readonly limit?: number;
  readonly more?: Partial<SearchRequest>;
  readonly accepts?: (message: ModelMessage) => boolean;
  readonly inScope?: (session: number) => boolean;
}

function expectSame(
  fixture: IndexFixture,
  brute: BruteForce,
  query: string,
  { profile = PLAIN_PROFILE, limit = 20, more = {}, accepts, inScope }: Expected = {},
): void {
  const found = fixture
    .search(query, { profile, limit, ...more })
    .hits.map(({ sessionId, index, score }) => ({ hit: [sessionId, index], score }));
  const right = brute
    .rank(query, profile, accepts, inScope)
    .slice(0, limit)
    .map(({ session, sequence, score }) => ({
      hit: [`s${session}`, sequence === 0 ? null : sequence - 1],
      score,
    }));
  for (const [i, { score }] of found.entries()) {
    expect(score).toBeCloseTo((right[i] as Placed).score, 6);
  }
  expect(settled(found, [found, right])).toEqual(settled(right, [found, right]));
}

interface Placed {
  readonly hit: readonly (string | number | null)[];
  readonly score: number;
}

/** The order of `hits`; ties up to the last digit are ordered by name. */
function settled(hits: readonly Placed[], both: readonly (readonly Placed[])[]): Placed["hit"][] {
  const gap = (list: readonly Placed[], i: number) =>
    (list[i - 1]?.score ?? Number.POSITIVE_INFINITY) - (list[i]?.score ?? 0);
  const groups: { hits: Placed["hit"][]; isExact: boolean }[] = [];
  for (const [i, { hit }] of hits.entries()) {
    const last = groups.at(-1);
    if (last === undefined || both.some((list) => gap(list, i) > 1e-12)) {
      groups.push({ hits: [hit], isExact: true });
      continue;
    }
    last.hits.push(hit);
    if (both.some((list) => gap(list, i) !== 0)) last.isExact = false;
  }
  return groups.flatMap((group) => (group.isExact ? group.hits : group.hits.sort()));
}

describe("the index ranks as the naive formula", () => {
  test("with a tail, segments, merges, deletions, erasures and branches", () => {
    fc.assert(
      fc.property(
        fc.array(command, { maxLength: 120 }),
        fc.array(query, { minLength: 1, maxLength: 5 }),
        (commands, queries) => {
          const fixture = new IndexFixture();
          for (const one of commands) fixture.run(one);
          const brute = new BruteForce(fixture.model);
          for (const one of queries) expectSame(fixture, brute, one);
        },
      ),
      { numRuns: repeats(25, 300) },
    );
  });

  test("with erased messages, whether they are in the tail, a segment or a merged one", () => {
    const filled = fc.record({
      texts: fc.array(text, { minLength: 12, maxLength: 24, size: "max" }),
      steps: fc.array(
        fc.oneof(
          { weight: 2, arbitrary: command.filter((one) => one.do === "erase") },
          { weight: 1, arbitrary: command.filter((one) => one.do === "append") },
          fc
            .constantFrom("search", "flush", "merge", "purge", "rebuild")
            .map((one): Command => ({ do: one })),
        ),
        { minLength: 4, maxLength: 12, size: "max" },
      ),
    });
    fc.assert(
      fc.property(filled, query, ({ texts, steps }, asked) => {
        const fixture = new IndexFixture();
        for (let i = 0; i < 3; i++) fixture.run({ do: "create", title: "", agent: "a" });
        for (const [i, each] of texts.entries()) {
          fixture.run({ do: "append", session: i, role: "user", text: each });
          if (i % 7 === 6) fixture.run({ do: "flush" });
        }
        for (const step of steps) {
          fixture.run(step);
          expectSame(fixture, new BruteForce(fixture.model), asked);
        }
      }),
      { numRuns: repeats(10, 120) },
    );
  });

  test("with changes, deletions and erasures while a segment is built", () => {
    const isWrite = (one: Command) => "session" in one || one.do === "create";
    const writes = fc.array(command.filter(isWrite), { minLength: 12, maxLength: 40, size: "max" });
    const amid = fc.array(
      fc.oneof(
        command.filter(isWrite),
        command.filter((one) => one.do === "delete" || one.do === "erase"),
      ),
      { minLength: 2, maxLength: 12, size: "max" },
    );
    fc.assert(
      fc.property(writes, amid, amid, query, (first, second, third, asked) => {
        const fixture = new IndexFixture();
        for (const one of first) fixture.run(one);
        for (const each of [second, third]) {
          fixture.maintainAmid(each);
          expectSame(fixture, new BruteForce(fixture.model), asked);
        }
        fixture.run({ do: "merge" });
        expectSame(fixture, new BruteForce(fixture.model), asked);
      }),
      { numRuns: repeats(15, 200) },
    );
  });

  test("when weights change after the build", () => {
    const profile = fc.record({
      bm25: fc.record({
        k1: fc.double({ min: 0.1, max: 3, noNaN: true }),
        b: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
      roles: fc.record({
        user: fc.double({ min: 0.5, max: 3, noNaN: true }),
        tool: fc.constant(1),
        assistant: fc.double({ min: 0.5, max: 3, noNaN: true }),
        system: fc.constant(1),
      }),
    });
    fc.assert(
      fc.property(
        fc.array(command, { maxLength: 100 }),
        query,
        profile,
        (commands, one, weights) => {
          const fixture = new IndexFixture();
          for (const each of commands) fixture.run(each);
          const brute = new BruteForce(fixture.model);
          expectSame(fixture, brute, one, { profile: { ...PLAIN_PROFILE, ...weights } });
        },
      ),
      { numRuns: repeats(10, 120) },
    );
  });

  test("with filters, which apply before ranking", () => {
    const since = Date.UTC(2026, 0, 1) + 30_000;
    fc.assert(
      fc.property(fc.array(command, { maxLength: 120 }), query, (commands, one) => {
        const fixture = new IndexFixture();
        for (const each of commands) fixture.run(each);
        const { model } = fixture;
        const brute = new BruteForce(model);
        expectSame(fixture, brute, one, {
          limit: 3,
          more: { scope: { agent: ["b"] } },
          inScope: (session) => model.sessions.get(session)?.agent === "b",
        });
        expectSame(fixture, brute, one, {
          limit: 3,
          more: { roles: ["user"] },
          accepts: ({ role }) => role === "user",
        });
        expectSame(fixture, brute, one, {
          limit: 3,
          more: { since },
          accepts: ({ time }) => time >= since,
        });
      }),
      { numRuns: repeats(10, 120) },
    );
  });

  test("when lists are long enough for skipping", () => {
    const fixture = new IndexFixture();
    const random = fc.sample(fc.double({ min: 0, max: 1, noNaN: true, noDefaultInfinity: true }), {
      numRuns: 1,
      seed: 7,
    });
    let state = Math.floor((random[0] as number) * 2 ** 31);
    const next = (below: number) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
    // A few words are in most messages, most are rare: as in a language.
    const word = () => `w${Math.floor(3_000 ** (next(1_000_000) / 1_000_000)) - 1}`;
    const words = (count: number) => Array.from({ length: count }, word).join(" ");
    const sessions: number[] = [];
    for (let i = 0; i < 9_000; i++) {
      if (i % 40 === 0) {
        const agent = i % 120 === 0 ? "b" : "a";
        sessions.push(fixture.model.createSession({ title: words(3), agent }));
      }
      const session = sessions[Math.max(0, sessions.length - 1 - next(5))] as number;
      fixture.model.append(session, i % 2 === 0 ? "user" : "assistant", words(3 + next(25)));
      if (i % 1_000 === 999) fixture.maintain("flush");
      if (i === 8_000) {
        fixture.maintain("merge");
        fixture.model.delete(sessions[20] as number);
      }
    }
    const brute = new BruteForce(fixture.model);
    for (let i = 0; i < repeats(2, 12); i++) {
      const query = words(1 + next(10));
      expectSame(fixture, brute, query, { limit: 5 });
      expectSame(fixture, brute, `${query} +w1`, { limit: 5 });
      expectSame(fixture, brute, `${query} -w2`, { limit: 5 });
      expectSame(fixture, brute, `${query} "w0 w1"`, { limit: 5 });
      expectSame(fixture, brute, query, {
        limit: 5,
        more: { scope: { agent: ["b"] } },
        inScope: (session) => fixture.model.sessions.get(session)?.agent === "b",
      });
    }
    fixture.maintain("purge");
    for (let i = 0; i < repeats(2, 6); i++)
      expectSame(fixture, brute, words(1 + next(10)), { limit: 5 });
    expect(fixture.model.manifest.segments).toHaveLength(1);
  });
});

test("messages of equal scores are ordered even though tie-breakers are read late", () => {
  // As many as are ranked, and some more: an early first place may have excluded others.
  const profile = { ...PLAIN_PROFILE, candidates: 1 };
  const fixture = new IndexFixture();
  for (let i = 0; i < 1_500; i++) {
    const session = fixture.model.createSession();
    const isFound = i >= 700 && i < 735;
    const time = isFound ? i : (i * 7_919) % 1_500;
    fixture.model.append(session, "user", isFound ? "cron" : "job", { time });
  }
  fixture.maintain("flush");
  expectSame(fixture, new BruteForce(fixture.model), "cron", { profile });
});

describe("deleted sessions", () => {
  test("leave the segments when they are many, or old", () => {
    const fixture = new IndexFixture();
    const sessions = Array.from({ length: 40 }, () => fixture.model.createSession());
    for (const session of sessions) fixture.model.append(session, "user", `word${session} cron`);
    fixture.maintain("flush");
    fixture.model.delete(sessions[0] as number);
    fixture.maintain("flush");
    fixture.maintain("maintain");
    expect(fixture.model.manifest.dead).toHaveLength(1);
    fixture.model.delete(sessions[1] as number);
    fixture.model.delete(sessions[2] as number);
    fixture.maintain("flush");
    while (fixture.maintain("maintain").more);
    expect(fixture.model.manifest.dead).toEqual([]);

    fixture.model.delete(sessions[3] as number);
    fixture.maintain("flush");
    while (fixture.maintain("maintain", 25 * 60 * 60 * 1000).more);
    expect(fixture.model.manifest.dead).toEqual([]);
    const found = fixture.search("word4").hits.map(({ sessionId }) => sessionId);
    expect(found).not.toContain("s4");
  });
});
