/** For every call of the library and every field of its input: values that must be refused. */

import type { Engine, SessionHandle } from "../../src/index.ts";
import { eachFilter } from "../../src/model/session-filters.ts";

export interface WrongCall {
  readonly name: string;
  readonly call: () => unknown;
}

/** Values that no field accepts. */
const NONSENSE: readonly unknown[] = [1n, Symbol("s"), () => 1, new Map(), true];
/** Values that no text field accepts. */
const NO_TEXT: readonly unknown[] = [...NONSENSE, 5, {}, [], ["a"], "\0", "\ud800"];
const NO_NAME: readonly unknown[] = [...NO_TEXT, "", " ", null];
const NO_ID: readonly unknown[] = [...NONSENSE, 5, {}, ["a"]];
const NO_OBJECT: readonly unknown[] = [...NONSENSE, null, 5, "x", []];
const NO_LIST: readonly unknown[] = [...NONSENSE, null, 5, "x", {}];
const NO_COUNT: readonly unknown[] = [...NONSENSE, null, -1, 1.5, Number.NaN, "5", {}, 2 ** 60];
const NO_LIMIT: readonly unknown[] = [...NO_COUNT, 0, 501, Number.POSITIVE_INFINITY];
const NO_TIME: readonly unknown[] = [...NO_COUNT, new Date(Number.NaN), "2026-01-01"];
const NO_CHOICE: readonly unknown[] = [...NONSENSE, null, "", "other", 5, {}];
const NO_JSON: readonly unknown[] = [...NO_OBJECT, { a: 1n }, { a: () => 1 }, { a: Number.NaN }];
const NO_FLAG: readonly unknown[] = [1n, Symbol("s"), () => 1, null, 0, "yes", {}];
const NO_FUNCTION: readonly unknown[] = [1n, Symbol("s"), null, 5, "x", {}, []];

/** Fields where null means absent. */
function orNull(wrong: readonly unknown[]): readonly unknown[] {
  return wrong.filter((value) => value !== null);
}

type Fields = Readonly<Record<string, readonly unknown[]>>;

const CREATE: Fields = {
  id: [...NO_NAME, "a/b", "..", "../a", "a\\b", ".hidden", "x".repeat(129)],
  agent: NO_NAME,
  createdBy: NO_NAME,
  owner: NO_NAME,
  title: NO_TEXT,
  participants: [...orNull(NO_LIST), [5], [""], [null]],
  metadata: orNull(NO_JSON),
  ttl: [...orNull(NO_COUNT), 0],
  retention: orNull(NO_CHOICE),
  origin: [...orNull(NO_OBJECT), { source: 5 }, { projectId: "" }, { key: "\0" }],
  startedAt: NO_TIME,
  idempotencyKey: NO_NAME,
};

const { idempotencyKey: _, origin: __, ...ENSURED } = CREATE;
const ENSURE: Fields = { ...ENSURED, origin: [...orNull(NO_OBJECT), { source: 5 }, { key: "k" }] };

const MESSAGE: Fields = {
  role: NO_CHOICE,
  actor: NO_NAME,
  content: [...NONSENSE, null, 5, {}, [5], [null], [{ type: 5 }], [{ type: "text" }]],
  toolCalls: [...orNull(NO_LIST), [5], [null], [{ id: 5, name: "n" }], [{ id: "1" }]],
  toolResults: [
    ...orNull(NO_LIST),
    [5],
    [null],
    [{ id: 5, output: "x" }],
    [{ id: "1", output: [5] }],
  ],
  usage: [...NO_OBJECT, { inputTokens: -1 }, { outputTokens: "5" }, { cacheReadTokens: 1.5 }],
  contextWindow: NO_COUNT,
  model: NO_NAME,
  adapter: NO_NAME,
  metadata: NO_JSON,
  createdAt: NO_TIME,
  interaction: NO_FLAG,
  externalId: [...NO_NAME, "x".repeat(513)],
  raw: [1n, Symbol("s"), () => 1, new Map(), { a: 1n }, { a: Number.NaN }],
};

const CUSTOM: Fields = {
  kind: NO_CHOICE,
  type: NO_TEXT,
  data: [undefined, 1n, { a: () => 1 }],
  externalId: NO_NAME,
  createdAt: NO_TIME,
};

const SUFFIX: Fields = {
  expected: [...NO_LIST, [5], [null], ["\0"], Array(1_001).fill("x")],
  replacement: [...NO_LIST, [5], [null], [{}], [{ role: "x", content: "y" }]],
  key: NO_NAME,
};

