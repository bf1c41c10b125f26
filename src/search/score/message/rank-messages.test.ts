import { expect, test } from "vitest";
import type { SearchInput } from "../../../engine/search.ts";
import { open } from "../../../open.ts";

/** A session with these messages, alternately the user's and the assistant's, part of it indexed. */
async function conversation(texts: readonly string[]) {
  const engine = await open(":memory:", { indexing: { flushAt: 0 } });
  const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
  const said = texts.map((content, i) => ({
    role: i % 2 === 0 ? ("user" as const) : ("assistant" as const),
    content,
  }));
  const half = Math.floor(said.length / 4) * 2;
  if (half > 0) await session.append(said.slice(0, half));
  await engine.maintainIndex("flush");
  await session.append(said.slice(half));
  const find = async (query: string, input: SearchInput = {}) => {
    const all = {
      session: session.id,
      perSession: 20,
      limit: 20,
      contextBefore: 0,
      contextAfter: 0,
    };
    const { hits } = await engine.searchSessions(query, { ...all, ...input });
    return hits.map(({ index }) => index);
  };
  return { engine, session, find };
}

const FILLER = Array.from(
  { length: 40 },
  (_, i) => `Talk about nothing in particular, number ${i}.`,
);

test("words that stand together rank before the same words far apart", async () => {
  const far = `The otter swims. ${"Many other things happen here. ".repeat(12)} A stoat runs.`;
  const near = `The otter and the stoat met. ${"Many other things happen here. ".repeat(12)}`;
  const { engine, find } = await conversation([...FILLER, far, "Fine.", ...FILLER, near, "Fine."]);
  expect(await find("otter stoat")).toEqual([82, 40]);
  await engine.close();
});

test("a message whose neighbour has the rest of the query ranks before one without", async () => {
  const texts = [
    "Where is the otter?",
    "With the stoat.",
    ...FILLER,
    "Where is the otter?",
    "Away.",
  ];
  const { engine, find } = await conversation(texts);
  const found = await find("otter stoat");
  expect(found.indexOf(0)).toBeLessThan(found.indexOf(42));
  await engine.close();
});

test("a long message does not outrank a short one by words that it has by chance", async () => {
  const long = `${"One thing led to another and then the otter came to the stoat. ".repeat(3)}${"Nothing of interest. ".repeat(400)}`;
  const { engine, find } = await conversation([
    ...FILLER,
    long,
    "Well.",
    "The otter saw a stoat.",
    "So.",
  ]);
  expect((await find("otter stoat"))[0]).toBe(42);
  await engine.close();
});

test("several hits per session are the best messages of all sessions, at most so many of each", async () => {
  await using engine = await open(":memory:");
  for (const animal of ["otter", "stoat"]) {
    const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
    await session.append(
      Array.from({ length: 6 }, (_, i) => ({
        role: "user" as const,
        content: `${animal} number ${i}, a lake`,
      })),
    );
  }
  const { hits } = await engine.searchSessions("otter lake", { perSession: 3, limit: 10 });
  const counts = Map.groupBy(hits, ({ sessionId }) => sessionId);
  expect([...counts.values()].map(({ length }) => length)).toEqual([3, 3]);
  expect(hits[0]?.window.find(({ found }) => found)?.snippet).toContain("otter");
});

test("a message that excluded words leave is not found through its neighbour", async () => {
  const { engine, find } = await conversation(["The otter swims.", "The stoat runs.", ...FILLER]);
  expect(await find("otter -stoat")).toEqual([0]);
  await engine.close();
});

test("a session that matches by its title alone comes after all messages", async () => {
  await using engine = await open(":memory:");
  const titled = await engine.createSession({
    agent: "a",
    createdBy: "ana",
    title: "The otter of the lake",
  });
  await titled.append([{ role: "user", content: "Hello." }]);
  const said = await engine.createSession({ agent: "a", createdBy: "ana" });
  await said.append([{ role: "user", content: "An otter." }]);
  const { hits } = await engine.searchSessions("otter", { perSession: 5 });
  expect(hits.map(({ sessionId, entryId }) => [sessionId, entryId === null])).toEqual([
    [said.id, false],
    [titled.id, true],
  ]);
});

test("a pasted line is the first hit among messages, too", async () => {
  const line = "error: could not open the file of the lake";
  const scattered = "The file is open. The lake could not be an error, could it?";
  const { engine, find } = await conversation([
    scattered,
    "Yes.",
    ...FILLER,
    `I saw ${line} today`,
    "Oh.",
  ]);
  expect((await find(line))[0]).toBe(42);
  await engine.close();
});
