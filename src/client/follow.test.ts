import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Change } from "../model/change.ts";
import { type ServedStore, serveStore } from "./client.cases.ts";

let served: ServedStore;
beforeAll(async () => {
  served = await serveStore({}, afterAll);
});

/** Reads changes up to one of the kind, and gives all positions. */
async function until(
  changes: AsyncGenerator<Change, void>,
  isLast: (change: Change) => boolean,
): Promise<Change[]> {
  const taken: Change[] = [];
  for (let next = await changes.next(); !next.done; next = await changes.next()) {
    taken.push(next.value);
    if (isLast(next.value)) return taken;
  }
  return taken;
}

describe("following the feed over the network", () => {
  test("gives changes after the call, as the library does", async () => {
    const { remote, engine } = served;
    const { next } = await engine.listChanges({ after: "end" });
    const following = remote.subscribe();
    const session = await remote.createSession({ agent: "coder", createdBy: "ana" });
    await session.append({ role: "user", content: "hi", usage: { inputTokens: 1 }, model: "m" });
    await session.setTitle("Cron");
    const taken = await until(following, ({ kind }) => kind === "session_updated");
    await following.return();
    expect(taken).toStrictEqual((await engine.listChanges({ after: next })).changes);
    expect(taken.length).toBeGreaterThanOrEqual(3);
  });

  test("gives one session's changes from a cursor on, until its signal is aborted", async () => {
    const { remote } = served;
    const session = await remote.createSession({ agent: "coder", createdBy: "ana" });
    const other = await remote.createSession({ agent: "coder", createdBy: "ana" });
    await other.append({ role: "user", content: "elsewhere" });
    await session.append({ role: "user", content: "here" });
    const end = new AbortController();
    const input = { session: session.id, after: "start", signal: end.signal };
    const kinds: string[] = [];
    for await (const { kind, sessionId } of remote.subscribe(input)) {
      expect(sessionId).toBe(session.id);
      kinds.push(kind);
      if (kind === "entry_appended") end.abort();
    }
    expect(kinds).toEqual(["session_created", "entry_appended"]);
  });

  test("reports a session's deletion that happened while disconnected", async () => {
    const { remote, engine, line } = served;
    const session = await remote.createSession({ agent: "coder", createdBy: "ana" });
    const following = remote.subscribe({ session: session.id, after: "start" });
    expect(await following.next()).toMatchObject({ value: { kind: "session_created" } });
    const next = following.next();
    await engine.deleteSession(session.id);
    line.cut();
    expect(await next).toMatchObject({ value: { kind: "session_deleted" } });
    await following.return();
  });

  test("refuses a cursor of another epoch", async () => {
    const following = served.remote.subscribe({ after: "f2.00000000.0a0a.7.0000000000000000" });
    await expect(following.next()).rejects.toMatchObject({ code: "cursor_expired" });
    const wrong = served.remote.subscribe({ after: "wrong" });
    await expect(wrong.next()).rejects.toMatchObject({ code: "invalid_cursor" });
  });

  test("continues through cuts and restarts, without gap or repeat", async () => {
    const { remote, engine, line, restart } = served;
    const { next } = await engine.listChanges({ after: "end" });
    const following = remote.subscribe({ after: next });
    const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
    const writing = (async () => {
      for (let i = 0; i < 60; i++) {
        await session.append({ role: "user", content: `message ${i}` });
        if (i % 20 === 7) line.cut();
        if (i % 20 === 14) await restart();
      }
      await session.setTitle("done");
    })();
    const taken = await until(following, ({ kind }) => kind === "session_updated");
    await writing;
    await following.return();
    const { changes, end } = await engine.listChanges({ after: next, limit: 500 });
    expect(taken).toStrictEqual(changes);
    expect(end).toBe(true);
  });
});
