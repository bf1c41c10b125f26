/** The history of assistant-ui, used by the package's own runtime. */

import type {
  AppendMessage,
  ChatModelAdapter,
  CompleteAttachment,
  ExportedMessageRepositoryItem,
  ThreadHistoryAdapter,
  ThreadMessage,
} from "@assistant-ui/core";
import { LocalRuntimeCore, MessageRepository } from "@assistant-ui/core/internal";
import type { UIMessage } from "ai";
import { aiSDKV6FormatAdapter } from "assistant-cloud/ai-sdk";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { threadHistory } from "../../src/adapters/assistant-ui/index.ts";
import { open, SessionHandle } from "../../src/index.ts";
import { WORLDS, type World } from "../support/worlds.ts";

const START = Date.UTC(2026, 0, 2);
let written = 0;

const user = (id: string, text: string): ThreadMessage => ({
  id,
  role: "user",
  createdAt: new Date(START + ++written),
  content: [{ type: "text", text }],
  attachments: [],
  metadata: { custom: {} },
});

const answer = (id: string, text: string): ThreadMessage => ({
  id,
  role: "assistant",
  createdAt: new Date(START + ++written),
  content: [{ type: "text", text }],
  status: { type: "complete", reason: "stop" },
  metadata: {
    unstable_state: null,
    unstable_annotations: [],
    unstable_data: [],
    steps: [],
    custom: {},
  },
});

/** A message that a person types. */
const typed = (text: string, parentId: string | null): AppendMessage => ({
  role: "user",
  content: [{ type: "text", text }],
  attachments: [],
  metadata: { custom: {} },
  createdAt: new Date(START),
  parentId,
  sourceId: null,
  runConfig: { custom: { mood: "brief" } },
});

/** The package's runtime, with the stored thread loaded. */
async function openThread(history: ThreadHistoryAdapter, chatModel: ChatModelAdapter) {
  const options = { adapters: { chatModel, history }, unstable_humanToolNames: ["remove"] };
  const thread = new LocalRuntimeCore(options, undefined).threads.getMainThreadRuntimeCore();
  await thread.__internal_load();
  return thread;
}

const lastOf = ({ messages }: { readonly messages: readonly ThreadMessage[] }) =>
  messages.at(-1) as ThreadMessage;

const SILENT: ChatModelAdapter = { run: async () => ({}) };

