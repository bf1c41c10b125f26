import { expect, test } from "vitest";
import { open } from "../../../open.ts";
import type { SearchRequest } from "../../request.ts";
import { DEFAULT_PROFILE } from "../profile.ts";

/** The same session ranked as a whole, and by its candidates alone. */
test("messages ranked with only their neighbours have the same scores as in their session", async () => {
  await using engine = await open(":memory:", { indexing: { flushAt: 0 } });
  const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
  const animals = ["otter", "stoat", "vole", "shrew", "weasel"];
  for (let part = 0; part < 3; part++) {
    const said = Array.from({ length: 40 }, (_, i) => {
      const words = animals.filter((_animal, bit) => (((part * 40 + i) * 11) >> bit) % 2 === 1);
      return { role: "user" as const, actor: "ana", content: `${words.join(" ")} and so on` };
    });
    await session.append(said);
    // Two segments and the tail: a neighbour may be in another one.
    if (part < 2) await engine.maintainIndex("flush");
  }
  const { store } = (
    engine as unknown as { engine: { store: import("../../../store/store.ts").Store } }
  ).engine;
  const profile = {
    ...DEFAULT_PROFILE,
    session: 0,
    recurrence: 0,
    depth: 0,
    misspelt: 0,
    verbatim: 0,
    candidates: 500,
  };
  const request: SearchRequest = {
    query: "otter stoat",
    match: "words",
    now: 0,
    limit: 20,
    perSession: 20,
    before: 0,
    after: 0,
    scope: { sessionIds: [session.id] },
    branches: "active",
    profile,
    explain: true,
    deadlineMs: 10_000,
  };
  const whole = await store.search("default", request);
  const near = await store.search("default", { ...request, reach: "messages" });
  const figures = ({ hits }: typeof whole) =>
    new Map(hits.map(({ entryId, score, parts }) => [entryId, [score, parts?.neighbours]]));
  expect(near.hits).toHaveLength(20);
  // The whole session also yields messages that only stand next to matches.
  const expected = figures(whole);
  const common = [...figures(near)].filter(([id]) => expected.has(id));
  expect(common.length).toBeGreaterThan(5);
  for (const [id, [score, neighbours]] of common) {
    expect(score).toBeCloseTo(expected.get(id)?.[0] ?? 0, 9);
    expect(neighbours).toBeCloseTo(expected.get(id)?.[1] ?? 0, 9);
  }
  expect(near.hits[0]?.window).toHaveLength(1);
});
