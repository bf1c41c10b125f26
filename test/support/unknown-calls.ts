/** For every input of `INPUTS`: a call that takes it, with whatever else the call needs. */

import { chatStore, memoryTools, resumableStreams } from "../../src/adapters/ai-sdk/index.ts";
import { anthropicMemory } from "../../src/adapters/anthropic-memory/index.ts";
import { threadHistory } from "../../src/adapters/assistant-ui/index.ts";
import { claudeSessionStore } from "../../src/adapters/claude-agent-sdk/index.ts";
import { checkpointSaver, itemStore } from "../../src/adapters/langgraph/index.ts";
import { mastraMemory } from "../../src/adapters/mastra/index.ts";
import { agentsSession, fitHistory } from "../../src/adapters/openai-agents/index.ts";
import {
  ingest,
  readTranscript,
  retitleSessions,
  watchPlaces,
  workstationId,
} from "../../src/archive/index.ts";
import { connect } from "../../src/client/index.ts";
import * as gateway from "../../src/gateway/index.ts";
import * as library from "../../src/index.ts";
import type { INPUTS } from "../../src/model/inputs/index.ts";
import * as models from "../../src/models.ts";
import { outlineSession } from "../../src/recap/outline.ts";
import { keepUp, openServer } from "../../src/server/index.ts";
import { engineOn, openStore } from "../../src/store-kit/index.ts";
import * as work from "../../src/work.ts";

const COMPACTION_FIGURES = {
  contextTokens: 1,
  estimated: false,
  contextWindow: 1,
  billedInputTokens: 1,
  unsummarized: { turns: 1, tokens: 1 },
  messagesSinceAttempt: null,
  lastInputTokens: null,
};
const FLUSH_SETTINGS = {
  enabled: true,
  softThresholdTokens: 1,
  workspaceAccess: "rw",
} as const;
const FLUSH_FIGURES = {
  contextTokens: 1,
  contextWindow: 1,
  fresh: true,
  flushed: false,
  compacting: false,
  heartbeat: false,
};
const INGESTED_FILE = {
  path: "/a.jsonl",
  source: "pi",
  size: 1,
  mtimeUs: 1,
  offset: 1,
  lines: 1,
  tailHash: null,
  state: null,
  seenAt: 1,
};
const KEY_SETTINGS = { dmScope: "per-peer", mainKey: "main", identityLinks: {} } as const;

export type InputName = keyof typeof INPUTS;

const MODEL = { name: "m", stream: () => [], generate: () => undefined } as never;
const MESSAGE = { role: "user", content: "x" } as const;

const FILE = { path: "a.ts", added: [], removed: [] };
const COMMIT = {
  commit: "0".repeat(40),
  subject: "s",
  authoredAt: 0,
  committedAt: 0,
  files: [FILE],
};
const LINE = { commit: "0".repeat(40), path: "a.ts", number: 1, text: "t" };

