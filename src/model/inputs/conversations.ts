/** Inputs of the calls that open a store, write conversations and read them. */

import { ORIGIN_FIELDS, SETTABLE_FIELDS, type SettableField } from "../session-fields.ts";

type NewSessionField =
  | SettableField
  | "id"
  | "agent"
  | "createdBy"
  | "startedAt"
  | "idempotencyKey";

export const CONVERSATION_INPUTS = {
  open: [
    "durability",
    "readOnly",
    "create",
    "inThread",
    "searchThread",
    "maxQueue",
    "busyTimeoutMs",
    "indexing",
    "onLoss",
    "onWarning",
    "tenant",
    "flushMs",
    "leaseMs",
    "searchDeadlineMs",
    "models",
    "tokenCounter",
    "prices",
    "source",
  ],
  "open.indexing": [
    "language",
    "tools",
    "cacheBytes",
    "flushAt",
    "mergeShare",
    "leaseMs",
    "module",
  ],
  setIndexing: ["language", "tools"],
  holdLease: ["durationMs", "patienceMs", "signal", "owner"],
  verify: ["head", "onProgress"],
  copy: ["onProgress", "onLoss"],

  createSession: [
    "id",
    "agent",
    "createdBy",
    ...SETTABLE_FIELDS,
    "startedAt",
    "idempotencyKey",
    "origin",
  ] as readonly (NewSessionField | "origin")[],
  "createSession.origin": Object.keys(ORIGIN_FIELDS) as readonly (keyof typeof ORIGIN_FIELDS)[],
  ensureSession: [
    "key",
    "id",
    "agent",
    "createdBy",
    ...SETTABLE_FIELDS,
    "startedAt",
    "origin",
  ] as readonly (Exclude<NewSessionField, "idempotencyKey"> | "key" | "origin")[],
  "ensureSession.origin": Object.keys(ORIGIN_FIELDS).filter(
    (field) => field !== "key",
  ) as readonly Exclude<keyof typeof ORIGIN_FIELDS, "key">[],
  fork: [
    "id",
    "agent",
    "createdBy",
    ...SETTABLE_FIELDS,
    "startedAt",
    "idempotencyKey",
    "through",
  ] as readonly (NewSessionField | "through")[],
  update: [...SETTABLE_FIELDS, "summary", "figures"] as readonly (
    | SettableField
    | "summary"
    | "figures"
  )[],
  "update.figures": [
    "exchangeCount",
    "toolCounts",
    "fileMtime",
    "costUsd",
    "firstMessageAt",
    "lastMessageAt",
  ],
  listSessions: [
    "agent",
    "owner",
    "participant",
    "projectId",
    "project",
    "workstation",
    "repo",
    "source",
    "parentSessionId",
    "since",
    "until",
    "title",
    "machineMade",
    "limit",
    "cursor",
  ],
  stats: ["agent", "project", "projectId", "repo", "workstation", "since", "until", "prices"],
  deleteSession: ["cascade"],

  append: [
    "role",
    "actor",
    "content",
    "toolCalls",
    "toolResults",
    "usage",
    "contextWindow",
    "model",
    "adapter",
    "metadata",
    "createdAt",
    "interaction",
    "externalId",
    "raw",
  ],
  "append.toolCalls": ["id", "name", "input", "arguments"],
  "append.toolResults": ["id", "name", "output", "isError"],
  "append.usage": ["inputTokens", "outputTokens", "cacheCreationTokens", "cacheReadTokens"],
  "append.options": ["expectedLeaf", "parent", "idempotencyKey"],
  "appendEntries.custom": ["kind", "type", "data", "externalId", "createdAt"],
  "appendEntries.customMessage": [
    "kind",
    "type",
    "content",
    "display",
    "metadata",
    "externalId",
    "createdAt",
  ],
  "appendEntries.options": ["expectedLeaf", "parent", "idempotencyKey", "existing"],
  replaceSuffix: ["expected", "replacement", "key"],
  openMessage: ["role", "actor", "model", "adapter", "metadata", "idempotencyKey"],
  "openMessage.commit": [
    "usage",
    "contextWindow",
    "model",
    "adapter",
    "metadata",
    "expectedLeaf",
    "parent",
    "supersedes",
    "idempotencyKey",
  ],
  branch: ["summary", "expectedLeaf"],
  edit: ["actor", "metadata", "expectedLeaf", "idempotencyKey"],
  appendCustomMessage: ["type", "content", "display", "metadata"],

  history: ["limit", "before", "includeSummaries"],
  listMessages: ["offset", "limit", "leaf", "around", "preview"],
  listEntries: ["tree", "leaf", "after", "limit", "preview"],
} as const;
