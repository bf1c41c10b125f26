import { expect, test } from "vitest";
import { open } from "../index.ts";
import { READ_ACCESS } from "./access.cases.ts";
import { listSessions } from "./tools/sessions.ts";
import { trace } from "./tools/trace.ts";
import { recap, related } from "./tools/work.ts";

test("related and trace leave out the caller's own session and say so", async () => {
  await using engine = await open(":memory:", { inThread: true });
  const say = async (content: string) => {
    const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
    await session.append({ role: "user", content });
    return session.id;
  };
  await say("which wombat digs? the earlier one");
  const own = await say("which wombat digs? the own one");
  const host = { tenant: engine, access: READ_ACCESS, version: "0", sessions: [own] };
  const answer = async (tool: typeof related, input: object) =>
    JSON.stringify((await tool.call(host, input)).content);
  const found = await answer(related, { question: "which wombat digs?" });
  expect(found).toContain("the earlier one");
  expect(found).not.toContain("the own one");
  expect(found).toContain("Your own session is left out.");
  expect(await answer(trace, { file: "zoo.ts" })).toContain("Your own session is left out.");
});

test("related names its arguments in errors", async () => {
  await using engine = await open(":memory:", { inThread: true });
  const { content, isError } = await related.call(
    { tenant: engine, access: READ_ACCESS, version: "0" },
    {},
  );
  expect(isError).toBe(true);
  expect(JSON.stringify(content)).toContain("exactly one of session_id and question. Example: ");
});

test("related shows each session once, the newest last and marked where the caller is unknown", async () => {
  await using engine = await open(":memory:", { inThread: true });
  const ids: string[] = [];
  for (const words of ["in sand", "in clay", "in moss", "today"]) {
    const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
    await session.append({ role: "user", content: `which wombat digs ${words}` });
    ids.push((await session.meta()).shortId);
  }
  const host = { tenant: engine, access: READ_ACCESS, version: "0" };
  const text = async (input: object) => {
    const [first] = (await related.call(host, input)).content;
    return first?.type === "text" ? first.text : "";
  };
  const listed = (answer: string) =>
    [...answer.matchAll(/^(asked before|like it): (\w+)#0 .*$/gm)].map(([line, , id]) => ({
      id,
      isMarked: line.includes("the newest session here"),
    }));
  const asked = listed(await text({ question: "which wombat digs" }));
  expect(asked.map(({ id }) => id).sort()).toEqual(ids.toSorted());
  expect(asked.map(({ isMarked }) => isMarked)).toEqual([false, false, false, true]);
  expect(asked.at(-1)?.id).toBe(ids.at(-1));
  const alike = await text({ session_id: ids[0] });
  expect(listed(alike)).toHaveLength(3);
  expect(alike).toContain(`Read on: list_messages { "around": "${listed(alike)[0]?.id}#0" }.`);
});

test("recap and list leave out the caller's own session, or mark what may be it", async () => {
  await using engine = await open(":memory:", { inThread: true });
  const startedAt = Date.now() - 1_000;
  const say = async (content: string) => {
    const session = await engine.createSession({
      agent: "coder",
      createdBy: "ana",
      title: content,
    });
    await session.append({ role: "user", content });
    return session.id;
  };
  await say("an earlier one");
  const own = await say("the own one");
  const base = { tenant: engine, access: READ_ACCESS, version: "0", startedAt };
  for (const tool of [recap, listSessions]) {
    const text = async (host: typeof base & { sessions?: string[] }, input: object = {}) => {
      const [first] = (await tool.call(host, input)).content;
      return first?.type === "text" ? first.text : "";
    };
    const named = await text({ ...base, sessions: [own] }, { limit: 1 });
    const all = tool === listSessions ? await text({ ...base, sessions: [own] }) : named;
    expect(all).toContain("an earlier one");
    expect(named).not.toContain("the own one");
    expect(named).toContain("Your own session is left out.");
    const unnamed = await text(base);
    expect(unnamed).toMatch(/the own one \[.*maybe the one you speak in\]/);
    expect(unnamed.split("maybe the one you speak in")).toHaveLength(2);
    const later = await text({ ...base, startedAt: Date.now() + 60_000 });
    expect(later).not.toContain("maybe");
  }
  const one = await recap.call({ ...base, sessions: [own] }, { session_id: own });
  expect(JSON.stringify(one.content)).toContain("the own one");
});
