import { expect, test } from "vitest";
import type { ErrorCode } from "../../model/errors.ts";
import { open } from "../../open.ts";

const [ONE, TWO] = ["0f3c9a12-77aa-4e0b-9c55-1d2e3f4a5b6c", "0f3c9a12-77ab-4e0b-9c55-1d2e3f4a5b6c"];

async function filled() {
  const engine = await open(":memory:");
  const add = async (id: string, own: string, title: string) => {
    const origin = { source: "codex", workstation: "w", projectId: "p", key: `w:p:${own}` };
    const handle = await engine.createSession({ id, agent: "a", createdBy: "a", title, origin });
    await handle.append({ role: "user", actor: "ana", content: `walrus ${id}` });
  };
  await add("one", ONE, "Invoices");
  await add("two", TWO, "Orders");
  return engine;
}

async function refused(code: ErrorCode, action: () => Promise<unknown>): Promise<string> {
  const error = await action().then(
    () => expect.unreachable(),
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ code });
  return (error as Error).message;
}

test("reads accept a short id and the agent's own id", async () => {
  await using engine = await filled();
  for (const [ref, id] of [
    ["one", "one"],
    ["0f3c9a12", "one"],
    [TWO, "two"],
    ["0f3c9a12-7", "two"],
  ] as const) {
    expect((await engine.getSession(ref)).id).toBe(id);
    expect((await engine.getSessionMeta(ref)).id).toBe(id);
    expect((await engine.listMessages(ref)).total).toBe(1);
    const { hits } = await engine.searchSessions("walrus", { session: ref });
    expect(hits).toMatchObject([{ sessionId: id, shortId: expect.stringMatching(/^0f3c9a12/) }]);
    const others = await engine.searchSessions("walrus", { excludeSession: [ref] });
    expect(others.hits.map((hit) => hit.sessionId)).not.toContain(id);
    expect((await engine.listChanges({ session: ref })).changes.length).toBeGreaterThan(0);
    expect(await engine.listFacts({ sessionId: ref })).toEqual([]);
    expect(await engine.listDerived(ref)).toMatchObject({ forks: [] });
  }
});

test("several sessions with one agent's id are all named", async () => {
  await using engine = await filled();
  const origin = { source: "codex", workstation: "w", projectId: "q", key: `w:q:${ONE}` };
  await engine.createSession({ id: "third", agent: "a", createdBy: "a", title: "Third", origin });
  const message = await refused("session_ambiguous", () => engine.getSession(ONE));
  expect(message).toContain("0f3c9a12 (Invoices), 0f3c9a12-77 (Third)");
});

test("the beginning of one id is that id; of several it is refused, and they are named", async () => {
  await using engine = await filled();
  const { id } = await engine.getSessionMeta(TWO.slice(0, -1));
  expect(id).toBe("two");
  const message = await refused("session_not_found", () => engine.getSession("0f3c9"));
  expect(message).toContain("0f3c9a12 (Invoices), 0f3c9a12-7 (Orders)");
});

test("writes and deletions accept the full id only", async () => {
  await using engine = await filled();
  const message = { role: "user", actor: "ana", content: "x" } as const;
  await refused("session_not_found", () => engine.deleteSession("0f3c9a12"));
  await refused("session_not_found", () => engine.session("0f3c9a12").append(message));
  await refused("session_not_found", () => engine.compactConversation("0f3c9a12"));
  await refused("session_not_found", () => engine.getSession("0f3"));
});
