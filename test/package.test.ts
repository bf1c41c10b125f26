import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as ai from "../src/adapters/ai-sdk/index.ts";
import * as anthropicMemory from "../src/adapters/anthropic-memory/index.ts";
import * as assistantUi from "../src/adapters/assistant-ui/index.ts";
import * as langgraph from "../src/adapters/langgraph/index.ts";
import * as mastra from "../src/adapters/mastra/index.ts";
import * as archive from "../src/archive/index.ts";
import { COMMANDS } from "../src/cli/commands/index.ts";
import { EXIT, EXIT_CODES } from "../src/cli/exit.ts";
import * as client from "../src/client/index.ts";
import * as compat from "../src/compat.ts";
import * as gateway from "../src/gateway/index.ts";
import * as library from "../src/index.ts";
import { PROMPTS } from "../src/mcp/prompts.ts";
import { TEMPLATES } from "../src/mcp/resources.ts";
import { TOOLS } from "../src/mcp/tools/index.ts";
import * as models from "../src/models.ts";
import * as server from "../src/server/index.ts";
import * as storeCases from "../src/store-kit/cases.ts";
import * as storeKit from "../src/store-kit/index.ts";
import * as work from "../src/work.ts";
import { ROOT } from "./support/cli.ts";

/**
 * The public surface, pinned literally. A change here belongs in CHANGELOG.md; a removed name is a
 * breaking change.
 */

const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Record<
  string,
  unknown
>;

test("the package has these entry points and no others", () => {
  expect(manifest["exports"]).toEqual({
    ".": { types: "./dist/index.d.ts", default: "./dist/index.js" },
    "./ai": {
      types: "./dist/adapters/ai-sdk/index.d.ts",
      default: "./dist/adapters/ai-sdk/index.js",
    },
    "./anthropic-memory": {
      types: "./dist/adapters/anthropic-memory/index.d.ts",
      default: "./dist/adapters/anthropic-memory/index.js",
    },
    "./assistant-ui": {
      types: "./dist/adapters/assistant-ui/index.d.ts",
      default: "./dist/adapters/assistant-ui/index.js",
    },
    "./claude-agent-sdk": {
      types: "./dist/adapters/claude-agent-sdk/index.d.ts",
      default: "./dist/adapters/claude-agent-sdk/index.js",
    },
    "./client": { types: "./dist/client/index.d.ts", default: "./dist/client/index.js" },
    "./compat": { types: "./dist/compat.d.ts", default: "./dist/compat.js" },
    "./convert": {
      types: "./dist/convert/index.d.ts",
      default: "./dist/convert/index.js",
    },
    "./gateway": { types: "./dist/gateway/index.d.ts", default: "./dist/gateway/index.js" },
    "./ingest": { types: "./dist/archive/index.d.ts", default: "./dist/archive/index.js" },
    "./langgraph": {
      types: "./dist/adapters/langgraph/index.d.ts",
      default: "./dist/adapters/langgraph/index.js",
    },
    "./mastra": {
      types: "./dist/adapters/mastra/index.d.ts",
      default: "./dist/adapters/mastra/index.js",
    },
    "./models": { types: "./dist/models.d.ts", default: "./dist/models.js" },
    "./openai-agents": {
      types: "./dist/adapters/openai-agents/index.d.ts",
      default: "./dist/adapters/openai-agents/index.js",
    },
    "./server": { types: "./dist/server/index.d.ts", default: "./dist/server/index.js" },
    "./store-kit": { types: "./dist/store-kit/index.d.ts", default: "./dist/store-kit/index.js" },
    "./store-kit/cases": {
      types: "./dist/store-kit/cases.d.ts",
      default: "./dist/store-kit/cases.js",
    },
    "./types": { types: "./dist/types.d.ts", default: "./dist/types.js" },
    "./work": { types: "./dist/work.d.ts", default: "./dist/work.js" },
    "./package.json": "./package.json",
  });
  expect(manifest["bin"]).toEqual({ backscroll: "bin/backscroll.js" });
  expect(manifest["engines"]).toEqual({ node: ">=22.18" });
  expect(manifest["license"]).toBe("Apache-2.0");
});