const OPTIONS: Fields = { expectedLeaf: NO_ID, parent: NO_ID, idempotencyKey: NO_NAME };

const OPEN: Fields = {
  role: NO_CHOICE,
  actor: NO_NAME,
  model: NO_NAME,
  adapter: NO_NAME,
  metadata: NO_JSON,
  idempotencyKey: NO_NAME,
};

const WRONG = { text: NO_ID, count: NO_COUNT, flag: NO_FLAG, time: NO_TIME };

const FILTER: Fields = {
  ...eachFilter("list", ({ kind = "text" }) => WRONG[kind as keyof typeof WRONG]),
  metadata: [...NO_OBJECT, { a: null }, { a: [1] }, { a: {} }, { a: Number.NaN }, { "\0": 1 }],
  since: NO_TIME,
  until: NO_TIME,
  limit: NO_LIMIT,
};

const TOKEN: Fields = {
  scope: NO_CHOICE,
  actor: NO_NAME,
  actAs: [...NO_LIST, [5], [""], [null], ["a", " "], ["\0"]],
  label: NO_NAME,
  expires: [...NO_TIME, 0, 1, Number.MAX_SAFE_INTEGER],
  operator: [...NO_FLAG, true],
};

const ROUTE: Fields = {
  sessionId: NO_ID,
  create: orNull(NO_OBJECT),
  fields: [...orNull(NO_JSON), { chatType: "x" }, { sendPolicy: 1 }, { inputTokens: -1 }],
  expectedVersion: NO_COUNT,
  reason: NO_NAME,
};

