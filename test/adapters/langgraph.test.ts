/** The checkpointer for LangGraph, held to its contract with LangGraph itself. */

import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import {
  type BaseCheckpointSaver,
  type Checkpoint,
  emptyCheckpoint,
  MemorySaver,
  uuid6,
} from "@langchain/langgraph-checkpoint";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import {
  type CheckpointSaverOptions,
  checkpointSaver,
} from "../../src/adapters/langgraph/index.ts";
import type { TenantApi } from "../../src/engine/interfaces.ts";
import { BackscrollError, open } from "../../src/index.ts";
import type { RecordInfo } from "../../src/model/record.ts";
import { repeats } from "../support/repeats.ts";
import { WORLDS, type World } from "../support/worlds.ts";

const METADATA = { source: "loop", step: 0, parents: {} } as const;
const { serde } = new MemorySaver();

function newSaver(tenant: TenantApi, options: CheckpointSaverOptions = {}) {
  const saver = checkpointSaver(tenant, { serde, ...options });
  return saver satisfies BaseCheckpointSaver as typeof saver & BaseCheckpointSaver;
}

let threads = 0;
function newThread(): { readonly configurable: { readonly thread_id: string } } {
  threads += 1;
  return { configurable: { thread_id: `thread ${threads}/50%` } };
}

/** Puts a checkpoint of these values; `changed` names the channels that differ from the parent. */
async function put(
  saver: BaseCheckpointSaver,
  config: object,
  values: Record<string, unknown>,
  versions: Record<string, number>,
  changed: readonly string[] = Object.keys(values),
) {
  const checkpoint: Checkpoint = {
    ...emptyCheckpoint(),
    id: uuid6(0),
    channel_values: values,
    channel_versions: versions,
  };
  const newVersions = Object.fromEntries(changed.map((name) => [name, versions[name] ?? 0]));
  return saver.put(config, checkpoint, METADATA, newVersions);
}

async function valuesAt(saver: BaseCheckpointSaver, config: object): Promise<unknown> {
  return (await saver.get(config))?.channel_values;
}

/** An agent that looks something up and then answers. */
function newGraph(checkpointer: BaseCheckpointSaver) {
  let calls = 0;
  const model = (messages: readonly BaseMessage[]): AIMessage => {
    const last = messages.at(-1);
    if (last?.getType() === "tool") return new AIMessage(`The ${last.text} is gone.`);
    calls += 1;
    const call = { id: `call ${calls}`, name: "look", args: { path: "/var/lock" } };
    return new AIMessage({ content: "", tool_calls: [call] });
  };
  return new StateGraph(MessagesAnnotation)
    .addNode("agent", ({ messages }) => ({ messages: [model(messages)] }))
    .addNode("tools", ({ messages }) => {
      const [call] = (messages.at(-1) as AIMessage).tool_calls ?? [];
      return {
        messages: [new ToolMessage({ content: "cron.lock", tool_call_id: call?.id ?? "" })],
      };
    })
    .addEdge("__start__", "agent")
    .addConditionalEdges("agent", ({ messages }) =>
      (messages.at(-1) as AIMessage).tool_calls?.length ? "tools" : "__end__",
    )
    .addEdge("tools", "agent")
    .compile({ checkpointer });
}

