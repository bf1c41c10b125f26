import { expect, test } from "vitest";
import { OPENCLAW } from "../ingest/openclaw/openclaw.ts";
import { open } from "../open.ts";
import { createMachine } from "./archive.cases.ts";

const FOLDER = ".openclaw/agents/main/sessions";
const KEY = "agent:main:telegram:group:9";

function transcript(id: string, text: string): string {
  const timestamp = "2026-05-04T10:00:00.000Z";
  const message = { role: "user", content: [{ type: "text", text }] };
  return [
    { type: "session", version: 3, id, timestamp, cwd: "/srv/shop" },
    { type: "message", id: "m1", parentId: null, timestamp, message },
  ]
    .map((record) => `${JSON.stringify(record)}\n`)
    .join("");
}

test("a gateway's list of sessions becomes routes, and follows its resets", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  const sources = { sources: [OPENCLAW] };
  const list = (sessionId: string) => {
    const entry = { sessionId, displayName: "Family", totalTokens: 12, custom: { a: 1 } };
    machine.put(`${FOLDER}/sessions.json`, JSON.stringify({ [KEY]: entry }));
  };
  list("a1");
  machine.put(`${FOLDER}/a1.jsonl`, transcript("a1", "one"));
  await machine.run(engine, sources);
  const [first] = (await engine.listSessions()).sessions;
  expect(await engine.routes.get(KEY)).toMatchObject({
    sessionId: first?.id,
    version: 1,
    fields: { displayName: "Family", totalTokens: 12, custom: { a: 1 } },
  });
  // The gateway has started another session.
  list("a2");
  machine.put(`${FOLDER}/a2.jsonl`, transcript("a2", "two"));
  await machine.run(engine, sources);
  const route = await engine.routes.get(KEY);
  expect(route.sessionId).not.toBe(first?.id);
  // The key is in use here, so the source's route does not move it.
  const live = await engine.createSession({ agent: "a", createdBy: "ana" });
  await engine.routes.put(KEY, { sessionId: live.id });
  list("a3");
  machine.put(`${FOLDER}/a3.jsonl`, transcript("a3", "three"));
  await machine.run(engine, sources);
  expect((await engine.routes.get(KEY)).sessionId).toBe(live.id);
});

test("an unknown field of a route drops the route and keeps the transcript", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  const list = { [KEY]: { sessionId: "a1", chatType: "choir" } };
  machine.put(`${FOLDER}/sessions.json`, JSON.stringify(list));
  machine.put(`${FOLDER}/a1.jsonl`, transcript("a1", "one"));
  const { totals } = await machine.run(engine, { sources: [OPENCLAW] });
  expect(totals).toMatchObject({ created: 1, problems: new Map([["unexpected", 1]]) });
  expect(await engine.routes.list()).toEqual([]);
});
