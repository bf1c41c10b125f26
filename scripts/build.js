/**
 * Builds `dist/`: types file by file, code bundled into a few files.
 *
 * Node takes longer to resolve and link four hundred small modules than to run them, and every thread
 * of a store repeats it. Code that is loaded on demand stays in separate chunks. `build-page.js` builds
 * the page.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { writePage } from "./build-page.js";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const DIST = join(ROOT, "dist");

/** The entry points, by their names in `dist`. */
const ENTRIES = {
  index: "src/index.ts",
  types: "src/types.ts",
  "adapters/ai-sdk/index": "src/adapters/ai-sdk/index.ts",
  "adapters/anthropic-memory/index": "src/adapters/anthropic-memory/index.ts",
  "adapters/assistant-ui/index": "src/adapters/assistant-ui/index.ts",
  "adapters/claude-agent-sdk/index": "src/adapters/claude-agent-sdk/index.ts",
  "adapters/langgraph/index": "src/adapters/langgraph/index.ts",
  "adapters/mastra/index": "src/adapters/mastra/index.ts",
  "adapters/openai-agents/index": "src/adapters/openai-agents/index.ts",
  "archive/index": "src/archive/index.ts",
  "server/index": "src/server/index.ts",
  "client/index": "src/client/index.ts",
  compat: "src/compat.ts",
  "convert/index": "src/convert/index.ts",
  "gateway/index": "src/gateway/index.ts",
  models: "src/models.ts",
  work: "src/work.ts",
  "store-kit/index": "src/store-kit/index.ts",
  "store-kit/cases": "src/store-kit/cases.ts",
  "cli/main": "src/cli/main.ts",
  "cli/pipe/hook": "src/cli/pipe/hook.ts",
  "cli/pipe/pipe": "src/cli/pipe/pipe.ts",
  // Worker threads: loaded from the folder of the file that starts them.
  "storage-thread": "src/store/sqlite/executor/storage-thread.ts",
  "local-thread": "src/providers/embedding/local-thread.ts",
  // Loaded by URL, in threads without a test runner.
  "trivial-index": "src/store/cases/trivial-index.cases.ts",
};

/** Folders that nearly every entry loads. The client's part of them must not import Node's modules. */
const SHARED = /[\\/]src[\\/](async|model|secrets|transcript|search[\\/](analysis|document))[\\/]/;

/** Modules of MCP alone. */
const OF_MCP = /[\\/](src[\\/]mcp|node_modules[\\/]@modelcontextprotocol)[\\/]/;

/** What each agent starts: it loads nothing else. */
const OF_PIPE = /[\\/]src[\\/]cli[\\/]pipe[\\/]/;

/** The folder of the package that a file belongs to: below the last `node_modules` of its path. */
const PACKAGE_FOLDER = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/;

/** Modules of browser entries alone. */
const OF_CLIENT = /[\\/]src[\\/](client|adapters)[\\/]/;

/**
 * Bundled packages: all that is needed by everyone. An application gets no second copies of them, and
 * resolving and linking the two hundred files of zod and MCP took longer than all other work of an MCP
 * server before its first answer.
 */
const BUNDLED = [
  "zod",
  "hono",
  "@hono/node-server",
  "@modelcontextprotocol/server",
  "@modelcontextprotocol/core",
  "marked",
  "jsonc-parser",
  "smol-toml",
];

rmSync(DIST, { recursive: true, force: true });
const [code, page] = await Promise.all([writeCode(), writePage(), writeTypes()]);
writeLicences([...code, ...page]);

async function writeTypes() {
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  const run = spawn(process.execPath, [tsc, "-p", "tsconfig.build.json"], {
    cwd: ROOT,
    stdio: "inherit",
  });
  const [status] = await once(run, "exit");
  if (status !== 0) process.exit(status ?? 1);
}

