import { expect, test } from "vitest";
import { vectorOf } from "../../test/support/embedding-server.ts";
import { open } from "../open.ts";
import { relatedSessions } from "./related.ts";

const TALKS = [
  ["Checkout", "is the database slow, or the payment faulty?", "Two hosts wait for one lock."],
  ["Locks", "is the database slow, or the payment faulty?", "An index would help."],
  ["Soup", "how long do lentils take to boil?", "About twenty minutes."],
] as const;

async function talk(options: Parameters<typeof open>[1] = {}) {
  const engine = await open(":memory:", options);
  const ids: string[] = [];
  for (const [title, question, answer] of TALKS) {
    const session = await engine.createSession({ agent: "a", createdBy: "u", title });
    await session.append([
      { role: "user", actor: "u", content: question },
      { role: "assistant", actor: "a", content: answer },
    ]);
    ids.push(session.id);
  }
  return { engine, ids };
}

test("a session gives similar ones, and its question in them, by words alone", async () => {
  const { engine, ids } = await talk();
  await using _ = engine;
  const related = await relatedSessions(engine, { session: ids[0] as string });
  expect(related.question).toBe(TALKS[0][1]);
  expect(related.sessions.map(({ sessionId }) => sessionId)).toEqual([ids[1]]);
  expect(related.asked.map(({ sessionId }) => sessionId)).toEqual([ids[1]]);
  expect(related.asked[0]?.similarity).toBeUndefined();
});

test("with an embedder a paraphrased question is found", async () => {
  const { engine, ids } = await talk({
    embedder: { name: "bag", embed: async (texts) => texts.map((text) => vectorOf(text)) },
    embedDeadlineMs: 60_000,
  });
  await using _ = engine;
  await engine.embedStored();
  const question = "is the storage sluggish, or the invoice defective?";
  const { asked, sessions, notes } = await relatedSessions(engine, { question });
  expect(notes).toEqual([]);
  expect(sessions).toEqual([]);
  expect(asked.map(({ sessionId }) => sessionId).sort()).toEqual([ids[0], ids[1]].sort());
  for (const { similarity } of asked) expect(similarity).toBeGreaterThanOrEqual(0.6);
});

test("a session without a request has no earlier questions; two subjects or none are refused", async () => {
  const { engine, ids } = await talk();
  await using _ = engine;
  const session = ids[2] as string;
  expect(await relatedSessions(engine, { session })).toMatchObject({ asked: [] });
  const wrong = { code: "invalid_input", details: { field: "question" } };
  await expect(relatedSessions(engine, {})).rejects.toMatchObject(wrong);
  await expect(relatedSessions(engine, { session, question: "x" })).rejects.toMatchObject(wrong);
  await expect(relatedSessions(engine, { question: " " })).rejects.toMatchObject(wrong);
  const missing = relatedSessions(engine, { session: "none" });
  await expect(missing).rejects.toMatchObject({ code: "session_not_found" });
});