export function wrongCalls(engine: Engine, session: SessionHandle, entryId: string): WrongCall[] {
  const message = { role: "user", content: "x" };
  const create = { agent: "test", createdBy: "test" };
  const memory = { agent: "test", name: "m", content: "x" };
  const fact = { subject: "a", predicate: "b", object: "c" };
  return [
    ...inputs("createSession", CREATE, create, (input) => engine.createSession(input)),
    ...inputs(
      "ensureSession",
      { ...ENSURE, key: [...NO_NAME, undefined, "x".repeat(4_097)] },
      { ...create, key: "k" },
      (input) => engine.ensureSession(input),
    ),
    ...inputs("append", MESSAGE, message, (input) => session.append(input)),
    ...values("appendEntries", [...NO_LIST, [], [5], [null]], (v) => session.appendEntries(v)),
    ...inputs("appendEntries", MESSAGE, message, (input) => session.appendEntries([input])),
    ...inputs("appendEntries", CUSTOM, { kind: "custom", type: "t", data: 1 }, (input) =>
      session.appendEntries([input]),
    ),
    ...inputs("appendEntries options", { ...OPTIONS, existing: NO_CHOICE }, {}, (input) =>
      session.appendEntries([message as never], input),
    ),
    ...inputs("replaceSuffix", SUFFIX, { expected: [], replacement: [message] }, (input) =>
      session.replaceSuffix(input),
    ),
    ...values("getByExternalId", NO_NAME, (value) => session.getByExternalId(value)),
    ...inputs("append options", OPTIONS, {}, (input) => session.append(message as never, input)),
    ...inputs("openMessage", OPEN, { role: "user" }, (input) => session.openMessage(input)),
    ...inputs(
      "update",
      {
        title: [...NO_TEXT, null],
        owner: NO_NAME,
        summary: NO_TEXT,
        metadata: NO_JSON,
        participants: [...NO_LIST, [5], [""]],
        ttl: [...orNull(NO_COUNT), 0],
        retention: NO_CHOICE,
      },
      {},
      (input) => session.update(input),
    ),
    ...inputs(
      "listMessages",
      { offset: orNull(NO_COUNT), limit: NO_LIMIT, leaf: NO_ID, around: NO_ID },
      {},
      (input) => session.listMessages(input),
    ),
    ...inputs("history", { limit: NO_LIMIT, before: NO_ID }, {}, (input) => session.history(input)),
    ...inputs("listEntries", { limit: NO_LIMIT, leaf: NO_ID, after: NO_ID }, {}, (input) =>
      session.listEntries(input),
    ),
    ...inputs("listSessions", FILTER, {}, (input) => engine.listSessions(input)),
    ...inputs(
      "listChanges",
      { limit: NO_LIMIT, session: NO_ID, after: [...NO_ID, "x"] },
      {},
      (input) => engine.listChanges(input),
    ),
    ...inputs(
      "putMemory",
      {
        agent: NO_NAME,
        name: NO_NAME,
        content: [...NONSENSE, null, "", 5, {}],
        metadata: orNull(NO_JSON),
      },
      memory,
      (input) => engine.putMemory(input),
    ),
    ...inputs("listMemories", { agent: NO_ID, limit: NO_LIMIT, after: NO_OBJECT }, {}, (input) =>
      engine.listMemories(input),
    ),
    ...inputs(
      "listRules",
      { project: NO_ID, owner: NO_ID, session: NO_ID, limit: NO_LIMIT },
      {},
      (input) => engine.listRules(input),
    ),
    ...inputs(
      "addRule",
      { text: NO_NAME, owner: NO_ID },
      { text: "Always test.", owner: "o" },
      (input) => engine.addRule(input),
    ),
    ...inputs("listFacts", { sessionId: NO_ID, after: NO_ID, limit: NO_LIMIT }, {}, (input) =>
      engine.listFacts(input),
    ),
    ...inputs(
      "addFacts",
      {
        subject: NO_NAME,
        predicate: NO_NAME,
        object: NO_NAME,
        sourceEntry: NO_ID,
        confidence: [...NONSENSE, -1, 2, Number.NaN, "1"],
      },
      fact,
      (input) => session.addFacts([input]),
    ),
    ...inputs(
      "extractFacts",
      {
        extractor: [...NO_OBJECT, {}, { extract: "x" }],
        model: NO_NAME,
        redact: NO_FUNCTION,
        onPart: NO_FUNCTION,
        signal: [...NO_OBJECT, {}],
      },
      {},
      (input) => session.extractFacts(undefined, input),
    ),
    ...values("extractFacts options", NO_OBJECT, (value) => session.extractFacts(undefined, value)),
    ...values("extractFacts through", [...NO_ID, null], (value) => session.extractFacts(value)),
    ...values("compact", NO_OBJECT, (value) => session.compact(value)),
    ...values("textModel", NO_ID, (value) => engine.textModel(value)),
    ...values("findIngestedFiles", [...NO_LIST, [5], [null]], (value) =>
      engine.findIngestedFiles("w", value),
    ),
    ...values(
      "putIngestedFiles",
      [...NO_LIST, ...NO_OBJECT.map((each) => [each]), [{ path: "a" }]],
      (value) => engine.putIngestedFiles("w", value),
    ),
    ...values("importSession", [...NO_OBJECT, {}, { id: "a", entries: [] }], (value) =>
      engine.importSession(value),
    ),
    ...inputs("createToken", TOKEN, { scope: "read" }, (input) => engine.createToken(input)),
    ...values("createToken", NO_OBJECT, (value) => engine.createToken(value)),
    ...inputs("listTokens", { after: NO_ID, limit: NO_LIMIT }, {}, (input) =>
      engine.listTokens(input),
    ),
    ...values("listTokens", NO_OBJECT, (value) => engine.listTokens(value)),
    ...values("revokeToken", NO_ID, (value) => engine.revokeToken(value)),
    ...inputs(
      "holdLease",
      { durationMs: [...NO_COUNT, 0, 99], signal: [...NO_OBJECT, {}] },
      { durationMs: 1_000 },
      (input) => engine.holdLease("job", input, async () => undefined),
    ),
    ...values("holdLease", NO_NAME, (value) =>
      engine.holdLease(value, { durationMs: 1_000 }, async () => undefined),
    ),
    ...inputs(
      "holdLease",
      { patienceMs: [-1, "1", null, Number.NaN] },
      { durationMs: 1_000 },
      (input) => session.holdLease("job", input, async () => undefined),
    ),
    ...values("holdLease of a session", NO_NAME, (value) =>
      session.holdLease(value, { durationMs: 1_000 }, async () => undefined),
    ),
    ...values("holdLease work", NO_FUNCTION, (value) =>
      engine.holdLease("job", { durationMs: 1_000 }, value),
    ),
    ...inputs("setQuota", { maxSessions: orNull(NO_COUNT) }, {}, (input) => engine.setQuota(input)),
    ...inputs("fork", { ...CREATE, through: NO_ID }, { createdBy: "test" }, (input) =>
      session.fork(input),
    ),
    ...inputs(
      "appendCustomMessage",
      { type: [...NO_TEXT, null], content: [null, 5, "", []], display: NO_FLAG, metadata: NO_JSON },
      { type: "t", content: "x" },
      (input) => session.appendCustomMessage(input),
    ),
    ...values("createSession", NO_OBJECT, (value) => engine.createSession(value)),
    ...values("append", [...NO_OBJECT, [5], [null]], (value) => session.append(value)),
    ...values("openMessage", NO_OBJECT, (value) => session.openMessage(value)),
    ...values("putMemory", NO_OBJECT, (value) => engine.putMemory(value)),
    ...values("addFacts", [...NO_LIST, [5], [null]], (value) => session.addFacts(value)),
    ...values("update", NO_OBJECT, (value) => session.update(value)),
    ...values("fork", NO_OBJECT, (value) => session.fork(value)),
    ...values("setTitle", [...NO_TEXT, null], (value) => session.setTitle(value)),
    ...values("edit content", [...NONSENSE, null, 5, "", []], (value) =>
      session.edit(entryId, value),
    ),
    ...values("label", NO_TEXT, (value) => session.label(entryId, value)),
    ...values("appendCustom type", [...NO_TEXT, null], (value) =>
      session.appendCustom(value, null),
    ),
    ...values("appendCustom data", [1n, () => 1, Symbol("s"), new Map()], (value) =>
      session.appendCustom("t", value),
    ),
    ...inputs("routes.put", ROUTE, { sessionId: session.id }, (input) =>
      engine.routes.put("key", input),
    ),
    ...values("routes.put key", [...NO_NAME, "x".repeat(2_049)], (value) =>
      engine.routes.put(value, { sessionId: session.id }),
    ),
    ...values("routes.put nothing", [{}, { create: {} }], (value) =>
      engine.routes.put("key", value),
    ),
    ...values("routes.patch", [...NO_JSON, { room: 5 }, { memoryFlushAt: "" }], (value) =>
      engine.routes.patch("key", value),
    ),
    ...inputs("routes.list", { after: NO_ID, limit: NO_LIMIT }, {}, (input) =>
      engine.routes.list(input),
    ),
    ...inputs("routes.history", { before: NO_COUNT, limit: NO_LIMIT }, {}, (input) =>
      engine.routes.history("key", input),
    ),
    ...values("sessionSizes", [...NO_LIST, [5], [null], ["\0"], Array(501).fill("a")], (value) =>
      engine.sessionSizes(value),
    ),
    ...values("routes.get", NO_ID, (value) => engine.routes.get(value)),
    ...values("routes.delete", NO_ID, (value) => engine.routes.delete(value)),
    ...values("routes.ofSession", NO_ID, (value) => engine.routes.ofSession(value)),
    ...values("getSession", NO_ID, (value) => engine.getSession(value)),
    ...values("getSessionMeta", NO_ID, (value) => engine.getSessionMeta(value)),
    ...values("deleteSession", NO_ID, (value) => engine.deleteSession(value)),
    ...values("findTombstone", NO_ID, (value) => engine.findTombstone(value)),
    ...values("findSessionByOrigin", NO_ID, (value) => engine.findSessionByOrigin(value)),
    ...values("listMessages", NO_ID, (value) => engine.listMessages(value)),
    ...values("getEntry", NO_ID, (value) => engine.getEntry(value)),
    ...values("branch", NO_ID, (value) => session.branch(value)),
    ...values("edit", NO_ID, (value) => session.edit(value, "x")),
    ...values("regenerate", NO_ID, (value) => session.regenerate(value, message as never)),
    ...values("pin", NO_ID, (value) => session.pin(value)),
    ...values("abortMessage", NO_ID, (value) => engine.abortMessage(value)),
    ...values("getMemory", NO_ID, (value) => engine.getMemory(value, "m")),
    ...values("deleteMemory", NO_ID, (value) => engine.deleteMemory("test", value)),
    ...values("getFact", NO_ID, (value) => engine.getFact(value)),
    ...values("deleteFact", NO_ID, (value) => engine.deleteFact(value)),
    ...values("forTenant", [...NO_ID, "", "a/b", "../x", "x".repeat(129)], (value) =>
      engine.forTenant(value),
    ),
  ];
}

/** One call per wrong value of each field, with the other fields valid. */
function inputs(
  name: string,
  fields: Fields,
  right: object,
  call: (input: never) => unknown,
): WrongCall[] {
  return Object.entries(fields).flatMap(([field, wrong]) =>
    wrong.map((value) => ({
      name: `${name} ${field} = ${show(value)}`,
      call: () => call({ ...right, [field]: value } as never),
    })),
  );
}

function values(
  name: string,
  wrong: readonly unknown[],
  call: (value: never) => unknown,
): WrongCall[] {
  return wrong.map((value) => ({
    name: `${name}(${show(value)})`,
    call: () => call(value as never),
  }));
}

function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 20));
  if (Array.isArray(value)) return `[${value.map(show).join()}]`;
  if (typeof value !== "object" || value === null) return String(value);
  return `${value.constructor.name} {${Object.keys(value).join()}}`;
}