/** Gives the bundled source files. */
async function writeCode() {
  const { rolldown } = await import("rolldown");
  const ofClient = await modulesOfClient(rolldown);
  const entries = new Set(Object.values(ENTRIES).map((path) => join(ROOT, path)));
  /** @param {string} input */
  const loadedWith = async (input) => {
    const modules = await modulesOf(rolldown, input);
    return (/** @type {string} */ id) => modules.has(id) && !ofClient.has(id) && !entries.has(id);
  };
  const ofStorage = await loadedWith(ENTRIES["storage-thread"]);
  const ofEngine = await loadedWith(ENTRIES.index);
  const ofProgram = await loadedWith("src/cli/commands/serve/mcp.ts");
  /** @param {string} id */
  const isShared = (id) => ofProgram(id) && (ofStorage(id) || ofEngine(id));
  const bundle = await rolldown({
    cwd: ROOT,
    input: ENTRIES,
    platform: "node",
    // The UMD file of jsonc-parser cannot be bundled.
    resolve: { mainFields: ["module", "main"] },
    // Packages stay external, except those on the MCP server's start-up path.
    external: (id) => isPackage(id) && !BUNDLED.some((name) => isOf(name, id)),
  });
  const { output } = await bundle.write({
    dir: DIST,
    format: "esm",
    // Comments were half of the bytes read at start-up.
    comments: false,
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    // One chunk for modules that are loaded together: resolving a file takes half a millisecond. An MCP
    // server loads these in this order, a store's thread the first four, the library all up to the engine.
    codeSplitting: {
      groups: [
        { name: "pipe", test: OF_PIPE, priority: 8 },
        { name: "model", test: (id) => SHARED.test(id) && ofClient.has(id), priority: 7 },
        { name: "wire", test: (id) => ofClient.has(id) && !OF_CLIENT.test(id), priority: 6 },
        { name: "transcript", test: (id) => SHARED.test(id) || isShared(id), priority: 5 },
        { name: "zod", test: /[\\/]node_modules[\\/]zod[\\/]/, priority: 5 },
        { name: "storage", test: ofStorage, priority: 4 },
        { name: "engine", test: ofEngine, priority: 3 },
        { name: "program", test: ofProgram, priority: 2 },
        { name: "archive", test: await loadedWith("src/archive/fresh-reader.ts"), priority: 1 },
        { name: "mcp", test: OF_MCP },
      ],
    },
  });
  await bundle.close();
  return output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []));
}

/** @param {string} id */
function isPackage(id) {
  return !id.startsWith(".") && !id.startsWith("/") && !/^[A-Za-z]:\\/.test(id);
}

/**
 * @param {string} name
 * @param {string} id
 */
function isOf(name, id) {
  return id === name || id.startsWith(`${name}/`);
}

/**
 * Writes the licences of bundled packages, which require a copy of themselves.
 *
 * @param {readonly string[]} modules
 */
function writeLicences(modules) {
  const folders = modules.flatMap((id) => PACKAGE_FOLDER.exec(id)?.[0] ?? []);
  const texts = folders.map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((each) => /^licen[cs]e(\.(md|txt))?$/i.test(each));
    if (file === undefined) throw new Error(`${name} is bundled and has no licence file`);
    return `${name} ${version}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
  });
  writeFileSync(
    join(DIST, "LICENSES.txt"),
    [...new Set(texts)].sort().join(`\n${"-".repeat(78)}\n\n`),
  );
}

/**
 * The modules of `backscroll/client` and `backscroll/assistant-ui`. Bundlers include whole files of
 * `dist`, so these must not share a chunk with modules that need Node.
 *
 * @param {typeof import("rolldown").rolldown} rolldown
 */
async function modulesOfClient(rolldown) {
  const input = [ENTRIES["client/index"], ENTRIES["adapters/assistant-ui/index"]];
  const bundle = await rolldown({ cwd: ROOT, input, platform: "browser", treeshake: false });
  const { output } = await bundle.generate({ format: "esm" });
  await bundle.close();
  return new Set(output.flatMap((chunk) => ("modules" in chunk ? Object.keys(chunk.modules) : [])));
}

/**
 * The static imports of `input`, transitively; dynamic imports are left out.
 *
 * @param {typeof import("rolldown").rolldown} rolldown
 * @param {string} input
 */
async function modulesOf(rolldown, input) {
  const bundle = await rolldown({
    cwd: ROOT,
    input,
    platform: "node",
    external: isPackage,
    treeshake: false,
  });
  const { output } = await bundle.generate({ format: "esm" });
  await bundle.close();
  const chunks = new Map(output.map((chunk) => [chunk.fileName, chunk]));
  const modules = new Set();
  const pending = [output[0].fileName];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const chunk = chunks.get(name);
    if (chunk?.type !== "chunk") continue;
    chunks.delete(name);
    for (const id of Object.keys(chunk.modules)) modules.add(id);
    pending.push(...chunk.imports);
  }
  return modules;
}