/** The fields of messages that a caller sees, without the ids that LangGraph invents. */
function shown(messages: readonly BaseMessage[]): unknown {
  return messages.map((message) => [
    message.constructor.name,
    message.content,
    (message as AIMessage).tool_calls,
  ]);
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function allRecords(tenant: TenantApi, prefix: string): Promise<readonly RecordInfo[]> {
  const found: RecordInfo[] = [];
  let cursor: string | undefined;
  do {
    const start = cursor === undefined ? {} : { cursor };
    const page = await tenant.records.list({ namespace: "langgraph", prefix, ...start });
    found.push(...page.records);
    cursor = page.next;
  } while (cursor !== undefined);
  return found;
}

describe.each(WORLDS)("on %s", (_, start) => {
  let world: World;
  beforeAll(async () => {
    world = await start();
  });
  afterAll(() => world.close());

  test("runs a graph as LangGraph's own checkpointer does; another process continues", async () => {
    const config = newThread();
    const own = newGraph(new MemorySaver());
    for (const content of ["why does cron run twice?", "are you sure?"]) {
      const input = { messages: [new HumanMessage(content)] };
      // Each turn by a new checkpointer instance.
      const ours = newGraph(newSaver(world.engine));
      const { messages } = await ours.invoke(input, config);
      const { messages: expected } = await own.invoke(input, config);
      expect(messages).toHaveLength(expected.length);
      expect(messages.map(({ content }) => content)).toEqual(expected.map((one) => one.content));
    }
    const fresh = newGraph(newSaver(world.engine));
    const state = await fresh.getState(config);
    const ownState = await own.getState(config);
    const names = (list: readonly BaseMessage[]) => list.map((one) => one.constructor.name);
    expect(names(state.values.messages)).toEqual(names(ownState.values.messages));
    const count = async (graph: typeof own) =>
      (await collect(graph.getStateHistory(config))).length;
    expect(await count(fresh)).toBe(await count(own));
  });

  test("search finds messages, and the session is deleted with its thread", async () => {
    const config = { configurable: { thread_id: `platypus ${threads}` } };
    const graph = newGraph(newSaver(world.engine, { agent: "zoo-keeper", user: "ana" }));
    await graph.invoke({ messages: [new HumanMessage("where does the platypus sleep?")] }, config);
    const { hits } = await world.engine.searchSessions("platypus sleep");
    expect(hits).toHaveLength(1);
    const session = world.engine.session(hits[0]?.sessionId ?? "");
    const history = await session.history();
    expect(history.map(({ role, actor }) => [role, actor])).toEqual([
      ["user", "ana"],
      ["assistant", "zoo-keeper"],
      ["tool", null],
      ["assistant", "zoo-keeper"],
    ]);
    expect(history[1]?.blocks[0]).toMatchObject({ type: "tool_use", name: "look" });
    await newSaver(world.engine).deleteThread(config.configurable.thread_id);
    expect((await world.engine.searchSessions("platypus sleep")).hits).toEqual([]);
    for (const kind of ["c", "w", "v"]) {
      const prefix = `${kind}/${config.configurable.thread_id}/`;
      expect(await allRecords(world.engine, prefix)).toEqual([]);
    }
  });

  test("stores only changes, readable from any checkpoint", async () => {
    const config = newThread();
    const saver = newSaver(world.engine, { messages: null });
    const list = ["a", { b: [1, undefined] }];
    const odd = { set: new Set([1]), bytes: new Uint8Array([0, 255]), gone: undefined };
    const one = await put(saver, config, { list, odd }, { list: 1, odd: 1 });
    const two = await put(saver, one, { list: [...list, "c"], odd }, { list: 2, odd: 1 }, ["list"]);
    const edited = ["A", ...list.slice(1)];
    const fork = await put(saver, one, { list: edited, odd }, { list: 2, odd: 1 }, ["list"]);
    const emptied = await put(saver, fork, { list: [] }, { list: 3, odd: 2 }, ["list", "odd"]);
    for (const reader of [
      saver,
      newSaver(world.engine),
      newSaver(world.engine, { cacheBytes: 0 }),
    ]) {
      expect(await valuesAt(reader, one)).toEqual({ list, odd });
      expect(await valuesAt(reader, two)).toEqual({ list: [...list, "c"], odd });
      expect(await valuesAt(reader, fork)).toEqual({ list: edited, odd });
      expect(await valuesAt(reader, emptied)).toEqual({ list: [] });
    }
    const values = await allRecords(world.engine, `v/thread ${threads}%2f50%25/`);
    expect(values).toHaveLength(4);
  });

  test("stores a member changed in place, and shares no internal state", async () => {
    const config = newThread();
    const saver = newSaver(world.engine, { messages: null });
    const list = Array.from(
      { length: 20 },
      (_, n) => new HumanMessage({ id: `${n}`, content: "a" }),
    );
    const one = await put(saver, config, { list }, { list: 1 });
    (list[3] as HumanMessage).content = "changed";
    const two = await put(saver, one, { list }, { list: 2 });
    const loaded = (await valuesAt(saver, two)) as { list: HumanMessage[] };
    expect(loaded.list[3]).toBeInstanceOf(HumanMessage);
    expect(shown(loaded.list)).toEqual(shown(list));
    (loaded.list[4] as HumanMessage).content = "the caller's";
    expect(shown(((await valuesAt(saver, two)) as typeof loaded).list)).toEqual(shown(list));
    const other = (await valuesAt(newSaver(world.engine), one)) as typeof loaded;
    expect(other.list[3]?.content).toBe("a");
  });

  test("keeps the first write of a task, and the last one to a special channel", async () => {
    const saver = newSaver(world.engine);
    const config = await put(saver, newThread(), { a: 1 }, { a: 1 });
    const writers = Array.from({ length: 8 }, () => newSaver(world.engine));
    await Promise.all(writers.map((writer) => writer.putWrites(config, [["a", 2]], "task/2")));
    await saver.putWrites(
      config,
      [
        ["a", 3],
        ["b", 4],
      ],
      "task/2",
    );
    await saver.putWrites(config, [["__error__", "first"]], "task/1");
    await saver.putWrites(config, [["__error__", "second"]], "task/1");
    expect((await saver.getTuple(config))?.pendingWrites).toEqual([
      ["task/1", "__error__", "second"],
      ["task/2", "a", 2],
      ["task/2", "b", 4],
    ]);
  });

  test("prunes pieces that no kept checkpoint needs, also while a graph runs", async () => {
    const config = newThread();
    const threadId = config.configurable.thread_id;
    const saver = newSaver(world.engine, { messages: null });
    let last: object = config;
    const list: string[] = [];
    const fixed = "unchanged since the first";
    for (let n = 1; n <= 12; n++) {
      list.push(`member ${n}`);
      const changed = n === 1 ? ["list", "fixed"] : ["list"];
      last = await put(saver, last, { list: [...list], fixed }, { list: n, fixed: 1 }, changed);
      await saver.putWrites(last, [["list", n]], "task");
    }
    const other = newSaver(world.engine);
    expect((await other.prune({ threadId, olderThanSeconds: 3_600 })).checkpoints).toBe(0);
    expect((await other.prune({ threadId, keep: 2 })).checkpoints).toBe(10);
    expect(await valuesAt(newSaver(world.engine), last)).toEqual({ list, fixed });
    expect((await collect(saver.list(config))).length).toBe(2);
    expect((await allRecords(world.engine, `w/thread ${threads}%2f50%25/`)).length).toBe(2);
    expect((await allRecords(world.engine, `v/thread ${threads}%2f50%25/`)).length).toBeLessThan(
      20,
    );
    // `saver` still knows what the pruned parent named.
    expect((await other.prune({ threadId, keep: 0 })).checkpoints).toBe(2);
    const next = await put(saver, last, { list, fixed }, { list: 12, fixed: 1 }, []);
    expect(await valuesAt(newSaver(world.engine), next)).toEqual({ list, fixed });
    await expect(other.prune({ keep: -1 })).rejects.toThrow("keep must be a whole number");
  });

  test("a checkpoint keeps its values if another process has written its parent anew", async () => {
    const config = newThread();
    const threadId = config.configurable.thread_id;
    const [saver, other] = [newSaver(world.engine), newSaver(world.engine)];
    const first = await put(saver, config, { fixed: "first" }, { fixed: 1 });
    const parent: Checkpoint = {
      ...emptyCheckpoint(),
      id: uuid6(0),
      channel_values: { fixed: "unchanged" },
      channel_versions: { fixed: 2 },
    };
    const second = await saver.put(first, parent, METADATA, { fixed: 2 });
    await other.put(first, parent, METADATA, { fixed: 2 });
    // Deletes the values that only the replaced version of the parent named.
    expect((await other.prune({ threadId })).checkpoints).toBe(1);
    const next = await put(saver, second, { fixed: "unchanged" }, { fixed: 2 }, []);
    expect(await valuesAt(newSaver(world.engine), next)).toEqual({ fixed: "unchanged" });
  });

  test("names the missing part of a configuration", async () => {
    const saver = newSaver(world.engine);
    await expect(put(saver, {}, {}, {})).rejects.toThrow("configurable.thread_id is missing");
    await expect(saver.putWrites(newThread(), [], "t")).rejects.toThrow("checkpoint_id is missing");
    const wrong = { configurable: { thread_id: 7 } };
    await expect(put(saver, wrong, {}, {})).rejects.toThrow("thread_id must be a string");
    expect(await saver.getTuple({ configurable: { thread_id: "__proto__" } })).toBeUndefined();
    expect(await saver.getTuple({})).toBeUndefined();
  });
});

test("a turn writes as much after hundreds of turns as at the 10th", async () => {
  await using engine = await open(":memory:", { inThread: true });
  let written = { rows: 0, bytes: 0 };
  const { records } = engine;
  const write: typeof records.write = (operations) => {
    written.rows += operations.length;
    for (const { put: one } of operations) {
      if (one?.value instanceof Uint8Array) written.bytes += one.value.length;
    }
    return Reflect.apply(records.write, records, [operations]) as ReturnType<typeof write>;
  };
  const counted = new Proxy(records, {
    get: (target, name: keyof typeof records) =>
      name === "write" ? write : (target[name] as () => unknown).bind(target),
  });
  const tenant = new Proxy(engine, {
    get: (target, name) => (name === "records" ? counted : Reflect.get(target, name, target)),
  });
  const saver = newSaver(tenant, { messages: null });
  const messages: unknown[] = [];
  let config: object = newThread();
  const costs: (typeof written)[] = [];
  const turns = repeats(250, 1_000);
  for (let turn = 1; turn <= turns; turn++) {
    written = { rows: 0, bytes: 0 };
    for (const said of ["Why does the cron job run twice?", "Because the lock is gone."]) {
      messages.push({ id: `${messages.length}`, content: said.repeat(8) });
    }
    const changed = turn === 1 ? ["messages", "fixed"] : ["messages"];
    const values = { messages: [...messages], fixed: "f" };
    config = await put(saver, config, values, { messages: turn, fixed: 1 }, changed);
    costs.push(written);
  }
  // Turns in which lists are joined cost more: 64 turns have their share of them.
  const mean = (from: number, field: keyof typeof written) =>
    costs.slice(from, from + 64).reduce((sum, cost) => sum + cost[field], 0) / 64;
  expect(mean(turns - 64, "rows")).toBeLessThanOrEqual(1.5 * mean(10, "rows"));
  expect(mean(turns - 64, "bytes")).toBeLessThanOrEqual(1.5 * mean(10, "bytes"));
  expect(await valuesAt(newSaver(engine), config)).toEqual({ messages, fixed: "f" });
});

test("a checkpoint expires, and pieces shared with newer ones stay", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  await using engine = await open(":memory:", { inThread: true });
  const config = newThread();
  const saver = newSaver(engine, { ttl: 100, messages: null });
  const list = ["a", "b"];
  let last = await put(saver, config, { list, fixed: 1 }, { list: 1, fixed: 1 });
  for (let n = 2; n <= 6; n++) {
    vi.setSystemTime(Date.now() + 80_000);
    list.push(`${n}`);
    last = await put(saver, last, { list: [...list], fixed: 1 }, { list: n, fixed: 1 }, ["list"]);
  }
  vi.setSystemTime(Date.now() + 99_000);
  const reader = newSaver(engine);
  expect(await valuesAt(reader, last)).toEqual({ list, fixed: 1 });
  expect(await collect(reader.list(config))).toHaveLength(1);
  vi.setSystemTime(Date.now() + 1_000);
  expect(await reader.getTuple(config)).toBeUndefined();
});

test("a missing value is an error, not a smaller state", async () => {
  await using engine = await open(":memory:", { inThread: true });
  const config = await put(newSaver(engine), newThread(), { list: ["a"] }, { list: 1 });
  const [value] = await allRecords(engine, "v/");
  await engine.records.delete("langgraph", value?.key ?? "");
  const error: unknown = await newSaver(engine)
    .getTuple(config)
    .catch((caught: unknown) => caught);
  expect(BackscrollError.is(error, "record_not_found")).toBe(true);
});
