import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize, sep } from "node:path";
import { expect, test } from "vitest";

/**
 * The dependency rule: what each folder of src/ may import, its own files aside. ARCHITECTURE.md
 * says why; this test is what enforces it. A file belongs to the longest name here that its path
 * starts with. `packages` are npm packages and Node's own modules.
 */
const RULE: Record<string, { readonly folders: string[]; readonly packages: string[] }> = {
  model: { folders: [], packages: [] },

  // Pure: no I/O, no clock, no randomness. Hashing is computation.
  transcript: { folders: ["model"], packages: ["node:crypto"] },

  search: { folders: ["model", "transcript"], packages: [] },

  context: { folders: ["model", "transcript"], packages: [] },
  compaction: { folders: ["model", "transcript", "context"], packages: [] },

  // Keys and resets: what belongs to which conversation, and when one is over.
  routing: { folders: ["model"], packages: [] },

  // What a conversation states: asked for, read, redacted and reconciled, without a store.
  facts: { folders: ["model", "search", "compaction"], packages: [] },

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
  "ingest/opencode": {
    folders: ["model", "transcript", "ingest", "ingest/sqlite-file.ts"],
    packages: [],
  },
  "ingest/cursor": {
    folders: ["model", "transcript", "ingest", "ingest/sqlite-file.ts"],
    packages: [],
  },
  "ingest/goose": {
    folders: ["model", "transcript", "ingest", "ingest/sqlite-file.ts"],
    packages: [],
  },
  "ingest/hermes": {
    folders: ["model", "transcript", "ingest", "ingest/sqlite-file.ts"],
    packages: [],
  },
  "ingest/crush": {
    folders: ["model", "transcript", "ingest", "ingest/sqlite-file.ts"],
    packages: [],
  },
  "ingest/kimi": { folders: ["model", "transcript", "ingest"], packages: [] },
  "ingest/chatgpt": { folders: ["model", "transcript", "ingest"], packages: [] },
  "ingest/claude-ai": { folders: ["model", "transcript", "ingest"], packages: [] },
  // What the readers know nothing of: this machine, its files, its checkouts.
  "ingest/files": {
    folders: ["model", "ingest"],
    packages: [
      ...["node:fs", "node:fs/promises", "node:path", "node:crypto"],
      ...["node:stream", "node:zlib"],
    ],
  },
  "ingest/identity": {
    folders: ["model", "ingest"],
    packages: [
      ...["node:fs/promises", "node:path", "node:crypto", "node:os"],
      ...["node:child_process", "node:util"],
    ],
  },
  // Loads the formats when a transcript is read.
  "ingest/read-transcript.ts": { folders: ["model", "ingest", "ingest/sources.ts"], packages: [] },
  "ingest/sources.ts": {
    folders: [
      ...["model", "ingest", "ingest/claude-code", "ingest/codex"],
      ...["ingest/claw-code", "ingest/pi", "ingest/goose", "ingest/hermes", "ingest/crush"],
      "ingest/kimi",
      ...["ingest/copilot-cli", "ingest/gemini-cli", "ingest/opencode", "ingest/cursor"],
      ...["ingest/cline", "ingest/aider", "ingest/chatgpt", "ingest/claude-ai"],
      ...["ingest/openclaw", "ingest/crabtalk", "ingest/qwen-code"],
    ],
    packages: [],
  },

  // Writers of other agents' files: entries in, text out.
  export: { folders: ["model", "transcript", "compaction"], packages: [] },

  // Language models. Only here is the AI SDK named, and it is loaded only when a model is asked.
  providers: { folders: ["model", "context"], packages: ["ai", "@ai-sdk/openai-compatible"] },

  // Backends run the index: its computations ask, they answer.
  store: {
    folders: ["model", "transcript", "search"],
    packages: ["node:crypto", "node:os", "node:zlib"],
  },
  "store/sqlite": {
    folders: ["model", "transcript", "search", "store"],
    packages: [
      ...["node:sqlite", "node:worker_threads", "node:fs", "node:os", "node:path", "node:v8"],
      ...["node:crypto", "node:zlib", "node:url"],
    ],
  },
  "store/postgres": {
    folders: ["model", "transcript", "search", "store"],
    packages: ["pg", "node:net", "node:crypto", "node:zlib"],
  },

  // Of the store and of the readers, only the port. Random ids and secrets are all that it asks of the
  // machine.
  engine: {
    folders: [
      ...["model", "transcript", "search", "context", "compaction", "facts", "ingest", "store"],
    ],
    packages: ["node:crypto"],
  },

  // Policy of its own: where to look, what a session is called, when a file has to be read.
  archive: {
    folders: [
      ...["model", "transcript", "search", "store", "engine"],
      ...["ingest", "ingest/files", "ingest/identity", "ingest/sources.ts"],
      "ingest/read-transcript.ts",
    ],
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
    folders: [
      ...["model", "context", "engine", "providers"],
      ...["gateway/compaction", "gateway/silence"],
    ],
    packages: ["node:fs/promises", "node:path"],
  },
  "gateway/after-turn": {
    folders: ["context", "engine", "gateway/compaction", "gateway/flush"],
    packages: [],
  },
  "gateway/generate": {
    folders: [
      ...["model", "transcript", "context", "engine", "providers"],
      ...["gateway/compaction", "gateway/silence", "gateway/after-turn"],
    ],
    packages: [],
  },
  "gateway/with-memory": {
    folders: [
      ...["model", "transcript", "context", "engine", "providers"],
      ...["gateway/compaction", "gateway/after-turn", "gateway/generate"],
    ],
    packages: [],
  },
  gateway: {
    folders: [
      ...["model", "context", "routing", "engine", "providers", "gateway/silence"],
      ...["gateway/compaction", "gateway/flush", "gateway/after-turn", "gateway/generate"],
      "gateway/with-memory",
    ],
    packages: ["node:crypto", "node:fs", "node:path"],
  },

  // Conversions to wire types; what they convert from is named, never used. Secrets are masked here
  // as they are in the index.
  api: {
    folders: [
      ...["model", "search", "context", "compaction", "store", "engine", "ingest", "archive"],
      "gateway",
    ],
    packages: [],
  },

  // Doors for other programs' ways of calling: what they expect is built here, without them.
  "adapters/ai-sdk": { folders: ["model", "engine", "api"], packages: [] },

  // Sessions read out page by page, for the writers of other formats.
  transfer: { folders: ["model", "engine", "api", "export"], packages: [] },

  // A surface: REST and live events. Only here are hono and the schemas of the wire named.
  server: {
    folders: [
      ...["model", "transcript", "context", "engine", "api", "archive"],
      ...["ingest", "ingest/read-transcript.ts", "export", "transfer"],
      ...["gateway", "gateway/generate"],
      "backup.ts",
    ],
    packages: [
      ...["hono", "@hono/node-server", "zod"],
      ...["node:http", "node:stream", "node:zlib"],
      // A backup is made in the temporary folder before it is sent.
      ...["node:crypto", "node:fs", "node:fs/promises", "node:os", "node:path"],
    ],
  },

  // MCP: only here is its SDK named. Quoting is the context's, a project's id the readers'.
  mcp: {
    folders: [...["model", "search", "context", "engine", "api", "ingest/identity"]],
    packages: ["@modelcontextprotocol/server", "@modelcontextprotocol/server/stdio", "zod"],
  },

  // The library over the network. It runs in browsers: nothing of Node, and of the engine only types.
  client: {
    folders: [
      ...["model", "transcript", "context", "compaction", "store", "ingest", "engine", "api"],
      "gateway",
    ],
    packages: [],
  },

  // A surface: translates, never decides.
  cli: {
    folders: [
      ...["model", "transcript", "engine", "api", "archive", "transfer", "open.ts", "backup.ts"],
      "client",
      ...["ingest", "ingest/sources.ts", "ingest/files", "ingest/identity", "export"],
      ...["context", "compaction", "store", "mcp", "server", "providers", "gateway"],
    ],
    packages: [
      ...["node:child_process", "node:crypto", "node:fs", "node:fs/promises", "node:os"],
      ...["node:path", "node:util", "node:v8"],
    ],
  },

  // The composition root: the only place that knows a backend by name.
  "open.ts": {
    folders: ["model", "store", "store/sqlite", "store/postgres", "engine", "providers"],
    packages: [],
  },
  "backup.ts": {
    folders: ["model", "store", "engine", "open.ts"],
    packages: ["node:fs", "node:path"],
  },
  "index.ts": {
    folders: [
      ...["model", "transcript", "search", "context", "compaction", "store", "engine"],
      ...["open.ts", "backup.ts"],
      ...["ingest", "ingest/read-transcript.ts", "facts", "providers"],
    ],
    packages: [],
  },
};

