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
import { type ChatRequest, chatStore } from "./index.ts";

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

  test("a mistyped id makes no chat", async () => {
    const unknown = { code: "invalid_input", details: { field: "chatId" } };
    await expect(chats.rename("mistyped", "Cron")).rejects.toMatchObject(unknown);
    await expect(chats.choose("mistyped", "01M7TTFQW8")).rejects.toMatchObject(unknown);
    expect((await chats.list()).chats.map(({ id }) => id)).not.toContain("mistyped");
  });

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

  test("requests of useChat ask, edit and ask again; each version is kept and can be chosen", async () => {
    // Without a type argument, as documented.
    const own = chatStore(tenant, { agent: "helper", keyPrefix: "routes/" });
    let answers = 0;
    /** The route of docs/ai-sdk.md, without its response. */
    const post = async (request: ChatRequest<UIMessage>) => {
      const messages = await own.receive("c", request, { author: "ana" });
      const result = streamText({
        model: answering(`answer ${++answers}`),
        messages: await convertToModelMessages(messages),
      });
      const chunks = toUIMessageStream({
        stream: result.stream,
        originalMessages: messages,
        generateMessageId: () => `a${answers}`,
        onEnd: ({ messages: all }) => own.save("c", all, { author: "ana", result }),
      });
      for await (const _ of chunks);
      return (await own.load("c")).map(({ id, parts }) => [id, textOfParts(parts)]);
    };
    const first = await post({ message: say("u1", "why?"), trigger: "submit-message" });
    expect(first).toEqual([
      ["u1", "why?"],
      ["a1", "answer 1"],
    ]);
    await post({ message: say("u2", "and then?"), trigger: "submit-message" });
    const again = await post({ trigger: "regenerate-message", messageId: "a2" });
    expect(again.map(([id]) => id)).toEqual(["u1", "a1", "u2", "a3"]);
    const edited = await post({ message: say("u1", "how?"), messageId: "u1" });
    expect(edited).toEqual([
      ["u1", "how?"],
      ["a4", "answer 4"],
    ]);

    const questions = await own.versions("c", "u1");
    expect(questions.map(({ message, active }) => [textOfParts(message.parts), active])).toEqual([
      ["why?", false],
      ["how?", true],
    ]);
    const back = await own.choose("c", questions[0]?.entryId ?? "");
    expect(back.map(({ id }) => id)).toEqual(["u1", "a1", "u2", "a3"]);
    expect(await own.load("c")).toEqual(back);
    const others = await own.versions("c", "a3");
    expect(others.map(({ message, active }) => [message.id, active])).toEqual([
      ["a2", false],
      ["a3", true],
    ]);
    expect((await own.choose("c", others[0]?.entryId ?? "")).at(-1)?.id).toBe("a2");
    // Chosen again it stays, and without a message to make again the last answer goes.
    expect((await own.choose("c", others[0]?.entryId ?? "")).at(-1)?.id).toBe("a2");
    expect((await post({ trigger: "regenerate-message" })).at(-1)?.[0]).toBe("a5");
    expect(await own.versions("c", "none")).toEqual([]);
    await expect(own.choose("c", "none")).rejects.toMatchObject({ code: "invalid_input" });
    const unknown = own.receive("c", { trigger: "regenerate-message", messageId: "none" });
    await expect(unknown).rejects.toThrow("messageId none is no message of the chat's active path");

    const session = await own.session("c");
    const entries = await session.listEntries({ tree: true, limit: 500 });
    const said = entries.entries.filter(({ kind }) => kind === "message");
    expect(said.map(({ role, actor, model, usage }) => [role, actor, model, usage])).toEqual(
      said.map(({ role }) =>
        role === "user" ? ["user", "ana", null, null] : ["assistant", "helper", "small-1", USED],
      ),
    );
    // Every call is counted once, whichever version is shown.
    const calls = said.filter(({ role }) => role === "assistant").length;
    expect(calls).toBe(answers);
    expect((await tenant.stats({ session: session.id })).total.tokens.inputTokens).toBe(7 * calls);
  });

  test("chats are listed with their titles, the last used first, page by page", async () => {
    const own = chatStore(tenant, { agent: "lister", keyPrefix: "listed/" });
    expect(await own.list()).toEqual({ chats: [] });
    await own.save("one", [say("u1", "Why does\n the cron job run twice?")]);
    await own.save("two", [say("u1", "x".repeat(200))]);
    await own.save("three", [say("u1", "named")]);
    await own.rename("three", "A name");
    await chats.save("elsewhere", [say("u1", "not listed")]);
    const page = await own.list({ limit: 2 });
    const rest = await own.list({ limit: 2, cursor: page.nextCursor ?? "" });
    expect(
      [...page.chats, ...rest.chats].map(({ id, title, messageCount }) => [
        id,
        title,
        messageCount,
      ]),
    ).toEqual([
      ["three", "A name", 1],
      ["two", `${"x".repeat(80)}…`, 1],
      ["one", "Why does the cron job run twice?", 1],
    ]);
    expect(rest.nextCursor).toBeUndefined();
    expect(page.chats[0]?.updatedAt.getTime()).toBeGreaterThan(Date.now() - 60_000);
  });
});

/** What each call of `answering` uses, as sessions count it. */
const USED = { inputTokens: 7, outputTokens: 2, cacheCreationTokens: 0, cacheReadTokens: 3 };

function answering(text: string): MockLanguageModelV4 {
  const usage = {
    inputTokens: { total: 10, noCache: 7, cacheRead: 3, cacheWrite: 0 },
    outputTokens: { total: 2, text: 2, reasoning: 0 },
  };
  return new MockLanguageModelV4({
    modelId: "small-1",
    doStream: async () => ({
      stream: ReadableStream.from([
        { type: "stream-start", warnings: [] },
        { type: "text-start", id: "t" },
        { type: "text-delta", id: "t", delta: text },
        { type: "text-end", id: "t" },
        { type: "finish", finishReason: { unified: "stop", raw: "x" }, usage },
      ]),
    }),
  } as never);
}

function textOfParts(parts: UIMessage["parts"]): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

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
