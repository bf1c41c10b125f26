/** Inputs that were once taken for something else, or ended in a TypeError: one clear error each. */

import { existsSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as ai from "../src/adapters/ai-sdk/index.ts";
import * as anthropic from "../src/adapters/anthropic-memory/index.ts";
import * as assistantUi from "../src/adapters/assistant-ui/index.ts";
import * as claude from "../src/adapters/claude-agent-sdk/index.ts";
import * as langgraph from "../src/adapters/langgraph/index.ts";
import * as mastra from "../src/adapters/mastra/index.ts";
import * as agents from "../src/adapters/openai-agents/index.ts";
import * as archive from "../src/archive/index.ts";
import * as client from "../src/client/index.ts";
import * as compat from "../src/compat.ts";
import * as gateway from "../src/gateway/index.ts";
import type { Engine, SessionHandle } from "../src/index.ts";
import * as library from "../src/index.ts";
import { INPUTS } from "../src/model/inputs/index.ts";
import * as models from "../src/models.ts";
import * as server from "../src/server/index.ts";
import * as storeKit from "../src/store-kit/index.ts";
import * as work from "../src/work.ts";
import { removeFolder } from "./support/folder.ts";

/**
 * The inputs of every exported function: the tables that check its options. A new function states
 * its own; an empty list means that it has no options.
 */
const OPTIONS_OF: Readonly<Record<string, readonly (keyof typeof INPUTS)[]>> = {
  // backscroll, and its compat, models, work
  appendCommit: ["openMessage.commit"],
  appendMessage: ["append", "append.options"],
  appendOpen: ["openMessage"],
  backup: ["copy"],
  compatibleEmbedder: ["compatibleEmbedder"],
  compatibleModel: ["compatibleModel"],
  contextWindow: [],
  embeddingModel: ["embeddingModel"],
  followEmbeddings: ["followEmbeddings", "followEmbeddings.retry"],
  inputTextOf: [],
  languageModel: ["languageModel"],
  localEmbedder: ["localEmbedder"],
  newSession: ["createSession"],
  open: ["open", "open.indexing"],
  readTranscript: ["readTranscript"],
  recapSessions: ["recapSessions"],
  relatedSessions: ["relatedSessions"],
  renderContext: ["renderContext"],
  restore: ["copy"],
  reviewSessions: ["reviewSessions"],
  textOf: [],
  blameWork: ["blameWork"],
  digestWork: ["digestWork"],
  traceWork: ["traceWork"],
  verifyBackup: ["copy"],
  // adapters
  agentsSession: ["agentsSession"],
  anthropicMemory: ["anthropicMemory"],
  chatStore: ["chatStore", "chatStore.list", "chatStore.receive", "chatStore.save"],
  checkpointSaver: ["checkpointSaver", "pruneCheckpoints"],
  claudeSessionStore: ["claudeSessionStore"],
  fitHistory: ["fitHistory"],
  itemStore: ["itemStore"],
  mastraMemory: ["mastraMemory"],
  memoryTools: ["memoryTools", "memoryTools.scope"],
  resumableStreams: ["resumableStreams"],
  threadHistory: ["threadHistory"],
  // backscroll/gateway
  autoCompaction: ["autoCompaction", "autoCompaction.compact", "autoCompaction.flush"],
  clawPolicy: ["clawPolicy"],
  compactionOf: ["compactionOf", "openGateway.flush"],
  decide: [],
  decideFlush: [],
  effectiveReserve: [],
  formatSessionKey: [],
  generate: ["generate", "generate.context"],
  generateStream: ["generate", "generate.context"],
  generateTitle: ["generateTitle"],
  isOverflow: [],
  isSilent: [],
  loadConfig: [],
  maintainSessions: ["maintainSessions"],
  nonePolicy: [],
  openGateway: ["openGateway", "openGateway.flush", "gateway.message", "gateway.reply"],
  parseSessionKey: [],
  piPolicy: ["piPolicy"],
  readAutoState: [],
  readConfig: [],
  resolveSessionKey: [],
  sessionStatus: [],
  silenceFilter: [],
  softThreshold: [],
  turnsPolicy: ["turnsPolicy"],
  withMemory: ["withMemory", "generate.context"],
  // backscroll/ingest
  compositeKey: [],
  indexAll: ["ingest"],
  indexFile: ["ingest"],
  ingest: ["ingest"],
  parseSessionFile: [],
  projectId: [],
  retitleSessions: ["retitleSessions"],
  watchPlaces: ["watchPlaces"],
  workstationId: ["environment"],
  // backscroll/server, backscroll/client, backscroll/store-kit
  connect: ["connect", "connect.backup"],
  engineOn: ["engineOn"],
  keepUp: ["keepUp"],
  openServer: ["openServer", "openServer.rateLimit", "openServer.budget"],
  openStore: ["openStore", "open.indexing"],
  toLogLine: [],
  totalTokens: [],
};

/** Pure functions of the port of stores, which take no options. */
const OF_STORES = Object.keys(storeKit).filter((name) => !["engineOn", "openStore"].includes(name));

test("every exported function states the tables that check its options", () => {
  const entries = [library, ai, anthropic, assistantUi, claude, langgraph, mastra, agents];
  const hosts = [archive, client, compat, gateway, models, server, storeKit, work];
  const functions = [...entries, ...hosts].flatMap((entry) =>
    Object.entries(entry).flatMap(([name, value]) =>
      typeof value === "function" && /^[a-z]/.test(name) && !OF_STORES.includes(name) ? [name] : [],
    ),
  );
  expect([...new Set(functions)].sort()).toEqual(Object.keys(OPTIONS_OF).sort());
});

let engine: Engine;
let session: SessionHandle;
let folder: string;
beforeAll(async () => {
  engine = await library.open(":memory:");
  session = await engine.createSession({ agent: "a", createdBy: "b" });
  folder = await mkdtemp(join(tmpdir(), "backscroll-refused-"));
});
afterAll(async () => {
  await engine.close();
  await removeFolder(folder);
});

async function refused(call: () => unknown, field: string, words: string): Promise<void> {
  const error = await (async () => call())().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ code: "invalid_input", message: expect.stringContaining(words) });
  expect((error as library.BackscrollError).details["field"]).toBe(field);
}