const SRC = join(import.meta.dirname, "../src");
const FILES = globSync("**/*.ts", { cwd: SRC })
  .map((file) => file.split(sep).join("/"))
  .filter((file) => !/\.(test|cases)\.ts$/.test(file));

test("every import follows the dependency rule", () => {
  const broken = FILES.flatMap((file) => {
    const allowed = RULE[unitOf(file)] ?? { folders: [], packages: [] };
    return importsOf(file)
      .filter(({ kind, name }) => !allowed[kind].includes(name))
      .map(({ name }) => `${file} imports ${name}`);
  });
  expect(broken).toEqual([]);
});

test("the rule names every folder, and none that is gone", () => {
  expect([...new Set(FILES.map(unitOf))].sort()).toEqual(Object.keys(RULE).sort());
});

test("the rule has no cycle", () => {
  const order: string[] = [];
  const visit = (unit: string, above: readonly string[]) => {
    expect(above, `${unit} imports itself by way of others`).not.toContain(unit);
    for (const below of RULE[unit]?.folders ?? []) visit(below, [...above, unit]);
    order.push(unit);
  };
  for (const unit of Object.keys(RULE)) visit(unit, []);
});

test("only open.ts names a backend", () => {
  const named = FILES.filter((file) =>
    importsOf(file).some(({ name }) => /^store\/(sqlite|postgres)$/.test(name)),
  );
  expect(named).toEqual(["open.ts"]);
});

