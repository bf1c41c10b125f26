/** The session for the OpenAI Agents SDK, held to the SDK's contract with the SDK itself. */

import {
  Agent,
  type AgentInputItem,
  isSessionHistoryRewriteAwareSession,
  isSessionHistoryTransactionAwareSession,
  MemorySession,
  type Model,
  type ModelRequest,
  type ModelResponse,
  Runner,
  type Session,
  type SessionHistoryTransaction,
  tool,
  Usage,
} from "@openai/agents";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import {
  type AgentsSession,
  agentsSession,
  fitHistory,
} from "../../src/adapters/openai-agents/index.ts";
import { textOf } from "../../src/index.ts";
import { WORLDS, type World } from "../support/worlds.ts";
import { call, ITEMS, result, said, user } from "./agents/openai-items.ts";

describe.each(WORLDS)("on %s", (_, start) => {
  let world: World;
  beforeAll(async () => {
    world = await start();
  });
  afterAll(() => world.close());

  const newSession = () => agentsSession(world.engine) satisfies Session as AgentsSession;

  test("is a session with transactions and mutations, identified by its id", async () => {
    const session = newSession();
    expect(isSessionHistoryTransactionAwareSession(session)).toBe(true);
    expect(isSessionHistoryRewriteAwareSession(session)).toBe(true);
    expect(await session.getSessionId()).toBe(await session.getSessionId());
    const named = { sessionId: "chats/my chat" };
    await agentsSession(world.engine, named).addItems([user("hello")]);
    const again = agentsSession(world.engine, named);
    expect(await again.getSessionId()).toBe("chats/my chat");
    expect(await again.getItems()).toEqual([user("hello")]);
  });

  test("returns items unchanged, the newest in order", async () => {
    const session = newSession();
    expect(await session.getItems()).toEqual([]);
    await session.addItems([]);
    await session.addItems([...ITEMS]);
    expect(await session.getItems()).toEqual(ITEMS);
    expect(await session.getItems(3)).toEqual(ITEMS.slice(-3));
    expect(await session.getItems(0)).toEqual([]);
    expect(await session.getItems(-1)).toEqual([]);
    expect(await session.getItems(1_000)).toEqual(ITEMS);
    const [first] = await session.getItems(1);
    (first as { providerData?: unknown }).providerData = "changed by the caller";
    expect(await session.getItems()).toEqual(ITEMS);
  });

  test("keeps bytes, and more items than a page", async () => {
    const session = newSession();
    const bytes = new Uint8Array([0, 1, 254, 255]);
    const image = {
      role: "user",
      content: [{ type: "input_image", image: "", providerData: { bytes } }],
    } as AgentInputItem;
    const many = Array.from({ length: 1_100 }, (_, n) => user(`item ${n}`));
    await session.addItems([image, ...many]);
    expect(await session.getItems()).toEqual([image, ...many]);
    expect(await session.getItems(600)).toEqual(many.slice(-600));
  });

  test("refuses items that it could not return, before anything is stored", async () => {
    const session = newSession();
    const hidden = Object.defineProperty({ shown: 1 }, "hidden", { value: 2, enumerable: false });
    const wrong = { ...user("a"), providerData: hidden } as AgentInputItem;
    await expect(session.addItems([wrong])).rejects.toThrow("hidden field (hidden)");
    const args = {
      operationId: "o",
      get transaction(): never {
        throw new Error("api-key");
      },
    };
    const failed = session.applyHistoryTransaction(args as never);
    await expect(failed).rejects.toThrow("a field cannot be read");
    await expect(failed).rejects.not.toThrow("api-key");
    const endless: Record<string, unknown> = {};
    endless["self"] = endless;
    const looped = { ...user("a"), providerData: endless } as AgentInputItem;
    await expect(session.addItems([looped])).rejects.toThrow("refers to itself");
    const secret = { ...user("a"), providerData: { key: Symbol("api-key") } };
    for (const item of [
      looped,
      secret,
      42,
      undefined,
      { ...user("a"), providerData: new Date() },
    ]) {
      const transaction = { type: "append_items", items: [item as AgentInputItem] } as const;
      const refused = session.applyHistoryTransaction({
        operationId: "o",
        transaction: transaction as never,
      });
      await expect(refused).rejects.toMatchObject({
        code: "invalid_input",
        message: "Session history transaction items contain invalid or unsupported data.",
        details: { field: expect.stringContaining("item") },
      });
    }
    expect(await session.getItems()).toEqual([]);
  });

  test("pops the newest item, and clears all of them", async () => {
    const session = newSession();
    expect(await session.popItem()).toBeUndefined();
    await session.addItems([user("a"), said("b"), user("c")]);
    expect(await session.popItem()).toEqual(user("c"));
    expect(await session.getItems()).toEqual([user("a"), said("b")]);
    await session.addItems([user("d")]);
    await session.clearSession();
    expect(await session.getItems()).toEqual([]);
    expect(await session.popItem()).toBeUndefined();
    await session.addItems([user("e")]);
    expect(await session.getItems()).toEqual([user("e")]);
    const popped = await Promise.all([session.popItem(), session.popItem(), session.popItem()]);
    expect(popped).toEqual([user("e"), undefined, undefined]);
  });

  test("deletes cleared items if configured", async () => {
    const session = agentsSession(world.engine, { onClear: "delete" });
    await session.addItems([user("a")]);
    const { id } = await session.backscrollSession();
    await session.clearSession();
    expect(await session.getItems()).toEqual([]);
    expect(await world.engine.findTombstone(id)).toBeDefined();
  });

  test("keeps the order of unawaited calls", async () => {
    const session = newSession();
    const items = Array.from({ length: 20 }, (_, n) => user(`${n}`));
    await Promise.all(items.map((item) => session.addItems([item])));
    expect(await session.getItems()).toEqual(items);
  });

  test("popped and cleared items leave search, present ones are found", async () => {
    const session = newSession();
    await session.addItems([user("the quokka question"), said("the wombat answer")]);
    const { id } = await session.backscrollSession();
    const hits = async (query: string) =>
      (await world.engine.searchSessions(query, { session: id })).hits.length;
    expect([await hits("quokka"), await hits("wombat")]).toEqual([1, 1]);
    await session.popItem();
    expect([await hits("quokka"), await hits("wombat")]).toEqual([1, 0]);
    await session.clearSession();
    expect(await hits("quokka")).toBe(0);
  });

  describe("a transaction", () => {
    const apply = (session: AgentsSession, operationId: string, tx: SessionHistoryTransaction) =>
      session.applyHistoryTransaction({ operationId, transaction: tx });
    const append = (...items: AgentInputItem[]) => ({ type: "append_items", items }) as const;
    const replace = (expectedSuffix: AgentInputItem[], replacement: AgentInputItem[]) =>
      ({ type: "replace_suffix", expectedSuffix, replacement }) as const;

    test("appends once under its id", async () => {
      const session = newSession();
      await apply(session, "op 1", append(user("a"), said("b")));
      await session.addItems([user("c")]);
      await apply(session, "op 1", append(user("a"), said("b")));
      const reordered = { content: "a", role: "user", type: "message" } as AgentInputItem;
      await apply(session, "op 1", append(reordered, said("b")));
      expect(await session.getItems()).toEqual([user("a"), said("b"), user("c")]);
      await expect(apply(session, "op 1", append(user("other")))).rejects.toMatchObject({
        code: "idempotency_conflict",
      });
      await apply(session, "op 2", append());
      expect(await session.getItems()).toHaveLength(3);
    });

    test("replaces a suffix once, also by nothing and also all of it", async () => {
      const session = newSession();
      await session.addItems([user("a"), call("1"), said("draft")]);
      const first = replace([call("1"), said("draft")], [said("answer")]);
      await apply(session, "op 1", first);
      await apply(session, "op 1", first);
      expect(await session.getItems()).toEqual([user("a"), said("answer")]);
      await apply(session, "op 2", replace([said("answer")], []));
      await apply(session, "op 2", replace([said("answer")], []));
      expect(await session.getItems()).toEqual([user("a")]);
      await apply(session, "op 3", replace([user("a")], []));
      expect(await session.getItems()).toEqual([]);
      await apply(session, "op 4", replace([], [user("anew")]));
      await apply(session, "op 3", replace([user("a")], []));
      expect(await session.getItems()).toEqual([user("anew")]);
    });

    test("fails without effect if the end differs, or it is not a transaction", async () => {
      const session = newSession();
      const items = [user("a"), user("b")];
      await session.addItems(items);
      for (const expected of [[user("a")], [user("x"), user("b")], [user("0"), ...items]]) {
        await expect(apply(session, "op", replace(expected, []))).rejects.toMatchObject({
          code: "stale_leaf",
        });
      }
      const wrong = [
        { operationId: " ", transaction: append() },
        { operationId: "x", transaction: { type: "other" } },
        { operationId: "x", transaction: { type: "append_items" } },
        { operationId: "x", transaction: { ...append(), more: 1 } },
        { operationId: "x", transaction: append({ role: "user", content: 1n } as never) },
        undefined,
      ];
      for (const args of wrong) {
        await expect(session.applyHistoryTransaction(args as never)).rejects.toMatchObject({
          code: "invalid_input",
        });
      }
      expect(await session.getItems()).toEqual(items);
      await apply(session, "op", replace([user("b")], []));
      expect(await session.getItems()).toEqual([user("a")]);
    });

    test("is applied once under concurrency, and again after a clear", async () => {
      const sessionId = crypto.randomUUID();
      const many = Array.from({ length: 8 }, () => agentsSession(world.engine, { sessionId }));
      const [session = newSession()] = many;
      await session.addItems([user("a"), said("draft")]);
      const change = replace([said("draft")], [said("answer")]);
      await Promise.all(many.map((each) => apply(each, "op", change)));
      await Promise.all(many.map((each) => apply(each, "more", append(user("b")))));
      expect(await session.getItems()).toEqual([user("a"), said("answer"), user("b")]);
      await session.clearSession();
      await apply(session, "more", append(user("b")));
      expect(await session.getItems()).toEqual([user("b")]);
    });
  });

  test("mutations replace a call in its place, as the SDK's own session does", async () => {
    const items = [
      user("a"),
      call("1", '{"v":1}'),
      call("2"),
      call("1", '{"v":0}'),
      result("1", "x"),
    ];
    const mutations = [
      { type: "replace_function_call", callId: "1", replacement: call("1", '{"v":2}') },
      { type: "replace_function_call", callId: "none", replacement: call("none") },
    ] as Parameters<MemorySession["applyHistoryMutations"]>[0]["mutations"];
    const [own, theirs] = [newSession(), new MemorySession({ initialItems: items })];
    await own.addItems(items);
    for (const session of [own, theirs]) {
      await session.applyHistoryMutations({ mutations: [] });
      await session.applyHistoryMutations({ mutations });
    }
    expect(await own.getItems()).toEqual(await theirs.getItems());
    await own.addItems([said("done")]);
    expect(await own.getItems(1)).toEqual([said("done")]);
  });

  test("a compaction replaces the history, which stays searchable", async () => {
    const session = newSession();
    await session.addItems([user("the numbat question"), said("an answer")]);
    const sealed = { type: "compaction", encrypted_content: "sealed" } as AgentInputItem;
    await session.replaceHistoryWithCompaction([sealed, said("kept")]);
    expect(await session.getItems()).toEqual([sealed, said("kept")]);
    await session.addItems([user("more")]);
    expect(await session.getItems(9)).toEqual([sealed, said("kept"), user("more")]);
    const { id } = await session.backscrollSession();
    expect((await world.engine.searchSessions("numbat", { session: id })).hits).toHaveLength(1);
    const transaction = {
      type: "replace_suffix",
      expectedSuffix: [said("kept"), user("more")],
      replacement: [],
    } as const;
    await session.applyHistoryTransaction({ operationId: "1", transaction });
    expect(await session.popItem()).toEqual(sealed);
    expect(await session.getItems()).toEqual([]);
    await session.replaceHistoryWithCompaction([sealed]);
    await session.replaceHistoryWithCompaction([]);
    expect(await session.getItems()).toEqual([]);
  });

  test("an agent's run is stored, and another process continues it", async () => {
    const sessionId = crypto.randomUUID();
    const look = tool({
      name: "look",
      description: "Looks at a file.",
      parameters: z.object({ path: z.string() }),
      execute: async ({ path }) => `${path} holds the kowari lock`,
    });
    const first = new ScriptedModel([
      [call("c1", '{"path":"/var/lock/cron"}')],
      [said("Because the lock is stale.")],
    ]);
    const agent = new Agent({ name: "coder", instructions: "Help.", tools: [look], model: first });
    const runner = new Runner({ tracingDisabled: true });
    const run = await runner.run(agent, "Why does cron run twice?", {
      session: agentsSession(world.engine, { sessionId }),
    });
    expect(run.finalOutput).toBe("Because the lock is stale.");
    const { hits } = await world.engine.searchSessions("kowari lock");
    expect(hits[0]?.window.some(({ snippet }) => snippet.includes("kowari"))).toBe(true);

    const second = new ScriptedModel([[said("Delete it.")]]);
    await runner.run(agent.clone({ model: second }), "And now?", {
      session: agentsSession(world.engine, { sessionId }),
    });
    const input = (second.requests[0]?.input ?? []) as AgentInputItem[];
    const types = input.map((item) => item.type ?? "message");
    expect(types).toEqual([
      "message",
      "function_call",
      "function_call_result",
      "message",
      "message",
    ]);
    const session = await agentsSession(world.engine, { sessionId }).backscrollSession();
    const { messages } = await session.listMessages();
    const roles = messages.map(({ role }) => role);
    expect(roles).toEqual(["user", "assistant", "tool", "assistant", "user", "assistant"]);
    expect(textOf(messages.at(-1)?.blocks ?? [])).toBe("Delete it.");
  });
});

