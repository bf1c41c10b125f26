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
  // For the page, too, which knows no other part of the model.
  "model/project-name.ts": { folders: [], packages: [] },

  // What counts as a secret, and its replacement: the index, the facts and every surface mask alike.
  secrets: { folders: [], packages: [] },

  // Queues and pauses: no I/O beside timers, nothing of ours.
  async: { folders: [], packages: [] },

  // Pure: no I/O, no clock, no randomness. Hashing is computation.
  transcript: { folders: ["model"], packages: ["node:crypto"] },

  search: { folders: ["model", "secrets", "transcript"], packages: [] },

  context: { folders: ["model", "secrets", "transcript"], packages: [] },
  compaction: { folders: ["model", "transcript", "context"], packages: [] },

  // Keys and resets: what belongs to which conversation, and when one is over.
  routing: { folders: ["model"], packages: [] },

  // What a conversation states: asked for, read, redacted and reconciled, without a store.
  facts: { folders: ["model", "secrets", "search", "compaction"], packages: [] },

  // Readers of other agents' files. Each knows the port and nothing of the others.
  ingest: { folders: ["model", "transcript"], packages: ["node:buffer"] },
  "ingest/claude-code": { folders: ["model", "transcript", "ingest"], packages: [] },
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
  "ingest/database/session-tables.ts": DATABASE_READER,
  "ingest/goose": TABLES_READER,
  "ingest/hermes": TABLES_READER,
  "ingest/crush": TABLES_READER,
  "ingest/kimi": { folders: ["model", "transcript", "ingest"], packages: [] },
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
  "ingest/chatgpt": { folders: ["model", "transcript", "ingest"], packages: [] },
  "ingest/claude-ai": { folders: ["model", "transcript", "ingest"], packages: [] },
  // What the readers know nothing of: this machine, its files, its checkouts.
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
  // Loads the formats when a transcript is read.
  "ingest/read-transcript.ts": { folders: ["model", "ingest", "ingest/sources.ts"], packages: [] },
  "ingest/sources.ts": {
    folders: names(
      "model ingest ingest/claude-code ingest/codex",
      "ingest/claw-code ingest/pi ingest/goose ingest/hermes ingest/crush",
      "ingest/kimi ingest/copilot-chat ingest/droid ingest/openhands",
      "ingest/continue ingest/atif",
      "ingest/copilot-cli ingest/gemini-cli ingest/opencode ingest/cursor",
      "ingest/cline ingest/aider ingest/chatgpt ingest/claude-ai",
      "ingest/openclaw ingest/crabtalk ingest/qwen-code",
    ),
    packages: [],
  },

  // Writers of other agents' files: entries in, text out.
  export: { folders: ["model", "transcript", "compaction"], packages: [] },

  // Language models. Only here is the AI SDK named, and it is loaded only when a model is asked.
  providers: { folders: ["model", "context"], packages: ["ai", "@ai-sdk/openai-compatible"] },

  // Embedding models: over HTTP, of the AI SDK, or in a thread. Text is masked before it leaves.
  "providers/embedding": {
    folders: ["model", "async", "secrets", "providers"],
    packages: ["node:module", "node:url", "node:worker_threads"],
  },

  // Backends run the index: its computations ask, they answer.
  store: {
    folders: ["model", "async", "transcript", "search"],
    packages: ["node:crypto", "node:os", "node:zlib"],
  },
  "store/sqlite": {
    folders: ["model", "async", "transcript", "search", "store"],
    packages: names(
      "node:sqlite node:worker_threads node:fs node:os node:path node:v8",
      "node:crypto node:zlib node:url",
    ),
  },
  "store/postgres": {
    folders: ["model", "async", "transcript", "search", "store"],
    packages: ["pg", "node:net", "node:crypto", "node:zlib"],
  },

  // Of the store and of the readers, only the port. Random ids and secrets are all that it asks of the
  // machine.
  engine: {
    folders: names(
      "model async secrets transcript search context compaction facts",
      "ingest store",
    ),
    packages: ["node:crypto"],
  },

  // Policy of its own: where to look, what a session is called, when a file has to be read.
  archive: {
    folders: names(
      "model async transcript search store engine",
      "ingest ingest/files ingest/identity ingest/sources.ts",
      "ingest/read-transcript.ts",
    ),
    packages: ["node:fs", "node:fs/promises", "node:os", "node:path"],
  },

  // Policy that a host may switch on: when to compact, what to write down first, what is not
  // delivered, how a conversation is answered. Of the SDK, only what `providers` makes of it.
  "gateway/silence": { folders: [], packages: [] },
  "gateway/compaction": {
    folders: ["model", "context", "compaction", "engine"],
    packages: [],
  },
  "gateway/flush": {
    folders: names("model context engine providers", "gateway/compaction gateway/silence"),
    packages: ["node:fs/promises", "node:path"],
  },
  "gateway/after-turn": {
    folders: ["model", "async", "context", "engine", "gateway/compaction", "gateway/flush"],
    packages: [],
  },
  "gateway/generate": {
    folders: names(
      "model transcript context engine providers",
      "gateway/compaction gateway/silence gateway/after-turn",
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
      "model context routing engine providers gateway/silence",
      "gateway/compaction gateway/flush gateway/after-turn gateway/generate",
      "gateway/with-memory",
    ),
    packages: ["node:crypto", "node:fs", "node:path"],
  },

  // Conversions to wire types; what they convert from is named, never used. Secrets are masked here
  // as they are in the index.
  api: {
    folders: names(
      "model secrets search context compaction store engine ingest",
      "archive gateway",
    ),
    packages: [],
  },

  // Doors for other programs' ways of calling: what they expect is built here, without them.
  "adapters/common": { folders: ["model", "engine"], packages: [] },
  "adapters/ai-sdk": {
    folders: ["model", "async", "engine", "api", "adapters/common"],
    packages: [],
  },
  "adapters/assistant-ui": {
    folders: ["model", "async", "engine", "adapters/common"],
    packages: [],
  },
  "adapters/anthropic-memory": { folders: ["model", "engine"], packages: [] },
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
  transfer: { folders: ["model", "store", "engine", "api", "export"], packages: [] },

  // What was done in sessions, composed of the primitives and told as text.
  recap: { folders: ["model", "search", "compaction", "engine", "api"], packages: [] },
  // The same on the wire, for clients: no code of the readers.
  "recap/wire": { folders: ["api", "recap"], packages: [] },
  // A session handed to another agent: its files are written, read back and registered here.
  "transfer/resume": {
    folders: names(
      "model transcript context compaction engine api export ingest",
      "ingest/read-transcript.ts transfer",
    ),
    packages: names(
      "node:child_process node:crypto node:fs node:fs/promises node:path",
      "node:sqlite node:util",
    ),
  },

  // A surface: REST and live events. Only here are hono and the schemas of the wire named.
  server: {
    folders: names(
      "model async transcript context compaction engine api archive",
      "ingest ingest/read-transcript.ts export transfer",
      "gateway gateway/generate recap recap/wire",
      "backup.ts",
    ),
    packages: names(
      "hono @hono/node-server zod",
      "node:http node:stream node:zlib",
      // A backup is made in the temporary folder before it is sent.
      "node:crypto node:fs node:fs/promises node:os node:path",
      // Where the files of the page lie.
      "node:url",
    ),
  },

  // The page, bundled for browsers. It reaches the server through the client alone, and each library
  // stands behind a folder of its own.
  page: {
    folders: names(
      "client model/project-name.ts",
      "page/markdown page/code page/difference page/chart",
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
  "page/chart": { folders: [], packages: ["uplot"] },

  // MCP: only here is its SDK named. Quoting is the context's, a project's id the readers'.
  mcp: {
    folders: names("model search context engine api recap recap/wire ingest/identity"),
    packages: names(
      "@modelcontextprotocol/server @modelcontextprotocol/server/stdio zod",
      // Standard input, held open until calls are answered.
      "node:stream",
    ),
  },

  // The library over the network. It runs in browsers: nothing of Node, and of the engine only types.
  client: {
    folders: names(
      "model async transcript context compaction store ingest engine api",
      "gateway recap recap/wire transfer",
    ),
    packages: [],
  },

  // A surface: translates, never decides.
  cli: {
    folders: names(
      "model model/project-name.ts async transcript engine api archive transfer open.ts backup.ts",
      "client transfer/resume",
      "ingest ingest/sources.ts ingest/read-transcript.ts ingest/files",
      "ingest/identity export",
      "context compaction store mcp server providers gateway",
      "recap recap/wire providers/embedding",
    ),
    packages: names(
      "node:child_process node:crypto node:fs node:fs/promises node:os",
      "node:path node:util node:v8",
    ),
  },

  // The composition root: the only place that knows a backend by name.
  "open.ts": {
    folders: names(
      "model store store/sqlite store/postgres engine",
      "providers providers/embedding telemetry",
    ),
    packages: [],
  },
  // Spans round the store's calls. OpenTelemetry's API is loaded by its name when it is asked for.
  telemetry: { folders: ["model", "store"], packages: [] },
  // The port of a backend and its suite, for backends of others.
  "store-kit": { folders: ["store", "engine", "open.ts"], packages: [] },
  "backup.ts": {
    folders: ["model", "store", "engine", "open.ts"],
    packages: ["node:fs", "node:path"],
  },
  "index.ts": {
    folders: names(
      "model transcript search context compaction store engine",
      "open.ts backup.ts",
      "ingest ingest/read-transcript.ts facts recap",
      "providers providers/embedding",
    ),
    packages: [],
  },
};