describe.each(WORLDS)("on %s", (_, start) => {
  let world: World;
  beforeAll(async () => {
    world = await start();
  });
  afterAll(() => world.close());

  let threads = 0;
  const newHistory = (threadId = `thread ${++threads}`) => {
    const open = () => threadHistory(world.engine, { threadId, user: "ana", agent: "zoo" });
    return { history: open(), reopen: open };
  };
  const isFound = async (words: string) =>
    (await world.engine.searchSessions(words)).hits.length > 0;

  test("a thread with branches, an edit and tool calls survives a reload", async () => {
    const { history, reopen } = newHistory();
    let asked = 0;
    const model: ChatModelAdapter = {
      async run() {
        asked++;
        return {
          content: [
            { type: "reasoning", text: "hm" },
            {
              type: "tool-call",
              toolCallId: `call ${asked}`,
              toolName: "look",
              args: { pen: asked },
              argsText: `{"pen": ${asked}}`,
              result: { animal: "a potoroo" },
            },
            { type: "text", text: `Answer ${asked}.` },
          ],
          status: { type: "complete", reason: "stop" },
          metadata: { custom: { asked } },
        };
      },
    };
    const thread = await openThread(history, model);
    await thread.append(typed("Who lives in the first pen?", null));
    const first = lastOf(thread).id;
    await thread.append(typed("And in the second?", first));
    await thread.append(typed("And in the bilby's?", first));
    const edited = thread.messages[2] as ThreadMessage;
    await thread.startRun({ parentId: edited.id, sourceId: null, runConfig: {} });
    const exported = thread.export();
    expect(exported.messages).toHaveLength(7);

    const again = await openThread(reopen(), SILENT);
    expect(again.export()).toEqual(exported);
    expect(again.messages).toEqual(thread.messages);
    expect(again.getBranches(edited.id)).toHaveLength(2);
    const { messages } = await reopen().load();
    expect(messages[0]).toMatchObject({ parentId: null });
    expect(messages[1]?.runConfig).toEqual({ custom: { mood: "brief" } });

    const { hits } = await world.engine.searchSessions("potoroo bilby");
    expect(hits[0]?.window.map(({ role }) => role)).toContain("user");
    const { sessions } = await world.engine.listSessions({ agent: "zoo" });
    expect(sessions.map(({ id }) => id)).toContain(hits[0]?.sessionId);
  });

  test("a run that waits for an approval is stored, and replaced by its final form", async () => {
    const { history, reopen } = newHistory();
    const call = { type: "tool-call", toolCallId: "c1", toolName: "remove", args: {} } as const;
    let asked = 0;
    const model: ChatModelAdapter = {
      async run() {
        if (++asked > 1) return { content: [{ type: "text", text: "The kowari is free." }] };
        return {
          content: [{ ...call, argsText: "{}", approval: { id: "may I" } }],
          status: { type: "requires-action", reason: "tool-calls" },
        };
      },
    };
    const thread = await openThread(history, model);
    await thread.append(typed("Open the pen.", null));
    const paused = await reopen().load();
    expect(paused.messages.at(-1)?.message).toMatchObject({ status: { type: "requires-action" } });

    const again = await openThread(reopen(), model);
    const { id } = lastOf(again);
    again.respondToToolApproval({ approvalId: "may I", approved: true });
    await expect
      .poll(async () => (await reopen().load()).messages.at(-1)?.message, { timeout: 60_000 })
      .toMatchObject({ id, status: { type: "complete" } });
    expect((await reopen().load()).messages).toHaveLength(2);
    expect(await isFound("kowari")).toBe(true);
  });

  test("an update of an inner message keeps its successors, and search sees it", async () => {
    const { history, reopen } = newHistory();
    const [one, two, three] = [
      user("u1", "Who hops?"),
      answer("a1", "A dunnart."),
      user("u2", "Ah"),
    ];
    await history.append({ parentId: null, message: one });
    await history.append({ parentId: "u1", message: two });
    await history.append({ parentId: "a1", message: three });
    await history.append({ parentId: "u1", message: answer("a2", "Nobody.") });
    await history.append({ parentId: "a1", message: user("u3", "Really?") });
    const better = answer("a1", "A bettong.");
    await history.update({ parentId: "u1", message: better });

    const { headId, messages } = await reopen().load();
    expect(headId).toBe("u3");
    expect(messages.map(({ parentId, message }) => [parentId, message.id])).toEqual([
      [null, "u1"],
      ["u1", "a1"],
      ["a1", "u2"],
      ["u1", "a2"],
      ["a1", "u3"],
    ]);
    expect(messages[1]?.message).toEqual(better);
    expect(await isFound("bettong")).toBe(true);
    expect(await isFound("dunnart")).toBe(false);

    // Of a branch that is not shown, and of one that was never stored.
    const other = answer("a2", "Somebody.");
    await history.update({ parentId: "u1", message: other });
    await history.update({ parentId: "u3", message: answer("a3", "Yes.") });
    const after = await reopen().load();
    expect(after.headId).toBe("a3");
    expect(after.messages).toHaveLength(6);
    expect(after.messages[3]?.message).toEqual(other);
    new MessageRepository().import(after);
  });

  test("a deleted message is gone permanently; its successors stay", async () => {
    const { history, reopen } = newHistory();
    const items: ExportedMessageRepositoryItem[] = [
      { parentId: null, message: user("u1", "First") },
      { parentId: "u1", message: answer("a1", "A quoll, perhaps.") },
      { parentId: "a1", message: user("u2", "Second") },
    ];
    for (const item of items) await history.append(item);
    await history.update({ parentId: "u1", message: answer("a1", "A quoll, surely.") });
    expect(await isFound("quoll")).toBe(true);
    const thread = await openThread(history, SILENT);
    await thread.deleteMessage("a1");
    expect(await isFound("quoll")).toBe(false);
    expect(thread.export().messages.map(({ parentId }) => parentId)).toEqual([null, "u1"]);
    const again = await openThread(reopen(), SILENT);
    expect(again.export()).toEqual(thread.export());

    await thread.deleteMessage("u2");
    expect((await reopen().load()).headId).toBe("u1");
    await history.append({ parentId: "u1", message: answer("a1", "A numbat.") });
    await history.delete([{ parentId: null, message: user("none", "") }]);
    const { headId, messages } = await reopen().load();
    expect([headId, messages.length]).toEqual(["a1", 2]);
  });

  test("concurrent appends all arrive, each once", async () => {
    const { history, reopen } = newHistory();
    await history.append({ parentId: null, message: user("u1", "Go") });
    const items = Array.from({ length: 6 }, (__, i) => answer(`a${i}`, `Answer ${i}`));
    const appended = items.flatMap((message) => {
      const item = { parentId: "u1", message };
      return [reopen().append(item), history.append(item)];
    });
    await Promise.all(appended);
    const { messages } = await reopen().load();
    const byId = Object.fromEntries(messages.map(({ message }) => [message.id, message]));
    expect(messages).toHaveLength(7);
    for (const message of items) expect(byId[message.id]).toEqual(message);
  });

  test("two pages append to one thread in turns", async () => {
    const { history, reopen } = newHistory();
    const pages = [history, reopen()];
    const ids = ["m0", "m1", "m2", "m3", "m4", "m5"];
    for (const [i, id] of ids.entries()) {
      await pages[(i >> 1) % 2]?.append({ parentId: ids[i - 1] ?? null, message: user(id, id) });
    }
    const { messages } = await reopen().load();
    expect(messages.map(({ parentId }) => parentId)).toEqual([null, ...ids.slice(0, -1)]);
  });

  test("messages of the AI SDK's format round-trip", async () => {
    const { history, reopen } = newHistory();
    const formatted = history.withFormat?.(aiSDKV6FormatAdapter);
    if (formatted === undefined) throw new Error("the history takes a format");
    const said = (id: string, role: UIMessage["role"], text: string): UIMessage => ({
      id,
      role,
      parts: [{ type: "text", text }],
    });
    const waiting: UIMessage = {
      id: "a1",
      role: "assistant",
      metadata: { tokens: 3 },
      parts: [
        {
          type: "tool-open",
          toolCallId: "c1",
          state: "approval-requested",
          input: { pen: 1 },
          approval: { id: "ok" },
        },
      ],
    };
    const done: UIMessage = {
      ...waiting,
      parts: [
        {
          type: "tool-open",
          toolCallId: "c1",
          state: "output-available",
          input: { pen: 1 },
          output: { inside: "a phascogale" },
        },
        { type: "text", text: "Open." },
      ],
    };
    await formatted.append({ parentId: null, message: said("u1", "user", "Open the pen") });
    await formatted.append({ parentId: "u1", message: waiting });
    await formatted.update?.({ parentId: "u1", message: done }, "a1");
    await formatted.append({ parentId: "u1", message: said("a2", "assistant", "No.") });
    // A program without this adapter writes to the same session.
    const { hits } = await world.engine.searchSessions("phascogale", { branches: "all" });
    const session = await world.engine.getSession(hits[0]?.sessionId ?? "");
    const foreign = await session.append({ role: "user", actor: "bo", content: "Why not?" });
    await session.append({ role: "assistant", toolCalls: [{ id: "x", name: "look", input: {} }] });
    await formatted.append({ parentId: foreign.id, message: said("a3", "assistant", "Ask.") });

    const again = await reopen().withFormat?.(aiSDKV6FormatAdapter).load();
    expect(again).toEqual({
      headId: "a3",
      messages: [
        { parentId: null, message: said("u1", "user", "Open the pen") },
        { parentId: "u1", message: done },
        { parentId: "u1", message: said("a2", "assistant", "No.") },
        { parentId: "a2", message: said(foreign.id, "user", "Why not?") },
        { parentId: foreign.id, message: said("a3", "assistant", "Ask.") },
      ],
    });
    // Another runtime shows foreign messages by their text.
    const { messages } = await reopen().load();
    expect(messages.map(({ message }) => message.content)).toContainEqual([
      { type: "text", text: "Open." },
    ]);
    new MessageRepository().import({ messages });
    await formatted.delete?.([{ parentId: "u1", message: done }]);
    expect((await reopen().withFormat?.(aiSDKV6FormatAdapter).load())?.messages).toHaveLength(4);
  });

  test("attached texts are searched; a browser's File object is left out", async () => {
    const { history } = newHistory();
    const attachment: CompleteAttachment = {
      id: "f1",
      type: "document",
      name: "pens.txt",
      contentType: "text/plain",
      status: { type: "complete" },
      content: [{ type: "text", text: "Pen 7: a wallaroo" }],
    };
    const message = {
      ...user("u1", "Who is in pen 7?"),
      attachments: [attachment],
    } as ThreadMessage;
    const file = new File(["Pen 7: a wallaroo"], "pens.txt");
    const given = { ...message, attachments: [{ ...attachment, file }] } as ThreadMessage;
    await history.append({ parentId: null, message: given });
    expect((await history.load()).messages).toEqual([{ parentId: null, message }]);
    expect(await isFound("wallaroo")).toBe(true);
  });

  test("a thread's id may come later, and a deleted thread starts over", async () => {
    let threadId: string | undefined;
    const purposes: string[] = [];
    const history = threadHistory(world.engine, {
      threadId: async (purpose) => {
        purposes.push(purpose);
        return threadId;
      },
    });
    const item = { parentId: null, message: user("u1", "A woylie") };
    expect(await history.load()).toEqual({ headId: null, messages: [] });
    await expect(history.append(item)).rejects.toThrow("threadId must give the id of the thread");
    threadId = `late ${++threads}`;
    await history.append(item);
    expect(purposes).toEqual(["load", "write", "write"]);
    const session = await world.engine.findSessionByOrigin(`assistant-ui:${threadId}`);
    await world.engine.session(session?.id ?? "").delete();
    expect((await history.load()).messages).toEqual([]);
    await history.append(item);
    expect((await history.load()).messages).toHaveLength(1);
  });

  test("input that cannot be stored is refused with a reason", async () => {
    const { history } = newHistory();
    const refused = async (item: ExportedMessageRepositoryItem, message: string) =>
      expect(history.append(item)).rejects.toMatchObject({
        code: "invalid_input",
        message: expect.stringContaining(message),
      });
    await refused({ parentId: "gone", message: user("u1", "x") }, "message gone is not stored");
    await refused({ parentId: null, message: user("", "x") }, "message.id");
    const endless: { self?: unknown } = {};
    endless.self = endless;
    const looped = { ...user("u1", "x"), metadata: { custom: endless } } as ThreadMessage;
    await refused({ parentId: null, message: looped }, "message must be JSON");
    // A part that is no valid block is stored without one.
    const odd = { ...user("u1", "x"), content: [{ type: "image", image: "data:x;base64,%%" }] };
    await history.append({ parentId: null, message: odd as ThreadMessage });
    expect((await history.load()).messages).toEqual([{ parentId: null, message: odd }]);
  });
});

test("a turn at the end of a thread does not read the thread", async () => {
  const engine = await open(":memory:", { inThread: true });
  onTestFinished(() => engine.close());
  const history = threadHistory(engine, { threadId: "long" });
  const read = vi.spyOn(SessionHandle.prototype, "listEntries");
  onTestFinished(() => read.mockRestore());
  let parentId: string | null = null;
  for (let i = 0; i < 5; i++) {
    await history.append({ parentId, message: user(`u${i}`, "x") });
    await history.append({ parentId: `u${i}`, message: answer(`a${i}`, "") });
    await history.update({ parentId: `u${i}`, message: answer(`a${i}`, "y") });
    parentId = `a${i}`;
  }
  expect(read).not.toHaveBeenCalled();
  expect((await history.load()).messages).toHaveLength(10);
  expect(read).toHaveBeenCalledTimes(1);
});