test("the library has these names at run time", () => {
  expect(Object.keys(library).sort()).toEqual([
    "BackscrollError",
    "CHANGE_KINDS",
    "ENTRY_KINDS",
    "ERROR_CODES",
    "Engine",
    "MessageStream",
    "PROVIDERS",
    "SessionHandle",
    "TOKEN_ESTIMATE",
    "TenantEngine",
    "backup",
    "contextWindow",
    "inputTextOf",
    "open",
    "renderContext",
    "restore",
    "textOf",
    "verifyBackup",
  ]);
});

test("the library has these types, and backscroll/types has every one", () => {
  const [root, all] = ["src/index.ts", "src/types.ts"].map((file) =>
    readFileSync(join(ROOT, file), "utf8"),
  );
  expect(typesIn(root ?? "").length).toBeLessThanOrEqual(90);
  expect(typesIn(root ?? "").join(" ")).toBe(
    [
      "Access AppendOptions BackupReport Block BlockInput Branch",
      "BranchInput BuildContextInput BuiltContext Change ChangeKind CommitInput",
      "CompactInput CompactionResult ContentInput ContextMessage ContextPart ContextWindow",
      "CopyOptions CopyReport CreateSessionInput DeleteOptions Durability EditInput",
      "Embedder EngineOptions EnsureSessionInput Entry EntryInput EntryKind",
      "EntryListPage EntryStatus ErrorCode ErrorDetails Fact FactInput",
      "ForkInput HistoryInput ImageBlock IndexingOptions JsonObject JsonValue",
      "ListChangesInput ListEntriesInput ListMessagesInput ListSessionsInput Memory MemoryInput",
      "MessageInput MessagePage Omission OpaqueBlock OpenMessageInput OpenOptions",
      "Origin Provider PruneOptions RecallOptions RecallScope Recalled",
      "RenderedContext Retention Role Rule SearchHit SearchInput",
      "SearchResult Session SessionListPage Stats StatsInput StoreOptions",
      "StoreStatus SubscribeInput SummarizeOptions Summary Telemetry TenantStatus",
      "TextBlock TextModel ThinkingBlock TokenCounter Tombstone ToolCallInput",
      "ToolResultBlock ToolResultInput ToolUseBlock UpdateSessionInput Usage WindowItem",
    ].join(" "),
  );
  for (const entry of ["index", "models", "work"]) {
    expect(all).toContain(`export type * from "./${entry}.ts";`);
  }
});

/** The types that a module exports by name. */
function typesIn(source: string): string[] {
  return [...source.matchAll(/export (type )?\{([^}]*)\}/g)]
    .flatMap(([, ofAll, names = ""]) =>
      names.split(",").map((name) => `${ofAll ?? ""}${name.trim()}`),
    )
    .flatMap((name) => /^type (?:type )?(\w+)/.exec(name)?.[1] ?? [])
    .sort();
}

test("backscroll/models has these names at run time", () => {
  expect(Object.keys(models).sort()).toEqual([
    "LIST_PRICES",
    "compatibleEmbedder",
    "compatibleModel",
    "embeddingModel",
    "followEmbeddings",
    "languageModel",
    "localEmbedder",
  ]);
});

test("backscroll/work has these names at run time", () => {
  expect(Object.keys(work).sort()).toEqual([
    "blameWork",
    "digestWork",
    "recapSessions",
    "relatedSessions",
    "reviewSessions",
    "traceWork",
  ]);
});

test("backscroll/compat has these names at run time", () => {
  expect(Object.keys(compat).sort()).toEqual([
    "ConversationResource",
    "appendCommit",
    "appendMessage",
    "appendOpen",
    "indexAll",
    "indexFile",
    "newSession",
    "parseSessionFile",
  ]);
});

test("backscroll/ai has these names at run time", () => {
  expect(Object.keys(ai)).toEqual(["chatStore", "memoryTools", "resumableStreams"]);
});

test("backscroll/langgraph has these names at run time", () => {
  expect(Object.keys(langgraph)).toEqual([
    "CheckpointSaver",
    "ItemStore",
    "checkpointSaver",
    "itemStore",
  ]);
});

