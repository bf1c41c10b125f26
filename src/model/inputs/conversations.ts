/** Inputs of the calls that open a store, write conversations and read them. */

import {
  ORIGIN_FIELDS,
  SESSION_FIELDS,
  SETTABLE_FIELDS,
  type SettableField,
} from "../session-fields.ts";
import { type FilterKinds, filterKinds } from "../session-filters.ts";
import { DURABILITIES, LANGUAGES, SESSION_ORDERS, TELEMETRIES, TOOL_INDEXINGS } from "./choices.ts";

/** The fields of a session that callers set, and those of its creation. */
type Settable = { readonly [Name in SettableField]: (typeof SESSION_FIELDS)[Name]["set"] };
const SETTABLE = Object.fromEntries(
  SETTABLE_FIELDS.map((name) => [name, SESSION_FIELDS[name].set]),
) as Settable;
const CREATED = { id: "text", agent: "text", createdBy: "text", startedAt: "time" } as const;

type Origin = { readonly [Name in keyof typeof ORIGIN_FIELDS]: "name" };
const ORIGIN = Object.fromEntries(
  Object.keys(ORIGIN_FIELDS).map((name) => [name, "name"]),
) as Origin;
const { key: _, ...ORIGIN_WITHOUT_KEY } = ORIGIN;

/** The options of `open`: of the store, and of the engine on it. */
const STORE = {
  durability: DURABILITIES as typeof DURABILITIES,
  readOnly: "flag",
  create: "flag",
  inThread: "flag",
  searchThread: "flag",
  maxQueue: "positive",
  busyTimeoutMs: "ms",
  replicas: "texts",
  notify: "name",
  indexing: "object",
  onLoss: "callback",
  onWarning: "callback",
} as const;
const INDEXING = {
  language: LANGUAGES as typeof LANGUAGES,
  tools: TOOL_INDEXINGS as typeof TOOL_INDEXINGS,
  cacheBytes: "count",
  flushAt: "count",
  mergeShare: "share",
  leaseMs: "ms",
} as const;
const ENGINE = {
  tenant: "name",
  embedder: "instance",
  embedDeadlineMs: "ms",
  flushMs: "ms",
  leaseMs: "ms",
  searchDeadlineMs: "ms",
  models: "object",
  tokenCounter: { methods: ["countText", "countBlock"] },
  prices: "callback",
  source: { methods: ["now", "random"] },
} as const;

const LIST = {
  since: "time",
  until: "time",
  machineMade: "flag",
  metadata: "object",
  costs: "flag",
  outcomes: "flag",
  nested: "flag",
  sort: SESSION_ORDERS as typeof SESSION_ORDERS,
  limit: "positive",
  cursor: "text",
} as const;
const STATS = { since: "time", until: "time", session: "text", prices: "object" } as const;