test.each([
  ["durability", "power_loss", 'must be one of power-loss, process, not "power_loss"'],
  ["durability", "full", 'must be one of power-loss, process, not "full"'],
  ["create", "no", "must be true or false"],
  ["busyTimeoutMs", "30s", "must be a number of milliseconds"],
  ["maxQueue", 0, "must be a whole number of at least 1, not 0"],
  ["searchThread", "no", "must be true or false"],
  ["prices", 3, "must be a function"],
  ["tokenCounter", () => 1, "must be an object with countText() and countBlock()"],
  ["source", 5, "must be an object with now() and random()"],
  ["onWarning", "x", "must be a function"],
  ["readOnly", "false", "must be true or false"],
])("open with %s %j creates no store", async (field, value, words) => {
  const path = join(folder, "never.db");
  await refused(() => library.open(path, { [field]: value }), field, `${field} ${words}`);
  if (field in INPUTS.openStore) {
    await refused(() => storeKit.openStore(path, { [field]: value }), field, `${field} ${words}`);
  }
  expect(existsSync(path)).toBe(false);
});

describe("adapters", () => {
  const none = {} as never;
  const calls: readonly [string, () => unknown, string, string][] = [
    [
      "another name of the budget",
      () => agents.fitHistory({ budget: 1 } as never),
      "budget",
      "it may have tokenBudget",
    ],
    [
      "a budget in words",
      () => agents.fitHistory({ tokenBudget: "16k" } as never),
      "tokenBudget",
      "must be a whole number of at least 1, not a string",
    ],
    ["no budget", () => agents.fitHistory(none), "tokenBudget", "tokenBudget is missing"],
    [
      "no chats",
      () => ai.chatStore(none),
      "tenant",
      "must be what open, forTenant or connect gives, not an object",
    ],
    [
      "no threads",
      () => assistantUi.threadHistory(none, { threadId: "t" }),
      "tenant",
      "open, forTenant",
    ],
    ["no files", () => anthropic.anthropicMemory(none), "tenant", "open, forTenant"],
    ["no transcripts", () => claude.claudeSessionStore(none), "tenant", "open, forTenant"],
    ["no checkpoints", () => new langgraph.CheckpointSaver(none, {}), "tenant", "open, forTenant"],
    ["no items", () => new langgraph.ItemStore(none, {}), "tenant", "open, forTenant"],
    ["no session", () => agents.agentsSession(none), "tenant", "open, forTenant"],
    ["no streams", () => ai.resumableStreams(none), "tenant", "open, forTenant"],
    ["no tools", () => ai.memoryTools(none), "session", "must be an object with searchOthers()"],
    [
      "a value that is no object",
      () => langgraph.itemStore(engine).put(["n"], "k", "str" as never),
      "value",
      "value must be an object, not a string",
    ],
    [
      "a key that is no text",
      () => langgraph.itemStore(engine).put(["n"], 5 as never, {}),
      "key",
      "key must be a string",
    ],
    [
      "another class",
      () => mastra.mastraMemory(engine, { MemoryStorage: class {} }),
      "MemoryStorage",
      "of @mastra/core/storage",
    ],
    [
      "a text as an item",
      () => agents.agentsSession(engine).addItems(["hi"] as never),
      "items[0]",
      'an item such as { role: "user"',
    ],
    [
      "a text as items",
      () => agents.agentsSession(engine).addItems("hi" as never),
      "items",
      "an array of items",
    ],
    [
      "messages of a model",
      () => ai.chatStore(engine).save("c", [{ role: "user", content: "hi" }] as never),
      "messages[0]",
      "must be a UIMessage with id and parts",
    ],
    [
      "an option of a class",
      () => new langgraph.ItemStore(engine, { ttl: "1d" } as never),
      "ttl",
      "seconds",
    ],
  ];
  test.each(calls)("refuse %s", async (_, call, field, words) => {
    await refused(call, field, words);
  });

  test("store nothing of a refused list", async () => {
    const own = agents.agentsSession(engine, { sessionId: "s" });
    await refused(
      () => own.addItems([{ role: "user", content: "a" }, 5] as never),
      "items[1]",
      "item",
    );
    expect(await own.getItems()).toEqual([]);
  });
});