test("the two backends do not know each other", () => {
  expect(RULE["store/sqlite"]?.folders).not.toContain("store/postgres");
  expect(RULE["store/postgres"]?.folders).not.toContain("store/sqlite");
});

test("the readers of two agents do not know each other", () => {
  const agents = Object.keys(RULE).filter((unit) => /^ingest\/[^.]+$/.test(unit));
  expect(agents.length).toBeGreaterThan(1);
  for (const agent of agents) {
    expect(RULE[agent]?.folders.filter((folder) => agents.includes(folder))).toEqual([]);
  }
});

test("nothing imports the command line", () => {
  expect(FILES.filter((file) => importsOf(file).some(({ name }) => name === "cli"))).toEqual([]);
});

test("wire types take types only from the engine and the store", () => {
  const used = FILES.filter((file) => unitOf(file) === "api").flatMap((file) =>
    importsOf(file)
      .filter(
        ({ name, typeOnly }) =>
          ["engine", "store", "archive", "gateway"].includes(name) && !typeOnly,
      )
      .map(({ name }) => `${file} uses ${name}`),
  );
  expect(used).toEqual([]);
});

test("the client takes types only from what runs where the store is", () => {
  const used = filesLoadedBy("client").flatMap((file) =>
    importsOf(file)
      .filter(
        ({ kind, name, typeOnly }) => !typeOnly && (kind === "packages" || !IN_BROWSERS.test(name)),
      )
      .map(({ name }) => `${file} uses ${name}`),
  );
  expect(used).toEqual([]);
});

test("packages that take long to load are loaded when they are needed", () => {
  const eager = FILES.flatMap((file) =>
    importsOf(file)
      .filter(({ name, typeOnly, lazy }) => /^(ai|@ai-sdk\/.*)$/.test(name) && !typeOnly && !lazy)
      .map(({ name }) => `${file} imports ${name}`),
  );
  expect(eager).toEqual([]);
});

/** What may be part of a page: pure code without Node. */
const IN_BROWSERS = /^(model|transcript|api|client|search)$/;

/** The files of a folder, and those that are loaded with them. */
function filesLoadedBy(folder: string): string[] {
  const loaded = new Set<string>();
  const visit = (file: string) => {
    if (loaded.has(file)) return;
    loaded.add(file);
    for (const { path, typeOnly } of importsOf(file, "with its own folder")) {
      if (path !== undefined && !typeOnly) visit(path);
    }
  };
  for (const file of FILES) if (unitOf(file) === folder) visit(file);
  return [...loaded];
}

interface Import {
  readonly kind: "folders" | "packages";
  readonly name: string;
  readonly typeOnly: boolean;
  /** Imported by a call, when it is needed. */
  readonly lazy: boolean;
  /** Of a file of ours. */
  readonly path?: string;
}

/** What `file` imports; what it imports from its own folder is left out. */
function importsOf(file: string, scope?: "with its own folder"): Import[] {
  const source = readFileSync(join(SRC, file), "utf8");
  const specifiers = [
    ...source.matchAll(/^(?:import|export)\b( type\b)?(?:[^;"']*?\bfrom)?\s*["']([^"']+)["']/gm),
    ...source.matchAll(/\b(?:await import|import)(\()\s*["']([^"']+)["']/g),
  ];
  return specifiers.flatMap(([, mark, specifier = ""]): Import[] => {
    const [typeOnly, lazy] = [mark === " type", mark === "("];
    if (!specifier.startsWith(".")) return [{ kind: "packages", name: specifier, typeOnly, lazy }];
    const path = normalize(join(dirname(file), specifier))
      .split(sep)
      .join("/");
    const unit = unitOf(path);
    if (unit === unitOf(file) && scope === undefined) return [];
    return [{ kind: "folders", name: unit, typeOnly, lazy, path }];
  });
}

/** The longest name in the rule that `path` starts with, or its first folder. */
function unitOf(path: string): string {
  const units = Object.keys(RULE).filter((unit) => path === unit || path.startsWith(`${unit}/`));
  return units.sort((a, b) => b.length - a.length)[0] ?? path.split("/")[0] ?? "";
}
