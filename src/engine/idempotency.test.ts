import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { open } from "../open.ts";
import type { Engine } from "./engine.ts";
import type { SessionHandle } from "./session-handle.ts";

let engine: Engine;
let session: SessionHandle;

beforeEach(async () => {
  engine = await open(":memory:");
  session = await engine.createSession({ agent: "coder", createdBy: "ana", title: "first" });
});
afterEach(() => engine.close());

const MESSAGE = { role: "assistant", content: "done", model: "m1" } as const;
const KEY = { idempotencyKey: "turn-1" };

describe("an append under a key", () => {
  test("is executed once", async () => {
    const entry = await session.append(MESSAGE, KEY);
    const again = await session.append(MESSAGE, KEY);
    expect(again).toEqual(entry);
    expect((await session.meta()).messageCount).toBe(1);
  });

  test.each([
    ["content", { ...MESSAGE, content: "other" }, {}],
    ["model", { ...MESSAGE, model: "m2" }, {}],
    ["usage", { ...MESSAGE, usage: { inputTokens: 1 } }, {}],
    ["time", { ...MESSAGE, createdAt: 1_000 }, {}],
    ["metadata", { ...MESSAGE, metadata: { a: 1 } }, {}],
    ["parent", MESSAGE, { parent: null }],
    ["expected leaf", MESSAGE, { expectedLeaf: null }],
  ])("conflicts with another %s", async (_, message, options) => {
    await session.append(MESSAGE, KEY);
    await expect(session.append(message, { ...KEY, ...options })).rejects.toMatchObject({
      code: "idempotency_conflict",
    });
    expect((await session.meta()).messageCount).toBe(1);
  });
});

describe("a fork under a key", () => {
  test("is found again after the original's title changed", async () => {
    const first = await session.append({ role: "user", content: "1" });
    await session.append({ role: "user", content: "2" });
    const fork = await session.fork({ createdBy: "bob", through: first.id, ...KEY });
    await session.setTitle("second");
    const again = await session.fork({ createdBy: "bob", through: first.id, ...KEY });
    expect(again.id).toBe(fork.id);
    await expect(session.fork({ createdBy: "bob", ...KEY })).rejects.toMatchObject({
      code: "idempotency_conflict",
    });
  });
});

describe("a subscription", () => {
  test("begins with its call, and ends on return while it waits", async () => {
    const changes = engine.subscribe();
    await engine.status();
    await session.append({ role: "user", content: "1" });
    expect((await changes.next()).value).toMatchObject({ kind: "entry_appended" });
    const waiting = changes.next();
    await changes.return();
    expect((await waiting).done).toBe(true);
  });
});
