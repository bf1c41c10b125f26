/** Inputs of the feed, access, routes, imports and maintenance. */

import { ACCESS_SCOPES } from "../access.ts";
import { PROVENANCES } from "../session.ts";
import { type FilterKinds, filterKinds } from "../session-filters.ts";
import { BRANCH_SCOPES, LATE_ENTRIES } from "./choices.ts";

const RECAP = {
  session: "text",
  since: "time",
  until: "time",
  limit: "positive",
  subAgents: "flag",
} as const;
const TRACE = {
  file: "text",
  command: "text",
  error: "text",
  since: "time",
  until: "time",
  limit: "positive",
} as const;
const RELATED = { session: "text", question: "text", limit: "positive" } as const;
const FACETS = {
  query: "text",
  since: "time",
  until: "time",
  role: "text",
  asYouType: "flag",
  machineMade: "flag",
  branches: BRANCH_SCOPES as typeof BRANCH_SCOPES,
  signal: "signal",
} as const;

const REVIEW = { since: "time", until: "time", cursor: "text", limit: "positive" } as const;

export const MAINTENANCE_INPUTS = {
  subscribe: { session: "key", after: "text", signal: "signal" },
  listChanges: { session: "key", after: "text", limit: "positive" },
  maintainIndex: { onProgress: "callback" },
  deleteTenant: { onProgress: "callback" },
  forgetOwner: { dryRun: "flag", onProgress: "callback" },
  createToken: {
    scope: ACCESS_SCOPES as typeof ACCESS_SCOPES,
    actor: "name",
    actAs: { one: ["any"], or: "texts" },
    label: "name",
    expires: "time",
    operator: "flag",
  },
  listTokens: { after: "key", limit: "positive" },
  setQuota: { maxSessions: "count|null", maxEntries: "count|null", maxContentBytes: "count|null" },
  "routes.put": {
    sessionId: "key",
    create: "object",
    fields: "object",
    expectedVersion: "count",
    reason: "name",
  },
  "routes.patch": { expectedVersion: "count" },
  "routes.list": { after: "key", limit: "positive" },
  "routes.history": { before: "count", limit: "positive" },
  findIngestedFiles: { withState: "flag" },
  putIngestedFiles: {
    path: "name!",
    source: "name!",
    size: "count!",
    mtimeUs: "count!",
    offset: "count!",
    lines: "count!",
    tailHash: "bytes|null!",
    state: "text|null!",
    seenAt: "count!",
  },
  "originals.list": {
    workstation: "text",
    path: "text",
    sessionId: "text",
    after: "object",
    limit: "positive",
  },
  importSession: {
    file: "text",
    key: "text",
    earlier: "instance",
    workstation: "text",
    projectId: "text",
    repo: "text",
    provenance: PROVENANCES as typeof PROVENANCES,
    owner: "text",
    metadata: "object",
    skipForgotten: "flag",
    after: "text",
    describe: "callback",
    onKnown: "callback",
    idempotencyKey: "name",
    skipEmpty: "flag",
    whenLate: LATE_ENTRIES as typeof LATE_ENTRIES,
    dryRun: "flag",
    onProgress: "callback",
  },
  readTranscript: {
    bytes: "chunks!",
    path: "text",
    source: "text",
    maxLineBytes: "positive",
    prepare: "callback",
  },
  embedStored: { again: "flag", limit: "positive", signal: "signal", onProgress: "callback" },
  followEmbeddings: {
    embedder: { methods: ["embed"], must: true },
    vectors: { methods: ["put", "delete"], must: true },
    after: "text",
    batch: "positive",
    retry: "object",
    signal: "signal",
  },
  "followEmbeddings.retry": { attempts: "positive", firstMs: "ms", maxMs: "ms" },
  recapSessions: { ...filterKinds("recap"), ...RECAP } as FilterKinds<"recap"> & typeof RECAP,
  traceWork: { ...filterKinds("trace"), ...TRACE } as FilterKinds<"trace"> & typeof TRACE,
  blameWork: { commits: "list!", lines: "list", path: "text" },
  "blameWork.commits": {
    commit: "text!",
    subject: "text!",
    authoredAt: "count!",
    committedAt: "count!",
    files: "list!",
    named: "texts",
  },
  digestWork: { commits: "list!" },
  "blameWork.files": { path: "text!", added: "texts!", removed: "texts!" },
  "blameWork.lines": { commit: "text!", path: "text!", number: "count!", text: "text!" },
  relatedSessions: { ...filterKinds("related"), ...RELATED } as FilterKinds<"related"> &
    typeof RELATED,
  facets: { ...filterKinds("facets"), ...FACETS } as FilterKinds<"facets"> & typeof FACETS,
  reviewSessions: { ...filterKinds("review"), ...REVIEW } as FilterKinds<"review"> & typeof REVIEW,
  outlineSession: { leaf: "key", offset: "count", find: "text" },
  createShare: { expires: "time" },
} as const;
