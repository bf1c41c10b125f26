/** A valid request for every route, by a permitted caller. */

import { PAGE_ROUTE_CASES } from "./page-route-cases.ts";
import { PRIMITIVE_ROUTE_CASES } from "./primitive-route-cases.ts";
import { RECORD_ROUTE_CASES } from "./record-route-cases.ts";

export interface RouteCase {
  readonly path: string;
  readonly body?: unknown;
  /** A body of bytes in place of JSON. */
  readonly bytes?: string;
  /** The result for another tenant: an error code, or `empty` for an answer without our data. */
  readonly stranger: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Ids = Readonly<Record<string, string>>;

const none = "session_not_found";

const COMMIT = {
  commit: "9fceb02d0ae598e95dc970b74767f19372d61af8",
  subject: "Compute the tax of each line",
  authored_at: "2026-01-31T09:00:00.000Z",
  committed_at: "2026-01-31T09:00:00.000Z",
  files: [{ path: "src/tax.ts", added: ["export const rate = 0.19;"], removed: [] }],
  named: null,
};

export const ROUTE_CASES: Readonly<Record<string, (ids: Ids) => RouteCase>> = {
  ...PAGE_ROUTE_CASES,
  ...PRIMITIVE_ROUTE_CASES,
  ...RECORD_ROUTE_CASES,
  listSessions: () => ({ path: "/v1/sessions?limit=10", stranger: "empty" }),
  createSession: () => ({
    path: "/v1/sessions",
    body: { agent: "coder", title: "New", metadata: { a: 1 }, origin: { project_path: "/srv" } },
    stranger: "empty",
  }),
  getSessionMeta: ({ session }) => ({ path: `/v1/sessions/${session}`, stranger: none }),
  update: ({ session }) => ({
    path: `/v1/sessions/${session}`,
    body: { title: "Other", ttl: null, metadata: { facts: { enabled: true } } },
    stranger: none,
  }),
  deleteSession: ({ doomed }) => ({ path: `/v1/sessions/${doomed}?cascade=true`, stranger: none }),
  listDerived: ({ session }) => ({ path: `/v1/sessions/${session}/derived`, stranger: none }),
  fork: ({ session, first }) => ({
    path: `/v1/sessions/${session}/fork`,
    body: { through: first, title: "A fork" },
    stranger: none,
  }),
  findSessionByOrigin: ({ origin }) => ({
    path: `/v1/origins?key=${encodeURIComponent(origin ?? "")}`,
    stranger: none,
  }),
  findTombstone: ({ gone }) => ({ path: `/v1/tombstones?session_id=${gone}`, stranger: none }),

  listMessages: ({ session }) => ({ path: `/v1/sessions/${session}/messages`, stranger: none }),
  append: ({ session }) => ({
    path: `/v1/sessions/${session}/messages`,
    body: {
      messages: [
        { role: "user", actor: "ana", content: "one", created_at: "2026-01-02T03:04:05+01:00" },
        {
          role: "assistant",
          tool_calls: [{ id: "c1", name: "ls", input: {} }],
          tool_results: [{ id: "c1", output: "files", is_error: false }],
          usage: { input_tokens: 3 },
        },
      ],
    },
    headers: { "idempotency-key": "append-1" },
    stranger: none,
  }),
  history: ({ session }) => ({
    path: `/v1/sessions/${session}/history?limit=2&include_summaries=true`,
    stranger: none,
  }),

  openMessage: ({ session }) => ({
    path: `/v1/sessions/${session}/streams`,
    body: { role: "assistant", actor: "coder", model: "m" },
    stranger: none,
  }),
  write: ({ session, open, lease }) => ({
    path: `/v1/sessions/${session}/streams/${open}/chunks`,
    body: { lease, chunks: [" more", { type: "text", text: " text" }] },
    stranger: "entry_not_found",
  }),
  commit: ({ session, open, lease }) => ({
    path: `/v1/sessions/${session}/streams/${open}/commit`,
    body: { lease, chunks: [" end"], usage: { output_tokens: 7 } },
    stranger: "entry_not_found",
  }),
  abort: ({ session, second }) => ({
    path: `/v1/sessions/${session}/streams/${second}/abort`,
    body: { reason: "enough" },
    stranger: "entry_not_found",
  }),

  listEntries: ({ session }) => ({
    path: `/v1/sessions/${session}/entries?tree=true&limit=3`,
    stranger: none,
  }),
  appendCustom: ({ session }) => ({
    path: `/v1/sessions/${session}/entries`,
    body: { kind: "custom_message", type: "note", content: "by the way", display: false },
    stranger: none,
  }),
  getEntry: ({ first }) => ({ path: `/v1/entries/${first}`, stranger: "entry_not_found" }),
  getSessionEntry: ({ session, first }) => ({
    path: `/v1/sessions/${session}/entries/${first}`,
    stranger: "entry_not_found",
  }),
  edit: ({ session, first }) => ({
    path: `/v1/sessions/${session}/entries/${first}/edit`,
    body: { content: "Where was it?" },
    stranger: "entry_not_found",
  }),
  regenerate: ({ session, answer }) => ({
    path: `/v1/sessions/${session}/entries/${answer}/regenerate`,
    body: { message: { role: "assistant", content: "Somewhere else." } },
    stranger: "entry_not_found",
  }),
  label: ({ session, first }) => ({
    path: `/v1/sessions/${session}/entries/${first}/label`,
    body: { label: "start" },
    stranger: "entry_not_found",
  }),
  labels: ({ session }) => ({ path: `/v1/sessions/${session}/labels`, stranger: none }),
  mark: ({ session, first, last }) => ({
    path: `/v1/sessions/${session}/mark`,
    body: { entry_id: first, replaced_by: last, reason: "It was Monday." },
    stranger: "entry_not_found",
  }),
  unmark: ({ session, first }) => ({
    path: `/v1/sessions/${session}/mark?entry_id=${first}`,
    stranger: "entry_not_found",
  }),
  marks: ({ session }) => ({ path: `/v1/sessions/${session}/marks`, stranger: none }),
  pin: ({ session, first }) => ({
    path: `/v1/sessions/${session}/entries/${first}/pin`,
    stranger: none,
  }),
  unpin: ({ session, first }) => ({
    path: `/v1/sessions/${session}/entries/${first}/pin`,
    stranger: none,
  }),
  branches: ({ session }) => ({ path: `/v1/sessions/${session}/branches`, stranger: none }),
  branch: ({ session, last }) => ({
    path: `/v1/sessions/${session}/branch`,
    body: { entry_id: last },
    stranger: none,
  }),

  searchSessions: () => ({
    path: "/v1/search?query=where&role=user&role=assistant&limit=5&explain=true",
    stranger: "empty",
  }),
  recapSessions: () => ({ path: "/v1/recap?limit=3&sub_agents=true", stranger: "empty" }),
  relatedSessions: ({ session }) => ({
    path: `/v1/related?session=${session}&limit=3`,
    stranger: none,
  }),
  blameWork: () => ({
    path: "/v1/blame",
    body: { commits: [COMMIT] },
    stranger: "empty",
  }),
  digestWork: () => ({ path: "/v1/pr", body: { commits: [COMMIT] }, stranger: "empty" }),
  traceWork: () => ({ path: "/v1/trace?command=npm+test&agent=coder", stranger: "empty" }),
  traceWorkByBody: () => ({
    path: "/v1/trace",
    body: { error: "nothing like it", agent: ["coder"], limit: 2 },
    stranger: "empty",
  }),
  searchSessionsByBody: () => ({
    path: "/v1/search",
    body: { query: "quizzaciously", per_session: 2, ranking: "plain", project: "/srv" },
    stranger: "empty",
  }),
  recall: ({ session }) => ({
    path: `/v1/sessions/${session}/recall`,
    body: { query: "quizzaciously", k: 5, scope: "tenant" },
    stranger: none,
  }),
  buildContext: ({ session }) => ({
    path: `/v1/sessions/${session}/context`,
    body: {
      token_budget: 4000,
      provider: "anthropic",
      include_facts: true,
      rules: true,
      semantic_recall: { k: 3 },
    },
    stranger: none,
  }),
  compact: ({ session }) => ({
    path: `/v1/sessions/${session}/compact`,
    body: { keep: { messages: 1 } },
    stranger: none,
  }),
  summaries: ({ session }) => ({ path: `/v1/sessions/${session}/summaries`, stranger: none }),
  summarize: ({ session }) => ({
    path: `/v1/sessions/${session}/summaries`,
    body: { summarizer: "mechanical" },
    stranger: none,
  }),
  usage: ({ session }) => ({ path: `/v1/sessions/${session}/usage`, stranger: none }),
  applyRetention: ({ session }) => ({
    path: `/v1/sessions/${session}/retention`,
    stranger: none,
  }),

  listMemories: () => ({ path: "/v1/memories?agent=coder", stranger: "empty" }),
  searchMemory: () => ({ path: "/v1/memories/search?query=word", stranger: "empty" }),
  getMemory: () => ({ path: "/v1/memories/coder/place", stranger: "empty" }),
  putMemory: () => ({
    path: "/v1/memories/coder/a%2Fslash",
    body: { content: "a note", metadata: {} },
    stranger: "empty",
  }),
  deleteMemory: () => ({ path: "/v1/memories/coder/a%2Fslash", stranger: "empty" }),
  listFacts: ({ session }) => ({ path: `/v1/facts?session_id=${session}`, stranger: none }),
  searchFacts: () => ({ path: "/v1/facts/search?q=text", stranger: "empty" }),
  getFact: ({ fact }) => ({ path: `/v1/facts/${fact}`, stranger: "fact_not_found" }),
  deleteFact: ({ third }) => ({ path: `/v1/facts/${third}`, stranger: "fact_not_found" }),
  supersedeFact: ({ fact, newer }) => ({
    path: `/v1/facts/${fact}/supersede`,
    body: { by: newer },
    stranger: "fact_not_found",
  }),
  listRules: () => ({ path: "/v1/rules?limit=10", stranger: "empty" }),
  addRule: () => ({
    path: "/v1/rules",
    body: { text: "Never push on Fridays.", owner: "ana" },
    stranger: "empty",
  }),
  acceptRule: ({ rule }) => ({
    path: `/v1/rules/${rule}/accept`,
    body: { scope: "owner" },
    stranger: "record_not_found",
  }),
  rejectRule: ({ rule }) => ({
    path: `/v1/rules/${rule}/reject`,
    stranger: "record_not_found",
  }),
  removeRule: ({ rule }) => ({ path: `/v1/rules/${rule}`, stranger: "record_not_found" }),
  addFacts: ({ session }) => ({
    path: `/v1/sessions/${session}/facts`,
    body: { facts: [{ subject: "a", predicate: "is", object: "b", confidence: 0.5 }] },
    stranger: none,
  }),
  extractFacts: ({ session }) => ({
    path: `/v1/sessions/${session}/facts/extract`,
    body: {},
    stranger: none,
  }),

  inbound: () => ({
    path: "/v1/inbound",
    body: { channel: "telegram", account: "work", peer: "4711", thread: "5", text: "Hello" },
    stranger: "empty",
  }),
  listRoutes: () => ({ path: "/v1/routes?limit=10", stranger: "empty" }),
  getRoute: ({ key }) => ({ path: `/v1/routes/${key}`, stranger: "session_key_not_found" }),
  putRoute: ({ session }) => ({
    path: "/v1/routes/agent:main:a%2Fb",
    body: { session_id: session, fields: { sendPolicy: "deny", mine: {} }, reason: "test" },
    stranger: none,
  }),
  patchRoute: ({ key }) => ({
    path: `/v1/routes/${key}`,
    body: { fields: { subject: "x", room: null }, expected_version: 1 },
    stranger: "session_key_not_found",
  }),
  deleteRoute: ({ second_key }) => ({
    path: `/v1/routes/${second_key}`,
    stranger: "session_key_not_found",
  }),
  routeHistory: ({ key }) => ({ path: `/v1/routes/${key}/sessions?limit=5`, stranger: "empty" }),
  routesOfSession: ({ session }) => ({ path: `/v1/sessions/${session}/routes`, stranger: "empty" }),
  sessionStatus: ({ session }) => ({ path: `/v1/sessions/${session}/status`, stranger: none }),
  generateTitle: ({ session }) => ({
    path: `/v1/sessions/${session}/title`,
    body: {},
    stranger: none,
  }),

  listChanges: () => ({ path: "/v1/changes?after=start&limit=3", stranger: "empty" }),
  listSessionChanges: ({ session }) => ({
    path: `/v1/sessions/${session}/changes`,
    stranger: none,
  }),

  importTranscript: () => ({
    path: "/v1/import?dry_run=true&path=s.json",
    bytes: '{"version":1,"messages":[{"role":"user","blocks":[{"type":"text","text":"hi"}]}]}',
    stranger: "empty",
  }),
  exportSession: ({ session }) => ({
    path: `/v1/sessions/${session}/export?format=markdown`,
    stranger: none,
  }),

  stats: () => ({ path: "/v1/stats", stranger: "empty" }),
  tenantStatus: () => ({ path: "/v1/status", stranger: "empty" }),
  indexStatus: () => ({ path: "/v1/index", stranger: "empty" }),
  maintainIndex: () => ({ path: "/v1/admin/index", body: { task: "flush" }, stranger: "empty" }),
  sweep: () => ({ path: "/v1/admin/sweep", stranger: "empty" }),
  maintainSessions: () => ({
    path: "/v1/admin/maintain",
    body: { dry_run: true },
    stranger: "empty",
  }),
  setQuota: () => ({
    path: "/v1/admin/quota",
    body: { max_sessions: 1000 },
    stranger: "forbidden",
  }),
  searchMemoryByBody: () => ({
    path: "/v1/memories/search",
    body: { query: "word", limit: 3 },
    stranger: "empty",
  }),
  searchFactsByBody: () => ({
    path: "/v1/facts/search",
    body: { query: "text" },
    stranger: "empty",
  }),
  planCompaction: ({ session }) => ({
    path: `/v1/sessions/${session}/compact/plan`,
    body: { keep: { messages: 1 } },
    stranger: none,
  }),
  importSession: () => ({
    path: "/v1/ingest/sessions",
    bytes: [
      {
        session: {
          source: "pi",
          agent: "pi",
          id: "read-elsewhere",
          title: null,
          cwd: null,
          git_branch: null,
          started_at: null,
          parent_session: null,
          metadata: {},
        },
        options: { workstation: "desk" },
      },
      {
        entry: {
          source_id: "1",
          kind: "message",
          role: "user",
          actor: "ana",
          data: null,
          blocks: [{ type: "text", text: "hi" }],
          usage: null,
          model: null,
          created_at: null,
          metadata: {},
        },
      },
      { end: {} },
    ]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(""),
    stranger: "empty",
  }),
  describeSession: ({ session }) => ({
    path: `/v1/ingest/sessions/${session}`,
    body: {
      figures: {
        exchange_count: 1,
        tool_counts: {},
        file_mtime: null,
        first_msg_at: null,
        last_msg_at: null,
        cost_usd: 0.5,
      },
    },
    stranger: none,
  }),
  findIngestedFiles: () => ({
    path: "/v1/ingest/files/find",
    body: { workstation: "desk", paths: ["/srv/a.jsonl"] },
    stranger: "empty",
  }),
  putIngestedFiles: () => ({
    path: "/v1/ingest/files",
    body: {
      workstation: "desk",
      files: [
        {
          path: "/srv/a.jsonl",
          source: "pi",
          size: 3,
          mtime_us: 5,
          offset: 3,
          lines: 1,
          tail_hash: null,
          state: null,
          seen_at: "2026-01-02T03:04:05.000Z",
        },
      ],
    },
    stranger: "empty",
  }),
  access: () => ({ path: "/v1/access", stranger: "empty" }),
  listTokens: () => ({ path: "/v1/admin/tokens", stranger: "empty" }),
  createToken: () => ({
    path: "/v1/admin/tokens",
    body: { scope: "read", act_as: ["bob"], expires: "2099-01-01T00:00:00Z" },
    stranger: "empty",
  }),
  revokeToken: ({ token }) => ({
    path: `/v1/admin/tokens/${token}`,
    stranger: "token_not_found",
  }),
  status: () => ({ path: "/v1/admin/store", stranger: "forbidden" }),
  verify: () => ({ path: "/v1/admin/store/verify", stranger: "forbidden" }),
  checkIntegrity: () => ({ path: "/v1/admin/store/check", stranger: "forbidden" }),
  backup: () => ({ path: "/v1/backup", stranger: "forbidden" }),
  sweepAll: () => ({ path: "/v1/admin/store/sweep", stranger: "forbidden" }),
};