/** `input` has the unknown field. */
export function callsOf(
  engine: library.Engine,
  session: library.SessionHandle,
  entryId: string,
  stream: library.MessageStream,
): Readonly<Record<InputName, (input: never) => unknown>> {
  const { routes, records } = engine;
  const create = { agent: "a", createdBy: "b" };
  const prune = { windowTokens: 1_000 };
  const follower = {
    embedder: { name: "e", dimensions: 1, embed: () => [] } as never,
    vectors: { put: () => undefined, delete: () => undefined } as never,
  };
  const server = { version: "1", port: 0 };
  const allowance = { requests: 1, bytes: 1 };
  const generate = { conversationId: session.id, model: MODEL };
  return {
    open: (input) => library.open(":memory:", input),
    openStore: (input) => openStore(":memory:", input),
    engineOn: (input) => engineOn({} as never, input),
    "open.indexing": (indexing) => library.open(":memory:", { indexing }),
    "openStore.indexing": (indexing) => openStore(":memory:", { indexing }),
    setIndexing: (input) => engine.setIndexing(input),
    holdLease: (input) => engine.holdLease("l", input, async () => undefined),
    verify: (input) => engine.verify(input),
    copy: (input) => library.backup(":memory:", "/nowhere/x.db", input),
    createSession: (input) => engine.createSession(merge(create, input)),
    "createSession.origin": (origin) => engine.createSession({ ...create, origin }),
    ensureSession: (input) => engine.ensureSession(merge({ ...create, key: "k" }, input)),
    "ensureSession.origin": (origin) => engine.ensureSession({ ...create, key: "k", origin }),
    fork: (input) => session.fork(merge({ createdBy: "b" }, input)),
    update: (input) => session.update(input),
    "update.figures": (figures) => session.update({ figures }),
    listSessions: (input) => engine.listSessions(input),
    stats: (input) => engine.stats(input),
    "stats.prices": (prices) => engine.stats({ prices: merge(models.LIST_PRICES, prices) }),
    deleteSession: (input) => engine.deleteSession(session.id, input),
    append: (input) => session.append(merge(MESSAGE, input)),
    "append.toolCalls": (call) =>
      session.append({ role: "assistant", toolCalls: [merge({ id: "1", name: "n" }, call)] }),
    "append.toolResults": (result) =>
      session.append({ role: "tool", toolResults: [merge({ id: "1", output: "x" }, result)] }),
    "append.usage": (usage) => session.append({ ...MESSAGE, usage }),
    "append.options": (options) => session.append(MESSAGE, options),
    "appendEntries.custom": (input) =>
      session.appendEntries([merge({ kind: "custom", type: "t", data: 1 }, input)]),
    "appendEntries.customMessage": (input) =>
      session.appendEntries([merge({ kind: "custom_message", type: "t", content: "x" }, input)]),
    "appendEntries.options": (options) => session.appendEntries([MESSAGE], options),
    replaceSuffix: (input) =>
      session.replaceSuffix(merge({ expected: [], replacement: [MESSAGE] }, input)),
    openMessage: (input) => session.openMessage(merge({ role: "assistant" }, input)),
    "openMessage.commit": (input) => stream.commit(input),
    branch: (input) => session.branch(entryId, input),
    edit: (input) => session.edit(entryId, "x", input),
    mark: (input) => session.mark(merge({ reason: "It was Friday." }, input)),
    unmark: (input) => session.unmark(input),
    appendCustomMessage: (input) =>
      session.appendCustomMessage(merge({ type: "t", content: "x" }, input)),
    history: (input) => session.history(input),
    listMessages: (input) => session.listMessages(input),
    listEntries: (input) => session.listEntries(input),
    searchSessions: (input) => engine.searchSessions("x", input),
    searchMemory: (input) => engine.searchMemory("x", input),
    "session.searchMemory": (input) => session.searchMemory("x", input),
    searchFacts: (input) => engine.searchFacts("x", input),
    recall: (input) => session.recall("x", input).next(),
    listRules: (input) => engine.listRules(input),
    addRule: (input) => engine.addRule(merge({ text: "Always test first.", owner: "o" }, input)),
    acceptRule: (input) => engine.acceptRule(`${entryId}-1`, input),
    buildContext: (input) => session.buildContext(input),
    "buildContext.semanticRecall": (semanticRecall) => session.buildContext({ semanticRecall }),
    "buildContext.prune": (input) => session.buildContext({ prune: merge(prune, input) }),
    "buildContext.prune.tools": (tools) => session.buildContext({ prune: { ...prune, tools } }),
    "buildContext.prune.limits": (limits) => session.buildContext({ prune: { ...prune, limits } }),
    renderContext: (input) => library.renderContext([], "anthropic", input),
    compact: (input) => session.compact(input),
    "compact.preset": (input) => session.compact({ preset: merge({ name: "claw" }, input) }),
    "compact.keep": (keep) => session.compact({ keep }),
    summarize: (input) => session.summarize(undefined, input),
    putMemory: (input) => engine.putMemory(merge({ agent: "a", name: "n", content: "x" }, input)),
    listMemories: (input) => engine.listMemories(input),
    putRecord: (input) => records.put(merge({ namespace: "n", key: "k", value: 1 }, input)),
    compareAndSetRecord: (input) =>
      records.compareAndSet(
        merge({ namespace: "n", key: "k", value: 1, expectedVersion: null }, input),
      ),
    deleteRecord: (input) => records.delete("n", "k", input),
    writeRecords: (input) => records.write([input]),
    "writeRecords.put": (input) =>
      records.write([{ put: merge({ namespace: "n", key: "k", value: 1 }, input) }]),
    "writeRecords.delete": (input) =>
      records.write([{ delete: merge({ namespace: "n", key: "k" }, input) }]),
    "writeRecords.check": (input) =>
      records.write([{ check: merge({ namespace: "n", key: "k" }, input) }]),
    listRecords: (input) => records.list(merge({ namespace: "n" }, input)),
    searchRecords: (input) => records.search("x", input),
    addFacts: (input) =>
      session.addFacts([merge({ subject: "a", predicate: "b", object: "c" }, input)]),
    listFacts: (input) => engine.listFacts(input),
    extractFacts: (input) => session.extractFacts(undefined, input),
    subscribe: (input) => engine.subscribe(input).return(undefined),
    listChanges: (input) => engine.listChanges(input),
    deleteTenant: (input) => engine.deleteTenant("nobody", input),
    maintainIndex: (input) => engine.maintainIndex("flush", input),
    createToken: (input) => engine.createToken(merge({ scope: "read" }, input)),
    forgetOwner: (input) => engine.owned("nobody").forget(input),
    listTokens: (input) => engine.listTokens(input),
    setQuota: (input) => engine.setQuota(input),
    "routes.put": (input) => routes.put("k", merge({ sessionId: session.id }, input)),
    "routes.patch": (input) => routes.patch("k", {}, input),
    "routes.list": (input) => routes.list(input),
    "routes.history": (input) => routes.history("k", input),
    findIngestedFiles: (input) => engine.findIngestedFiles("w", [], input),
    "originals.list": (input) => engine.originals.list(input),
    putIngestedFiles: (input) => engine.putIngestedFiles("w", [merge(INGESTED_FILE, input)]),
    importSession: (input) => engine.importSession({} as never, input),
    readTranscript: (input) => readTranscript(merge({ bytes: [] }, input)),
    embedStored: (input) => engine.embedStored(input),
    followEmbeddings: (input) => models.followEmbeddings(engine, merge(follower, input)).next(),
    "followEmbeddings.retry": (retry) =>
      models.followEmbeddings(engine, { ...follower, retry }).next(),
    facets: (input) => engine.facets(input),
    reviewSessions: (input) => work.reviewSessions(engine, input),
    outlineSession: (input) => outlineSession(engine, session.id, input),
    createShare: (input) => engine.shares.create(session.id, input),
    recapSessions: (input) => work.recapSessions(engine, input),
    relatedSessions: (input) => work.relatedSessions(engine, merge({ question: "x" }, input)),
    blameWork: (input) => work.blameWork(engine, merge({ commits: [] }, input)),
    digestWork: (input) => work.digestWork(engine, merge({ commits: [] }, input)),
    "blameWork.commits": (input) => work.blameWork(engine, { commits: [merge(COMMIT, input)] }),
    "blameWork.files": (input) =>
      work.blameWork(engine, { commits: [{ ...COMMIT, files: [merge(FILE, input)] }] }),
    "blameWork.lines": (input) =>
      work.blameWork(engine, { commits: [], lines: [merge(LINE, input)] }),
    traceWork: (input) => work.traceWork(engine, merge({ file: "x" }, input)),
    languageModel: (input) => models.languageModel({} as models.AiSdkModel, input),
    compatibleModel: (input) => models.compatibleModel(input),
    embeddingModel: (input) => models.embeddingModel({} as models.AiSdkEmbeddingModel, input),
    compatibleEmbedder: (input) => models.compatibleEmbedder(input),
    localEmbedder: (input) => models.localEmbedder(input),
    generate: (input) => gateway.generate(engine, merge(generate, input)),
    "generate.context": (context) => gateway.generate(engine, { ...generate, context }),
    "gateway.generate": (input) =>
      gateway.openGateway(engine).generate(merge({ conversationId: session.id }, input)),
    "gateway.reply": (input) =>
      gateway.openGateway(engine).reply({ text: "x", channel: "c", peer: "p" }, input),
    generateTitle: (input) => gateway.generateTitle(session, merge({ model: MODEL }, input)),
    withMemory: (input) => gateway.withMemory({} as models.AiSdkModel, input),
    autoCompaction: (input) => gateway.autoCompaction(input),
    "autoCompaction.compact": (compact) => gateway.autoCompaction({ compact }),
    "autoCompaction.turn": (turn) => gateway.autoCompaction().afterTurn(session, undefined, turn),
    "autoCompaction.flush": (flush) =>
      gateway.autoCompaction({ flush: merge({ model: MODEL }, flush) }),
    "openGateway.flush": (flush) => gateway.openGateway(engine, {}, { flush }),
    compactionOf: (input) => gateway.compactionOf(gateway.readConfig({}).config, input),
    clawPolicy: (input) => gateway.clawPolicy(input),
    piPolicy: (input) => gateway.piPolicy(input),
    turnsPolicy: (input) => gateway.turnsPolicy(input),
    openGateway: (input) => gateway.openGateway(engine, {}, input),
    "decide.figures": (input) =>
      gateway.decide(gateway.turnsPolicy(), merge(COMPACTION_FIGURES, input)),
    "decideFlush.settings": (input) =>
      gateway.decideFlush(gateway.turnsPolicy(), merge(FLUSH_SETTINGS, input), FLUSH_FIGURES),
    "decideFlush.figures": (input) =>
      gateway.decideFlush(gateway.turnsPolicy(), FLUSH_SETTINGS, merge(FLUSH_FIGURES, input)),
    "resolveSessionKey.origin": (input) =>
      gateway.resolveSessionKey(merge({ agent: "a" }, input), KEY_SETTINGS),
    "resolveSessionKey.settings": (input) =>
      gateway.resolveSessionKey({ agent: "a" }, merge(KEY_SETTINGS, input)),
    "gateway.message": (input) =>
      gateway.openGateway(engine).inbound(merge({ text: "x", channel: "c", peer: "p" }, input)),
    maintainSessions: (input) =>
      gateway.maintainSessions(engine, gateway.readConfig({}).config, input),
    ingest: (input) => ingest(engine, input),
    watchPlaces: (input) => watchPlaces(engine, input),
    environment: (input) =>
      workstationId(merge({ home: "/", variables: {}, platform: "x" }, input)),
    retitleSessions: (input) => retitleSessions(engine, input),
    connect: (input) => connect("http://127.0.0.1:1", input),
    "connect.backup": async (input) => {
      const { RemoteEngine } = await import("../../src/client/index.ts");
      await RemoteEngine.prototype.backup.call(Object.create(RemoteEngine.prototype), input);
    },
    openServer: (input) => openServer(engine, input),
    "openServer.local": (local) =>
      openServer(engine, { ...server, local: merge({ token: "t" }, local) }),
    "openServer.rateLimit": (limit) =>
      openServer(engine, { ...server, rateLimit: merge({ perSecond: 1, burst: 1 }, limit) }),
    "openServer.followers": (limits) =>
      openServer(engine, { ...server, followers: merge({ perTenant: 1, perProcess: 1 }, limits) }),
    "openServer.budget": (budget) =>
      openServer(engine, {
        ...server,
        budget: merge({ perTenant: allowance, perProcess: allowance }, budget),
      }),
    "openServer.budget.allowance": (input) =>
      openServer(engine, {
        ...server,
        budget: { perTenant: allowance, perProcess: merge(allowance, input) },
      }),
    keepUp: (input) => keepUp(engine, input),
    memoryTools: (input) => memoryTools(session, input),
    "memoryTools.scope": (scope) => memoryTools(session, { scope }),
    fitHistory: (input) => fitHistory(merge({ tokenBudget: 1 }, input)),
    chatStore: (input) => chatStore(engine, input),
    "chatStore.receive": (input) => chatStore(engine).receive("c", { messages: [] }, input),
    "chatStore.save": (input) => chatStore(engine).save("c", [], input),
    "chatStore.list": (input) => chatStore(engine).list(input),
    resumableStreams: (input) => resumableStreams(engine, input),
    anthropicMemory: (input) => anthropicMemory(engine, input),
    checkpointSaver: (input) => checkpointSaver(engine, input),
    pruneCheckpoints: (input) => checkpointSaver(engine).prune(input),
    itemStore: (input) => itemStore(engine, input),
    "itemStore.search": (input) =>
      itemStore(engine).batch([merge({ namespacePrefix: ["a"] }, input)]),
    "itemStore.listNamespaces": (input) => itemStore(engine).listNamespaces(input),
    threadHistory: (input) => threadHistory(engine, merge({ threadId: "thread" }, input)),
    mastraMemory: (input) => mastraMemory(engine, merge({ MemoryStorage: Object }, input)),
    agentsSession: (input) => agentsSession(engine, input),
    claudeSessionStore: (input) => claudeSessionStore(engine, input),
  };
}

function merge<Right extends object>(right: Right, wrong: object): Right & never {
  return { ...right, ...wrong } as Right & never;
}