test("backscroll/assistant-ui has these names at run time", () => {
  expect(Object.keys(assistantUi)).toEqual(["threadHistory"]);
});

test("backscroll/mastra has these names at run time", () => {
  expect(Object.keys(mastra)).toEqual(["mastraMemory"]);
});

test("backscroll/anthropic-memory has these names at run time", () => {
  expect(Object.keys(anthropicMemory)).toEqual(["anthropicMemory"]);
});

test("backscroll/client has these names at run time", () => {
  expect(Object.keys(client).sort()).toEqual([
    "BackscrollError",
    "ERROR_CODES",
    "RemoteEngine",
    "RemoteMessage",
    "RemoteRoutes",
    "RemoteSession",
    "RemoteTenant",
    "connect",
    "inputTextOf",
    "totalTokens",
  ]);
});

test("backscroll/gateway has these names at run time", () => {
  expect(Object.keys(gateway).sort()).toEqual([
    "DEFAULT_DM_SCOPE",
    "DM_SCOPES",
    "Gateway",
    "SILENT_TOKEN",
    "autoCompaction",
    "clawPolicy",
    "compactionOf",
    "decide",
    "decideFlush",
    "effectiveReserve",
    "formatSessionKey",
    "generate",
    "generateStream",
    "generateTitle",
    "isOverflow",
    "isSilent",
    "loadConfig",
    "maintainSessions",
    "nonePolicy",
    "openGateway",
    "parseSessionKey",
    "piPolicy",
    "readAutoState",
    "readConfig",
    "resolveSessionKey",
    "sessionStatus",
    "silenceFilter",
    "softThreshold",
    "turnsPolicy",
    "withMemory",
  ]);
});

test("backscroll/store-kit has these names at run time", () => {
  expect(Object.keys(storeKit).sort()).toEqual([
    "SESSION_COLUMNS",
    "abortedEntry",
    "changedValues",
    "committedEntry",
    "copyEntries",
    "engineOn",
    "insertSessionSql",
    "newSessionValues",
    "openStore",
    "pendingChunks",
    "pendingMigrations",
    "planAppend",
    "planErase",
    "planPatchRoute",
    "planPutRoute",
    "toSession",
    "updateSessionSql",
  ]);
  expect(Object.keys(storeCases).sort()).toEqual([
    "ALL_CASES",
    "SORTING_CASES",
    "TRIVIAL_INDEX",
    "TURN_CASES",
    "storeCases",
  ]);
});

test("backscroll/ingest has these names at run time", () => {
  expect(Object.keys(archive).sort()).toEqual([
    "compositeKey",
    "ingest",
    "parseSessionFile",
    "projectId",
    "readTranscript",
    "retitleSessions",
    "watchPlaces",
    "workstationId",
  ]);
});

test("backscroll/server has these names at run time", () => {
  expect(Object.keys(server).sort()).toEqual(["keepUp", "openServer", "toLogLine"]);
});

test("errors have these codes, and each an exit code", () => {
  expect([...library.ERROR_CODES].sort()).toEqual(Object.keys(EXIT_CODES).sort());
  expect(EXIT_CODES).toEqual({
    invalid_input: 2,
    too_large: 2,
    invalid_cursor: 2,
    invalid_address: 2,
    session_not_found: 1,
    entry_not_found: 1,
    memory_not_found: 1,
    fact_not_found: 1,
    record_not_found: 1,
    record_conflict: 3,
    session_ambiguous: 2,
    session_exists: 3,
    stale_leaf: 3,
    stream_lost: 3,
    idempotency_conflict: 3,
    cursor_expired: 3,
    store_not_empty: 3,
    store_not_found: 4,
    store_closed: 5,
    store_busy: 5,
    store_unavailable: 5,
    store_read_only: 6,
    store_full: 6,
    quota_exceeded: 6,
    store_corrupt: 7,
    foreign_database: 7,
    unsupported_storage: 7,
    schema_too_new: 8,
    needs_migration: 8,
    schema_too_old: 8,
    nothing_to_compact: 1,
    compaction_conflict: 3,
    compaction_cancelled: 3,
    summary_rejected: 5,
    budget_too_small: 2,
    facts_disabled: 2,
    embedder_conflict: 2,
    model_unavailable: 5,
    model_failed: 5,
    unknown_format: 2,
    unauthorized: 6,
    forbidden: 6,
    rate_limited: 5,
    request_timeout: 5,
    search_superseded: 3,
    route_not_found: 7,
    token_not_found: 1,
    session_key_not_found: 1,
    route_conflict: 3,
  });
});