export const CONVERSATION_INPUTS = {
  open: { ...STORE, ...ENGINE, telemetry: TELEMETRIES } as typeof STORE &
    typeof ENGINE & { readonly telemetry: typeof TELEMETRIES },
  openStore: STORE as typeof STORE,
  engineOn: ENGINE as typeof ENGINE,
  "open.indexing": INDEXING as typeof INDEXING,
  "openStore.indexing": { ...INDEXING, module: "name" } as typeof INDEXING & {
    readonly module: "name";
  },
  setIndexing: {
    language: LANGUAGES as typeof LANGUAGES,
    tools: TOOL_INDEXINGS as typeof TOOL_INDEXINGS,
  },
  holdLease: { durationMs: "ms!", patienceMs: "ms", signal: "signal", owner: "key" },
  verify: { head: "text", onProgress: "callback" },
  copy: { onProgress: "callback", onLoss: "callback" },

  createSession: {
    ...CREATED,
    ...SETTABLE,
    idempotencyKey: "name",
    origin: "object",
  } as typeof CREATED & Settable & { readonly idempotencyKey: "name"; readonly origin: "object" },
  "createSession.origin": ORIGIN as Origin,
  ensureSession: { key: "name", ...CREATED, ...SETTABLE, origin: "object" } as typeof CREATED &
    Settable & { readonly key: "name"; readonly origin: "object" },
  "ensureSession.origin": ORIGIN_WITHOUT_KEY as Omit<Origin, "key">,
  fork: { ...CREATED, ...SETTABLE, idempotencyKey: "name", through: "key" } as typeof CREATED &
    Settable & { readonly idempotencyKey: "name"; readonly through: "key" },
  update: { ...SETTABLE, figures: "object" } as Settable & { readonly figures: "object" },
  "update.figures": {
    exchangeCount: "count!",
    toolCounts: "object!",
    fileMtime: "time|null",
    costUsd: "number",
    firstMessageAt: "time|null",
    lastMessageAt: "time|null",
  },
  listSessions: { ...filterKinds("list"), ...LIST } as FilterKinds<"list"> & typeof LIST,
  stats: { ...filterKinds("stats"), ...STATS } as FilterKinds<"stats"> & typeof STATS,
  "stats.prices": { asOf: "name!", models: "object!" },
  deleteSession: { cascade: "flag" },

  append: {
    role: "text!",
    actor: "name",
    content: "text|list",
    toolCalls: "list|null",
    toolResults: "list|null",
    usage: "object",
    contextWindow: "count",
    model: "name",
    adapter: "name",
    metadata: "object",
    createdAt: "time",
    interaction: "flag",
    externalId: "name",
    raw: "any",
  },
  "append.toolCalls": { id: "text!", name: "text!", input: "any", arguments: "any" },
  "append.toolResults": { id: "text!", name: "text", output: "text|list!", isError: "flag" },
  "append.usage": {
    inputTokens: "count",
    outputTokens: "count",
    cacheCreationTokens: "count",
    cacheReadTokens: "count",
  },
  mark: { entryId: "key", replacedBy: "key", reason: "text!", actor: "name" },
  unmark: { entryId: "key", actor: "name" },
  "append.options": { expectedLeaf: "key|null", parent: "key|null", idempotencyKey: "name" },
  "appendEntries.custom": {
    kind: ["custom"],
    type: "text!",
    data: "any",
    externalId: "name",
    createdAt: "time",
  },
  "appendEntries.customMessage": {
    kind: ["custom_message"],
    type: "text!",
    content: "text|list!",
    display: "flag",
    metadata: "object",
    externalId: "name",
    createdAt: "time",
  },
  "appendEntries.options": {
    expectedLeaf: "key|null",
    parent: "key|null",
    idempotencyKey: "name",
    existing: ["keep", "replace"],
  },
  replaceSuffix: { expected: "texts!", replacement: "list!", key: "name" },
  openMessage: {
    role: "text!",
    actor: "name",
    model: "name",
    adapter: "name",
    metadata: "object",
    idempotencyKey: "name",
  },
  "openMessage.commit": {
    usage: "object",
    contextWindow: "count",
    model: "name",
    adapter: "name",
    metadata: "object",
    expectedLeaf: "key|null",
    parent: "key|null",
    supersedes: "key",
    idempotencyKey: "name",
  },
  branch: { summary: "text|list", expectedLeaf: "key|null" },
  edit: { actor: "name", metadata: "object", expectedLeaf: "key|null", idempotencyKey: "name" },
  appendCustomMessage: {
    type: "text!",
    content: "text|list!",
    display: "flag",
    metadata: "object",
  },

  history: { limit: "positive", before: "key", includeSummaries: "flag" },
  listMessages: {
    offset: "count",
    limit: "positive",
    leaf: "key",
    around: "key",
    preview: "flag",
  },
  listEntries: {
    tree: "flag",
    leaf: "key",
    after: "key",
    offset: "count",
    limit: "positive",
    preview: "flag",
  },
} as const;
