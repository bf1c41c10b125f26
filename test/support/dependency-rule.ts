/** Names from lines that have several. */
function names(...lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.split(" "));
}

const DATABASE_READER = {
  folders: ["model", "transcript", "ingest", "ingest/sqlite-file.ts"],
  packages: [],
};
const TABLES_READER = {
  folders: [...DATABASE_READER.folders, "ingest/database/session-tables.ts"],
  packages: [],
};

/**
 * The dependency rule: what each folder of src/ may import, its own files aside. ARCHITECTURE.md
 * says why; test/architecture.test.ts enforces it. A file belongs to the longest name here that its path
 * starts with. `packages` are npm packages and Node's own modules.
 */
export const RULE: Record<string, { readonly folders: string[]; readonly packages: string[] }> = {
  model: { folders: [], packages: [] },
  // The part of the model that the page imports.
  "model/display.ts": { folders: [], packages: [] },

  // Detection and masking of secrets, shared by the index, facts and every surface.
  secrets: { folders: [], packages: [] },

  // Queues and pauses: timers only, no other folder.
  async: { folders: [], packages: [] },

  // Pure: no I/O, no clock, no randomness. Hashing is computation.
  transcript: { folders: ["model"], packages: ["node:crypto"] },

  // What providers returned, as messages. Ids that a provider left out are random.
  convert: { folders: ["model"], packages: [] },

  // The part of the search that the page imports: what clients add to messages.
  "search/document/injected.ts": { folders: ["model"], packages: [] },
  search: {
    folders: names(
      "model model/display.ts secrets transcript search/document/injected.ts blame/lines",
    ),
    packages: [],
  },

  context: { folders: ["model", "secrets", "transcript"], packages: [] },
  compaction: { folders: ["model", "transcript", "context"], packages: [] },

  // The lines that tool calls change, and their terms in the index.
  "blame/lines": { folders: ["model", "compaction"], packages: [] },

  // Session keys and resets.
  routing: { folders: ["model"], packages: [] },

  // Facts: extraction, redaction and reconciliation, without a store.
  facts: {
    folders: names("model secrets search search/document/injected.ts compaction"),
    packages: [],
  },

  // Rules: sentences that a person meant to stand, found and compared without a store.
  rules: { folders: names("model secrets search search/document/injected.ts"), packages: [] },

  // Readers of other agents' files. Each implements the port; none imports another.
  ingest: { folders: ["model", "transcript"], packages: ["node:buffer"] },
  "ingest/claude-code": {
    folders: ["model", "model/display.ts", "transcript", "ingest"],
    packages: [],
  },
  "ingest/claw-code": { folders: ["model", "transcript", "ingest"], packages: [] },
  "ingest/codex": { folders: ["model", "transcript", "ingest"], packages: [] },
  "ingest/pi": { folders: ["model", "transcript", "ingest"], packages: [] },
  "ingest/copilot-cli": { folders: ["model", "transcript", "ingest"], packages: [] },
  "ingest/gemini-cli": { folders: ["model", "transcript", "ingest"], packages: [] },
  "ingest/cline": { folders: ["model", "transcript", "ingest"], packages: [] },
  "ingest/aider": { folders: ["model", "transcript", "ingest"], packages: [] },
  "ingest/openclaw": {
    folders: ["model", "transcript", "ingest", "ingest/sqlite-file.ts"],
    packages: ["node:zlib"],
  },
  "ingest/qwen-code": { folders: ["model", "transcript", "ingest"], packages: [] },
  "ingest/crabtalk": { folders: ["model", "transcript", "ingest"], packages: [] },
  // Databases of other agents, for reading only.
  "ingest/sqlite-file.ts": { folders: ["ingest"], packages: ["node:sqlite"] },
  "ingest/opencode": DATABASE_READER,
  "ingest/cursor": DATABASE_READER,
  "ingest/antigravity": DATABASE_READER,
  "ingest/database/session-tables.ts": DATABASE_READER,
  "ingest/goose": TABLES_READER,
  "ingest/hermes": TABLES_READER,
  "ingest/crush": TABLES_READER,
  "ingest/kimi": { folders: ["model", "transcript", "ingest"], packages: [] },
  "ingest/grok-build": { folders: ["model", "transcript", "ingest"], packages: [] },
  "ingest/zed": { ...DATABASE_READER, packages: ["node:zlib"] },
  "ingest/amp": { folders: ["model", "transcript", "ingest"], packages: [] },
  "ingest/atif": {
    folders: ["model", "transcript", "ingest"],
    packages: [],
  },
  "ingest/continue": {
    folders: ["model", "transcript", "ingest"],
    packages: [],
  },
  "ingest/copilot-chat": {
    folders: ["model", "transcript", "ingest"],
    packages: [],
  },
  "ingest/droid": { folders: ["model", "transcript", "ingest"], packages: [] },
  "ingest/openhands": { folders: ["model", "transcript", "ingest"], packages: [] },
  "ingest/specstory": { folders: ["model", "transcript", "ingest"], packages: [] },
  "ingest/vibe": { folders: ["model", "transcript", "ingest"], packages: [] },
  "ingest/windsurf": { folders: ["model", "transcript", "ingest"], packages: [] },
  "ingest/kiro": TABLES_READER,
  "ingest/chatgpt": { folders: ["model", "transcript", "ingest"], packages: [] },
  "ingest/claude-ai": { folders: ["model", "transcript", "ingest"], packages: [] },
  // I/O, kept out of the readers: files, the machine's identity, checkouts.
  "ingest/files": {
    folders: ["model", "ingest"],
    packages: names("node:fs node:fs/promises node:path node:crypto", "node:stream node:zlib"),
  },
  "ingest/identity": {
    folders: ["model", "ingest"],
    packages: names(
      "node:fs/promises node:path node:crypto node:os",
      "node:child_process node:util",
    ),
  },
  // Transcripts in the history of a repository.
  "ingest/repository": {
    folders: ["model", "ingest"],
    packages: ["node:child_process", "node:crypto", "node:stream"],
  },
  // Loads the formats when a transcript is read.
  "ingest/read-transcript.ts": { folders: ["model", "ingest", "ingest/sources.ts"], packages: [] },
  "ingest/sources.ts": {
    folders: names(
      "model ingest ingest/claude-code ingest/codex",
      "ingest/claw-code ingest/pi ingest/goose ingest/hermes ingest/crush",
      "ingest/kimi ingest/copilot-chat ingest/droid ingest/openhands",
      "ingest/continue ingest/atif ingest/antigravity ingest/amp",
      "ingest/grok-build ingest/zed",
      "ingest/copilot-cli ingest/gemini-cli ingest/opencode ingest/cursor",
      "ingest/cline ingest/aider ingest/chatgpt ingest/claude-ai",
      "ingest/openclaw ingest/crabtalk ingest/qwen-code",
      "ingest/specstory ingest/kiro ingest/vibe ingest/windsurf",
    ),
    packages: [],
  },

  // Writers of other agents' files: entries in, text out.
  export: {
    folders: ["model", "model/display.ts", "secrets", "transcript", "compaction"],
    packages: ["marked"],
  },

  // Language models: the only user of the AI SDK, which is loaded with the first call.
  providers: { folders: ["model", "context"], packages: ["ai", "@ai-sdk/openai-compatible"] },

  // Embedding models: over HTTP, of the AI SDK, or in a thread. Text is masked before it leaves.
  "providers/embedding": {
    folders: ["model", "async", "secrets", "providers", "policy.ts"],
    packages: ["node:module", "node:url", "node:worker_threads"],
  },

  // Backends drive the index's generators and answer their reads.
  store: {
    folders: ["model", "async", "transcript", "search"],
    packages: ["node:crypto", "node:os", "node:zlib"],
  },
  // The migrations of each database.
  "store/sqlite/schema": { folders: ["store"], packages: [] },
  "store/postgres/schema": { folders: ["store"], packages: [] },
  "store/sqlite": {
    folders: ["model", "async", "transcript", "search", "store", "store/sqlite/schema"],
    packages: names(
      "node:sqlite node:worker_threads node:fs node:os node:path node:v8",
      "node:crypto node:module node:zlib node:url",
    ),
  },
  "store/postgres": {
    folders: ["model", "async", "transcript", "search", "store", "store/postgres/schema"],
    packages: ["pg", "node:net", "node:crypto", "node:zlib"],
  },

  // Imports only the ports of store and readers. Its only I/O is randomness for ids and secrets.
  engine: {
    folders: names(
      "model async secrets transcript convert search context compaction facts rules",
      "search/document/injected.ts ingest store",
    ),
    packages: ["node:crypto"],
  },

  // Ingest policy: places, titles, when to read a file.
  archive: {
    folders: names(
      "model async transcript search search/document/injected.ts store engine",
      "ingest ingest/files ingest/identity ingest/repository ingest/sources.ts",
      "ingest/read-transcript.ts gateway/config archive/rules/incognito.ts",
    ),
    packages: ["node:fs", "node:fs/promises", "node:os", "node:path", "node:zlib"],
  },

  // The marks of sessions of which nothing is stored.
  "archive/rules/incognito.ts": { folders: ["model", "engine"], packages: ["node:crypto"] },

  // Optional host policy: compaction, memory flush, silence, answers. Uses the SDK through `providers`.
  "gateway/silence.ts": { folders: ["model"], packages: [] },
  "gateway/compaction": {
    folders: ["model", "context", "compaction", "engine"],
    packages: [],
  },
  // The configuration file, which also has the rules of ingesting.
  "gateway/config": {
    folders: names("model model/display.ts context routing gateway/compaction gateway/silence.ts"),
    packages: ["node:fs", "node:path"],
  },
  "gateway/after-turn": {
    folders: names(
      "model async compaction context engine providers",
      "gateway/compaction gateway/silence.ts",
    ),
    packages: ["node:fs/promises", "node:path"],
  },
  "gateway/generate": {
    folders: names(
      "model transcript context engine providers",
      "gateway/compaction gateway/silence.ts gateway/after-turn",
    ),
    packages: [],
  },
  "gateway/with-memory": {
    folders: names(
      "model transcript context engine providers",
      "gateway/compaction gateway/after-turn gateway/generate",
    ),
    packages: [],
  },
  gateway: {
    folders: names(
      "async model model/display.ts context routing engine providers gateway/config gateway/silence.ts",
      "gateway/compaction gateway/after-turn gateway/generate",
      "gateway/with-memory",
    ),
    packages: ["node:crypto", "node:fs", "node:path"],
  },

  // Conversions to wire types: imports only types of the engine and the store. Masks secrets.
  api: {
    folders: names(
      "model model/display.ts secrets search context compaction store engine ingest",
      "archive gateway search/document/injected.ts api/text/talk.ts api/text/tool-call.ts",
    ),
    packages: [],
  },

  // The part of the texts that the page imports: what of a hit is shown, and how.
  "api/text/talk.ts": {
    folders: ["search/document/injected.ts", "api/text/tool-call.ts"],
    packages: [],
  },
  "api/text/tool-call.ts": { folders: ["model/display.ts"], packages: [] },

  // Apart from the conversions, which clients without zod use.
  "api/shape-schema.ts": { folders: ["model", "api"], packages: ["zod"] },

  // Adapters: build other frameworks' shapes without importing them.
  "adapters/common": { folders: ["model", "engine"], packages: [] },
  "adapters/ai-sdk": {
    folders: ["model", "async", "engine", "api", "convert", "adapters/common"],
    packages: [],
  },
  "adapters/assistant-ui": {
    folders: ["model", "async", "engine", "adapters/common"],
    packages: [],
  },
  "adapters/anthropic-memory": { folders: ["model", "engine", "adapters/common"], packages: [] },
  "adapters/langgraph": { folders: ["model", "engine", "adapters/common"], packages: [] },
  "adapters/mastra": { folders: ["model", "async", "engine", "adapters/common"], packages: [] },
  "adapters/openai-agents": {
    folders: ["model", "async", "engine", "adapters/common"],
    packages: [],
  },
  "adapters/claude-agent-sdk": {
    folders: names("model async transcript engine ingest ingest/claude-code adapters/common"),
    packages: [],
  },

  // Sessions read out page by page, for the writers of other formats.
  transfer: {
    folders: ["model", "model/display.ts", "store", "engine", "api", "export", "policy.ts"],
    packages: [],
  },

  // Recaps and traces, composed of the primitives, and their text.
  recap: {
    folders: names(
      "model model/display.ts search search/document/injected.ts compaction engine api",
      "api/text/tool-call.ts",
    ),
    packages: [],
  },
  // What memory says in a moment of an agent's work, composed of searches, recaps and traces.
  unasked: {
    folders: names(
      "model model/display.ts search search/document/injected.ts context engine api recap",
    ),
    packages: [],
  },
  // Which conversation wrote a line: composed of the index, recaps and what memory says unasked.
  blame: {
    folders: names(
      "model model/display.ts search compaction engine api recap rules unasked store blame/lines",
    ),
    packages: [],
  },
  // Their wire types, for clients: without code of the readers.
  "recap/wire": { folders: ["model", "api", "recap"], packages: [] },
  // A session handed to another agent: its files are written, read back and registered here.
  "transfer/resume": {
    folders: names(
      "model model/display.ts transcript context compaction engine api export ingest",
      "ingest/read-transcript.ts transfer",
    ),
    packages: names(
      "node:child_process node:crypto node:fs node:fs/promises node:path",
      "node:sqlite node:util",
    ),
  },

  // A surface: REST and live events. The only user of hono.
  server: {
    folders: names(
      "model model/display.ts async transcript context compaction engine api api/shape-schema.ts archive",
      "ingest ingest/read-transcript.ts export transfer",
      "gateway gateway/config gateway/generate recap recap/wire blame",
      "backup.ts policy.ts",
    ),
    packages: names(
      "hono @hono/node-server zod node:net node:perf_hooks",
      "node:http node:stream node:zlib",
      // A backup is made in the temporary folder before it is sent.
      "node:crypto node:fs node:fs/promises node:os node:path",
      // To find the files of the page.
      "node:url",
    ),
  },

  // The page, bundled for browsers. It reaches the server through the client alone; each library has one
  // folder that imports it.
  page: {
    folders: names(
      "client model/display.ts search/document/injected.ts api/text/talk.ts api/text/tool-call.ts",
      "page/markdown page/code page/difference",
    ),
    packages: ["preact", "preact/hooks", "@preact/signals"],
  },
  "page/markdown": { folders: [], packages: ["marked", "dompurify"] },
  "page/code": {
    folders: [],
    packages: [
      "highlight.js/lib/core",
      ...names(
        "bash cpp css diff go java javascript json",
        "python ruby rust sql typescript xml yaml",
      ).map((language) => `highlight.js/lib/languages/${language}`),
    ],
  },
  "page/difference": { folders: [], packages: ["diff"] },

  // MCP: the only user of its SDK. Takes quoting from the context and project ids from the readers.
  mcp: {
    folders: names(
      "model model/display.ts search context engine api api/text/tool-call.ts api/shape-schema.ts",
      "recap recap/wire blame",
      "ingest/identity archive/rules/incognito.ts",
    ),
    packages: names(
      "@modelcontextprotocol/server @modelcontextprotocol/server/stdio zod",
      // Standard input, held open until calls are answered.
      "node:stream",
    ),
  },

  // The library over the network. It runs in browsers: no Node modules, and only types of the engine.
  client: {
    folders: names(
      "model async transcript convert context compaction store ingest engine api",
      "gateway recap recap/wire transfer blame",
    ),
    packages: [],
  },

  // A surface: translates, never decides.
  cli: {
    folders: names(
      "model model/display.ts async transcript engine api api/text/talk.ts api/text/tool-call.ts archive",
      "transfer cli/pipe",
      "open.ts backup.ts policy.ts client transfer/resume",
      "ingest ingest/sources.ts ingest/read-transcript.ts ingest/files",
      "ingest/identity ingest/repository export",
      "context compaction store mcp server providers gateway gateway/config",
      "recap recap/wire unasked blame archive/rules/incognito.ts providers/embedding",
      "store/sqlite/schema store/postgres/schema",
    ),
    packages: names(
      "node:child_process node:crypto node:events node:fs node:fs/promises node:net",
      "node:os node:path node:readline node:util node:v8 node:vm",
      // To edit other agents' settings.
      "jsonc-parser smol-toml",
    ),
  },

  // Each agent starts it: loads nothing else of ours.
  "cli/pipe": {
    folders: [],
    packages: names(
      "node:child_process node:crypto node:events node:fs node:net node:os node:path",
      "node:stream node:timers/promises node:util",
    ),
  },

  // What the machine's administrator forbids.
  "policy.ts": { folders: ["model"], packages: ["node:fs"] },
  // The composition root: the only file that imports backends.
  "open.ts": {
    folders: names(
      "model store store/sqlite store/postgres engine",
      "providers providers/embedding telemetry.ts",
    ),
    packages: [],
  },
  // Spans of the store's calls. OpenTelemetry's API is loaded on demand.
  "telemetry.ts": { folders: ["model", "store"], packages: [] },
  // The port and the conformance suite, for third-party backends.
  "store-kit": { folders: ["model", "store", "engine", "open.ts"], packages: [] },
  "backup.ts": {
    folders: ["model", "store", "engine", "open.ts"],
    packages: ["node:fs", "node:path"],
  },
  "index.ts": {
    folders: names("model transcript search context compaction store engine", "open.ts backup.ts"),
    packages: [],
  },
  // Entries beside it. Types alone, models, what is known of work, and the names of other systems.
  "types.ts": {
    folders: names("model search compaction store engine facts", "index.ts models.ts work.ts"),
    packages: [],
  },
  "models.ts": {
    folders: names("model compaction engine facts providers providers/embedding"),
    packages: [],
  },
  "work.ts": { folders: names("model recap blame"), packages: [] },
  "compat.ts": { folders: names("model engine archive"), packages: [] },
};