describe("the gateway", () => {
  const model = { name: "m", async *stream() {} } as never;
  test("names the field that was meant, and stores nothing", async () => {
    const input = { conversationID: session.id, model, message: "hi" } as never;
    const { conversationId } = { conversationId: session.id };
    const words = 'has no field "conversationID"; did you mean conversationId?';
    await refused(() => gateway.generate(engine, input), "conversationID", words);
    await refused(() => gateway.openGateway(engine).generate(input), "conversationID", words);
    const context = { tokenBudgets: 1 } as never;
    await refused(
      () => gateway.generate(engine, { conversationId, model, message: "hi", context }),
      "tokenBudgets",
      "did you mean tokenBudget?",
    );
    const message = { text: "hi", channel: "c", peer: "p" };
    await refused(
      () => gateway.openGateway(engine).reply(message, { maxStep: 1 } as never),
      "maxStep",
      "did you mean maxSteps?",
    );
    expect((await session.meta()).messageCount).toBe(0);
    expect(await engine.routes.list()).toEqual([]);
  });

  test("refuses policies and silence of other names", async () => {
    const policy = { ...gateway.piPolicy(), reserveTokens: "many" } as never;
    await refused(() => gateway.autoCompaction({ policy }), "reserveTokens", "whole number");
    const other = { name: "other" } as never;
    await refused(() => gateway.autoCompaction({ policy: other }), "policy.name", "one of turns");
    await refused(() => gateway.silenceFilter("leadng" as never), "mode", "one of whole, leading");
    await refused(() => gateway.isSilent("x", "leadng" as never), "mode", "one of whole, leading");
  });
});

describe("the names of the indexing documents", () => {
  const { HOME, SESSIONS_DIR, WORKSTATION_ID } = process.env;
  afterAll(() => {
    for (const [name, value] of Object.entries({ HOME, SESSIONS_DIR, WORKSTATION_ID })) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  test("work without an environment: this machine's", async () => {
    const line = {
      type: "user",
      message: { content: [{ type: "text", text: "Why twice?" }] },
      timestamp: "2026-02-27T10:00:00Z",
      sessionId: "0199a1b2-0000-4000-8000-000000000001",
      uuid: "u1",
      cwd: "/srv/shop",
    };
    const file = join(folder, `${line.sessionId}.jsonl`);
    await writeFile(file, `${JSON.stringify(line)}\n`);
    Object.assign(process.env, { HOME: folder, SESSIONS_DIR: folder, WORKSTATION_ID: "desk" });
    expect(homedir()).toBe(folder);
    expect(await archive.workstationId()).toBe("desk");
    await using one = await library.open(":memory:");
    expect((await compat.indexFile(one, file)).totals.files.read).toBe(1);
    await using all = await library.open(":memory:");
    expect(await compat.indexAll(all, {})).toMatchObject({ workstation: "desk" });
    expect((await all.listSessions()).sessions).toMatchObject([
      { origin: { workstation: "desk", source: "claude-code" } },
    ]);
    await refused(() => compat.indexFile(all, 5 as never), "path", "path must be a string");
    await refused(() => compat.indexAll({} as never, {}), "tenant", "importSession()");
  });
});