test("exit codes are these, and each has one meaning", () => {
  expect(EXIT).toEqual({
    ok: 0,
    nothing: 1,
    usage: 2,
    conflict: 3,
    noStore: 4,
    unavailable: 5,
    refused: 6,
    damaged: 7,
    version: 8,
    internal: 70,
    oldNode: 78,
  });
  expect(new Set(Object.values(EXIT)).size).toBe(Object.keys(EXIT).length);
});

test("changes are of these kinds", () => {
  expect(library.CHANGE_KINDS).toEqual([
    "session_created",
    "session_updated",
    "session_deleted",
    "entry_appended",
    "entry_superseded",
    "entry_pinned",
    "entry_unpinned",
    "leaf_moved",
    "message_opened",
    "message_chunk",
    "message_aborted",
    "context_usage",
    "content_erased",
    "memory_put",
    "memory_deleted",
    "fact_added",
    "fact_superseded",
    "fact_deleted",
    "record_put",
    "record_deleted",
    "quota_changed",
    "token_created",
    "token_revoked",
    "route_put",
    "route_deleted",
    "administered",
  ]);
});

describe("entries are of these kinds", () => {
  const yes = true;
  const no = false;
  /** Enters the context, is indexed, is shown, is counted, moves the leaf, can be erased. */
  const TABLE: Record<string, readonly boolean[]> = {
    message: [yes, yes, yes, yes, yes, yes],
    compaction: [yes, no, yes, no, yes, no],
    branch_summary: [yes, no, yes, no, yes, yes],
    summary: [no, no, yes, no, no, no],
    custom_message: [yes, no, yes, no, yes, yes],
    custom: [no, no, no, no, no, yes],
    label: [no, no, yes, no, no, yes],
    model_change: [no, no, yes, no, no, no],
    thinking_level_change: [no, no, yes, no, no, no],
    session_info: [no, no, no, no, no, no],
  };

  test("and no others", () => {
    expect(Object.keys(library.ENTRY_KINDS)).toEqual(Object.keys(TABLE));
  });

  test.each(Object.entries(TABLE))(
    "%s",
    (kind, [entersContext, indexed, shown, counted, movesLeaf, erasable]) => {
      expect(library.ENTRY_KINDS[kind as library.EntryKind]).toEqual({
        entersContext,
        indexed,
        shown,
        counted,
        movesLeaf,
        erasable,
      });
    },
  );
});

