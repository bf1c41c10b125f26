import {
  convertToModelMessages,
  isStepCount,
  jsonSchema,
  streamText,
  tool,
  toUIMessageStream,
  type UIMessage,
  validateUIMessages,
} from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase } from "../../../test/support/postgres.ts";
import { serveStore } from "../../client/client.cases.ts";
import type { TenantApi } from "../../engine/interfaces.ts";
import { open } from "../../index.ts";
import { chatStore } from "./index.ts";

const say = (id: string, text: string, role: UIMessage["role"] = "user"): UIMessage => ({
  id,
  role,
  parts: [{ type: "text", text }],
});

/** An object with some methods of its own. */
function over<Api extends object>(api: Api, own: Partial<Api>): Api {
  return new Proxy(api, {
    get: (target, name) => {
      if (name in own) return own[name as keyof Api];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

describe.each(["sqlite", "postgres", "client"] as const)("chats on %s", (where) => {
  let tenant: TenantApi;
  let end: () => Promise<void>;
  let chats: ReturnType<typeof chatStore<UIMessage>>;

  beforeAll(async () => {
    if (where === "client") {
      const { remote } = await serveStore({}, (stop) => {
        end = stop;
      });
      tenant = remote;
    } else {
      const engine = await open(where === "postgres" ? await createDatabase() : ":memory:");
      end = () => engine.close();
      tenant = engine;
    }
    chats = chatStore<UIMessage>(tenant);
  });
  afterAll(() => end());

  test("round-trip unchanged", async () => {
    const messages: UIMessage[] = [
      say("u1", "why does cron run twice?"),
      {
        id: "a1",
        role: "assistant",
        metadata: { tokens: 3, nested: { a: [null] } },
        parts: [
          { type: "step-start" },
          { type: "reasoning", text: "hm", providerMetadata: { x: { signature: "s" } } },
          {
            type: "tool-read",
            toolCallId: "c1",
            state: "output-available",
            input: { path: "crontab" },
            output: { lines: ["walrus"] },
          },
          { type: "data-weather", id: "w", data: { city: "Oslo" } },
          { type: "source-url", sourceId: "s", url: "https://example.org" },
          { type: "text", text: "the lock is gone", state: "done" },
        ],
      },
    ];
    await chats.save("plain", messages);
    const loaded = await chats.load("plain");
    expect(loaded).toEqual(messages);
    expect(await validateUIMessages({ messages: loaded })).toHaveLength(2);
    expect(await chats.load("none")).toEqual([]);
    const session = await chats.session("plain");
    const { hits } = await tenant.searchSessions("cron lock gone");
    expect(hits[0]?.sessionId).toBe(session.id);
    expect((await tenant.searchSessions("crontab")).hits[0]?.sessionId).toBe(session.id);
  });

  test("saving the same again writes nothing", async () => {
    const messages = [say("u1", "a"), say("a1", "b", "assistant")];
    await chats.save("same", messages);
    const session = await chats.session("same");
    const { entryCount } = await session.meta();
    // As another program may have put them together.
    const shuffled = messages.map(({ parts, role, id }) => ({ parts, role, id }));
    await chats.save("same", shuffled);
    expect((await session.meta()).entryCount).toBe(entryCount);
  });

  test("a message that is saved again under its id supersedes the first, as after an approval", async () => {
    const asked: UIMessage = {
      id: "a1",
      role: "assistant",
      parts: [
        {
          type: "tool-delete",
          toolCallId: "c1",
          state: "approval-requested",
          input: { path: "/tmp" },
          approval: { id: "ok1" },
        },
      ],
    };
    const approved: UIMessage = {
      ...asked,
      parts: [
        {
          type: "tool-delete",
          toolCallId: "c1",
          state: "output-available",
          input: { path: "/tmp" },
          approval: { id: "ok1", approved: true },
          output: "a narwhal was deleted",
        },
        { type: "text", text: "Done." },
      ],
    };
    await chats.save("approval", [say("u1", "delete it"), asked]);
    await chats.save("approval", [say("u1", "delete it"), approved]);
    expect(await chats.load("approval")).toEqual([say("u1", "delete it"), approved]);
    await chats.upsert("approval", asked);
    expect((await chats.load("approval")).at(-1)).toEqual(asked);
    await chats.upsert("approval", approved, say("u2", "thanks"));
    expect((await chats.load("approval")).map(({ id }) => id)).toEqual(["u1", "a1", "u2"]);
    // The replaced version stays in the tree.
    const session = await chats.session("approval");
    expect((await session.branches()).length).toBeGreaterThan(1);
  });

  test("regenerating, editing and going back are saved", async () => {
    const one = [say("u1", "one"), say("a1", "first", "assistant"), say("u2", "two")];
    await chats.save("edit", one);
    const other = [say("u1", "one"), say("a2", "second", "assistant")];
    await chats.save("edit", other);
    expect(await chats.load("edit")).toEqual(other);
    const edited = [say("u1", "uno"), ...other.slice(1)];
    await chats.save("edit", edited);
    expect(await chats.load("edit")).toEqual(edited);
    await chats.save("edit", edited.slice(0, 1));
    expect(await chats.load("edit")).toEqual(edited.slice(0, 1));
    await chats.save("edit", []);
    expect(await chats.load("edit")).toEqual([]);
    await chats.delete("edit");
    await chats.delete("edit");
    expect(await chats.load("edit")).toEqual([]);
  });

  test("messages that are added concurrently are all stored", async () => {
    await Promise.all(
      Array.from({ length: 6 }, (_, i) => chats.upsert("many", say(`u${i}`, `${i}`))),
    );
    const ids = (await chats.load("many")).map(({ id }) => id);
    expect(ids.toSorted()).toEqual(["u0", "u1", "u2", "u3", "u4", "u5"]);
  });

  test("two stores add to one chat in turns, and edit each other's messages", async () => {
    const other = chatStore<UIMessage>(tenant);
    await chats.upsert("shared", say("u1", "one"));
    await other.upsert("shared", say("a1", "two", "assistant"));
    await chats.upsert("shared", say("u2", "three"));
    await other.upsert("shared", say("u2", "drei"), say("a2", "four", "assistant"));
    await chats.upsert("shared", say("u3", "five"));
    expect(await chats.load("shared")).toEqual([
      say("u1", "one"),
      say("a1", "two", "assistant"),
      say("u2", "drei"),
      say("a2", "four", "assistant"),
      say("u3", "five"),
    ]);
    await other.delete("shared");
    await chats.upsert("shared", say("u4", "six"));
    expect(await other.load("shared")).toEqual([say("u4", "six")]);
  });

  test("an unchanged message that is added again is stored once", async () => {
    await chats.upsert("again", say("u1", "one"), say("a1", "two", "assistant"));
    const session = await chats.session("again");
    const { entryCount } = await session.meta();
    await chats.upsert("again", say("u1", "one"));
    expect((await session.meta()).entryCount).toBe(entryCount);
  });

  test("more messages than one append takes are stored once, also if another process adds between", async () => {
    let appends = 0;
    const other = chatStore<UIMessage>(tenant);
    const session: TenantApi["session"] = (id) => {
      const chat = tenant.session(id);
      const appendEntries: typeof chat.appendEntries = async (...args) => {
        if (++appends === 2) await other.upsert("long", say("b1", "between"));
        return chat.appendEntries(...args);
      };
      return over(chat, { appendEntries });
    };
    const ensureSession: TenantApi["ensureSession"] = async (input) =>
      session((await tenant.ensureSession(input)).id);
    const slow = chatStore<UIMessage>(over(tenant, { session, ensureSession }));
    const messages = Array.from({ length: 1_020 }, (_, i) => say(`m${i}`, `${i}`));
    await slow.upsert("long", ...messages);
    const ids = (await chats.load("long")).map(({ id }) => id);
    expect(ids.toSorted()).toEqual(["b1", ...messages.map(({ id }) => id)].toSorted());
  });

  test("messages of other writers are shown by their text", async () => {
    const session = await chats.session("mixed");
    await session.append({ role: "user", content: "from elsewhere" });
    const [message] = await chats.load("mixed");
    expect(message).toMatchObject({
      role: "user",
      parts: [{ type: "text", text: "from elsewhere" }],
    });
    await chats.upsert("mixed", say("a1", "seen", "assistant"));
    expect(await chats.load("mixed")).toHaveLength(2);
    expect(await session.branches()).toHaveLength(1);
  });

  test("an agent's tool loop is saved at its end, and continues from the stored messages", async () => {
    const turn = async (text: string) => {
      const messages = [...(await chats.load("agent")), say(`u-${text}`, text)];
      const result = streamText({
        model: scriptedModel(),
        stopWhen: isStepCount(3),
        tools: {
          look: tool({
            inputSchema: jsonSchema<{ at: string }>({ type: "object" }),
            execute: ({ at }) => `a manatee at ${at}`,
          }),
        },
        messages: await convertToModelMessages(messages),
      });
      let n = 0;
      const chunks = toUIMessageStream({
        stream: result.stream,
        originalMessages: messages,
        generateMessageId: () => `a-${text}-${n++}`,
        onEnd: ({ messages: all }) => chats.save("agent", all),
      });
      for await (const _ of chunks);
    };
    await turn("first");
    await turn("second");
    const stored = await chats.load("agent");
    expect(stored.map(({ id }) => id)).toEqual(["u-first", "a-first-0", "u-second", "a-second-0"]);
    expect(stored[1]?.parts).toContainEqual(
      expect.objectContaining({ type: "tool-look", output: "a manatee at pier" }),
    );
    const found = await tenant.searchSessions("manatee");
    expect(found.hits[0]?.sessionId).toBe((await chats.session("agent")).id);
  });
});

/** Calls a tool, then answers. */
function scriptedModel(): MockLanguageModelV4 {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const call = { type: "tool-call", toolCallId: "c", toolName: "look", input: '{"at":"pier"}' };
  const steps = [
    [call, { type: "finish", finishReason: { unified: "tool-calls", raw: "x" }, usage }],
    [
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "I see it." },
      { type: "text-end", id: "t" },
      { type: "finish", finishReason: { unified: "stop", raw: "x" }, usage },
    ],
  ];
  let step = 0;
  return new MockLanguageModelV4({
    doStream: async () => ({
      stream: ReadableStream.from([
        { type: "stream-start", warnings: [] },
        ...(steps[step++] ?? []),
      ]),
    }),
  } as never);
}