test("a fitted history starts with a turn or a compaction, and splits no pair", () => {
  const pad = "x".repeat(400);
  const sealed = { type: "compaction", encrypted_content: "sealed" } as AgentInputItem;
  const turn = (n: number) => [user(`${n} ${pad}`), call(`${n}`), result(`${n}`, pad), said("ok")];
  const history = [...turn(0), sealed, said("kept"), ...turn(1), ...turn(2)];
  const fit = (tokenBudget: number) => fitHistory({ tokenBudget })(history, [user("new")]);
  expect(fit(100_000)).toEqual([sealed, said("kept"), ...turn(1), ...turn(2), user("new")]);
  expect(fit(500)).toEqual([sealed, ...turn(2), user("new")]);
  expect(fit(1)).toEqual([sealed, ...turn(2), user("new")]);
  const cut = fitHistory({ tokenBudget: 500 })([result("gone", "x"), said("ok")], []);
  expect(cut).toEqual([said("ok")]);
});

/** A model that gives scripted answers, one per request. */
class ScriptedModel implements Model {
  readonly requests: ModelRequest[] = [];
  readonly #answers: AgentInputItem[][];

  constructor(answers: AgentInputItem[][]) {
    this.#answers = answers;
  }

  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    this.requests.push(request);
    const output = this.#answers.shift();
    if (output === undefined) throw new Error("the script is at its end");
    return { usage: new Usage(), output: output as ModelResponse["output"] };
  }

  // biome-ignore lint/correctness/useYield: the runs here do not stream.
  async *getStreamedResponse(): AsyncGenerator<never> {
    throw new Error("no run here streams");
  }
}
