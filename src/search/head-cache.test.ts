import fc from "fast-check";
import { expect, test } from "vitest";
import type { StoredMark } from "../model/mark.ts";
import { HeadCache } from "./head-cache.ts";
import type { WindowHead } from "./port.ts";

const MARK: StoredMark = {
  entryId: null,
  kind: "replaced",
  reason: "Moved to another host.",
  actor: "ana",
  createdAt: 3,
  replacedBy: "s2",
};

const heads: fc.Arbitrary<WindowHead> = fc.record({
  sessionId: fc.string(),
  shortId: fc.string(),
  title: fc.option(fc.string()),
  agent: fc.constantFrom("a", "b"),
  createdAt: fc.nat(),
  updatedAt: fc.nat(),
  messageCount: fc.nat(),
  active: fc.option(
    fc.record({ id: fc.string(), chain: fc.nat(), depth: fc.nat(), ordinal: fc.nat() }),
  ),
  place: fc.constantFrom("", "github.com/a/b"),
  speaker: fc.constantFrom("ana", null),
  lateLeaves: fc.array(fc.constantFrom("e1", "e2", "e3"), { maxLength: 2 }),
  marks: fc.constantFrom([], [MARK]),
});

test("a session's cached head is the added one, until invalidated", () => {
  const session = fc.nat({ max: 200 });
  const steps = fc.array(fc.tuple(session, fc.option(heads)), { maxLength: 400 });
  fc.assert(
    fc.property(steps, (all) => {
      const remembered = new HeadCache();
      const model = new Map<number, WindowHead>();
      for (const [number, head] of all) {
        if (head === null) {
          remembered.forget(number);
          model.delete(number);
        } else {
          remembered.add(number, head);
          if (!model.has(number)) model.set(number, head);
        }
      }
      for (let number = 0; number <= 200; number++) {
        expect(remembered.get(number)).toEqual(model.get(number));
      }
    }),
    { numRuns: 50 },
  );
});

test("more sessions than its capacity clear the cache", () => {
  const remembered = new HeadCache();
  const head = {
    sessionId: "s",
    shortId: "s",
    title: null,
    agent: "a",
    place: "p",
    speaker: "ana",
    createdAt: 1,
    updatedAt: 2,
    lateLeaves: [],
    marks: [],
  };
  for (let session = 0; session <= 65_536; session++) {
    remembered.add(session, { ...head, messageCount: session, active: null });
  }
  expect(remembered.get(0)).toBeUndefined();
  expect(remembered.get(65_536)?.messageCount).toBe(65_536);
});

test("long titles reduce its capacity", () => {
  const remembered = new HeadCache();
  const head = {
    sessionId: "s",
    shortId: "s",
    agent: "a",
    place: "p",
    speaker: "ana",
    createdAt: 1,
    updatedAt: 2,
    messageCount: 3,
    lateLeaves: [],
    marks: [],
  };
  const count = (title: string) => {
    remembered.clear();
    let kept = 0;
    for (let session = 0; session < 50_000; session++) {
      remembered.add(session, { ...head, title, active: null });
      // The first is dropped with all others when the capacity is exceeded.
      if (kept === 0 && session > 0 && remembered.get(0) === undefined) kept = session;
    }
    return kept;
  };
  const short = count("x".repeat(80));
  const long = count("x".repeat(1_024));
  expect(short).toBeGreaterThan(20_000);
  expect(long).toBeGreaterThan(1_000);
  expect(long).toBeLessThan(short / 4);
});

test("marks are kept as they are, and reduce its capacity", () => {
  const remembered = new HeadCache();
  const long: WindowHead = {
    sessionId: "s",
    shortId: "s",
    title: null,
    agent: "a",
    place: "p",
    speaker: null,
    createdAt: 1,
    updatedAt: 2,
    messageCount: 1,
    active: null,
    lateLeaves: [],
    marks: Array(1_000).fill({ ...MARK, reason: "r".repeat(1_000) }),
  };
  for (let session = 0; session < 10; session++) remembered.add(session, long);
  expect(remembered.get(9)?.marks).toBe(long.marks);
  expect(remembered.get(0)).toBeUndefined();
});