test("MCP has these tools, each for a scope", () => {
  expect(TOOLS.map(({ name, scope }) => `${name} ${scope}`)).toEqual([
    "search_sessions read",
    "list_messages read",
    "recap read",
    "related read",
    "trace read",
    "list_sessions read",
    "get_session_meta read",
    "recall read",
    "search_memory read",
    "remember write",
    "build_context read",
    "compact_conversation write",
    "append_message write",
  ]);
  const inputs = TOOLS.map((tool) => tool.list().inputSchema.properties ?? {}).map(Object.keys);
  expect(inputs).toEqual([
    [
      "query",
      "context_before",
      "context_after",
      "agent",
      "project",
      "project_id",
      "repo",
      "workstation_id",
      "since",
      "until",
      "limit",
      "cursor",
      "sort",
      "with_notes",
      "exclude_session",
      "detail",
      "max_tokens",
    ],
    [
      "session_id",
      "offset",
      "limit",
      "around",
      "leaf",
      "cursor",
      "message_bytes",
      "detail",
      "max_tokens",
    ],
    [
      "since",
      "until",
      "project",
      "project_id",
      "repo",
      "workstation_id",
      "agent",
      "session_id",
      "limit",
      "sub_agents",
      "detail",
      "max_tokens",
    ],
    ["session_id", "question", "limit", "detail", "max_tokens"],
    [
      "file",
      "command",
      "error",
      "line",
      "commit",
      "since",
      "until",
      "project",
      "project_id",
      "repo",
      "workstation_id",
      "agent",
      "limit",
      "detail",
      "max_tokens",
    ],
    [
      "agent",
      "title",
      "project",
      "project_id",
      "repo",
      "workstation_id",
      "since",
      "until",
      "machine_made",
      "limit",
      "cursor",
      "sub_agents",
      "detail",
      "max_tokens",
    ],
    ["session_id", "detail", "max_tokens"],
    ["session_id", "query", "k", "scope", "detail", "max_tokens"],
    ["query", "agent", "limit", "detail", "max_tokens"],
    [
      "name",
      "content",
      "agent",
      "session_id",
      "mark",
      "replaced_by",
      "accept_rule",
      "forget_conversation",
    ],
    ["session_id", "token_budget", "recent_turns", "include_facts", "rules", "query", "detail"],
    ["session_id", "keep", "strategy", "detail", "max_tokens"],
    [
      "session_id",
      "role",
      "content",
      "actor",
      "tool_calls",
      "tool_results",
      "model",
      "usage",
      "idempotency_key",
      "expected_leaf",
    ],
  ]);
});

test("MCP has these resources and prompts", () => {
  expect(TEMPLATES.resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
    "session://{id}",
    "session://{id}/messages{?offset,limit}",
  ]);
  expect(PROMPTS.map(({ name }) => name)).toEqual(["what_did_we_decide", "resume_session"]);
});

describe("the command line", () => {
  test("has these commands", () => {
    expect(COMMANDS.map(({ name }) => name)).toEqual([
      "search",
      "pick",
      "recap",
      "related",
      "trace",
      "blame",
      "pr",
      "status",
      "list",
      "show",
      "history",
      "changes",
      "start",
      "ingest",
      "watch",
      "stats",
      "resume",
      "forget",
      "incognito",
      "demo",
      "unasked",
      "unasked log",
      "unasked on",
      "unasked note",
      "unasked off",
      "unasked no",
      "unasked preview",
      "unasked ask",
      "setup",
      "serve",
      "open",
      "mcp",
      "hook",
      "hub",
      "new",
      "append",
      "title",
      "branch",
      "edit",
      "label",
      "mark",
      "pin",
      "fork",
      "delete",
      "context",
      "recall",
      "compact",
      "summarize",
      "summaries",
      "memory list",
      "memory search",
      "memory get",
      "memory put",
      "memory delete",
      "facts list",
      "facts search",
      "facts add",
      "facts extract",
      "facts delete",
      "rules",
      "rules accept",
      "rules reject",
      "rules remove",
      "rules add",
      "routes list",
      "routes show",
      "routes set",
      "routes delete",
      "config",
      "token create",
      "token list",
      "token revoke",
      "doctor",
      "trust",
      "embed",
      "sweep",
      "maintain",
      "backup",
      "restore",
      "export",
      "share",
      "tenant delete",
      "schema",
      "completions",
      "version",
      "usage",
      "sessions",
    ]);
  });

  test("has these aliases", () => {
    const aliases = COMMANDS.flatMap(({ name, aliases }) =>
      aliases.map((alias) => [alias, name] as const),
    );
    expect(Object.fromEntries(aliases)).toEqual({
      list_sessions: "list",
      list_messages: "show",
      get_session_meta: "show",
      new_session: "new",
      append_message: "append",
      build_context: "context",
      compact_conversation: "compact",
      search_sessions: "search",
      import: "ingest",
      search_memory: "memory search",
    });
  });

  test("an option has one meaning in all commands", () => {
    const types = new Map<string, string>();
    for (const command of COMMANDS) {
      for (const [name, { type }] of Object.entries(command.options)) {
        expect(types.get(name) ?? type, `--${name} of ${command.name}`).toBe(type);
        types.set(name, type);
      }
    }
  });
});
