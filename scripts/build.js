/**
 * Makes `dist/`: the types file by file, and the code in a few files.
 *
 * Node takes longer to find and link four hundred small modules than to run them, and every thread
 * of a store does it again. What is loaded only when it is needed stays apart. The page for browsers is
 * made by `build-page.js`.
 */

import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { writePage } from "./build-page.js";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const DIST = join(ROOT, "dist");

/** What is loaded from outside, under the name that it has in `dist`. */
const ENTRIES = {
  index: "src/index.ts",
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
  "gateway/index": "src/gateway/index.ts",
  "store-kit/index": "src/store-kit/index.ts",
  "store-kit/cases": "src/store-kit/cases.ts",
  "cli/main": "src/cli/main.ts",
  // Threads of their own: beside the file that starts them, wherever that ends up.
  "storage-thread": "src/store/sqlite/executor/storage-thread.ts",
  "local-thread": "src/providers/embedding/local-thread.ts",
  // Loaded by its URL, in threads that know no test runner.
  "trivial-index": "src/store/cases/trivial-index.cases.ts",
};

/** Folders that nearly every entry loads. What the client loads of them stays free of Node's modules. */
const SHARED = /[\\/]src[\\/](async|model|secrets|transcript|search[\\/](analysis|document))[\\/]/;

/** What only MCP loads. */
const OF_MCP = /[\\/](src[\\/]mcp|node_modules[\\/]@modelcontextprotocol)[\\/]/;

/** The folder of the package that a file belongs to: below the last `node_modules` of its path. */
const PACKAGE_FOLDER = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/;

/** What only entries for browsers load. */
const OF_CLIENT = /[\\/]src[\\/](client|adapters)[\\/]/;

/**
 * Packages that become part of `dist`: to find and link their two hundred files takes longer than all
 * else that an MCP server does before its first answer.
 */
const BUNDLED = ["zod", "@modelcontextprotocol/server", "@modelcontextprotocol/core"];

rmSync(DIST, { recursive: true, force: true });
writeTypes();
const modules = (await Promise.all([writeCode(), writePage()])).flat();
writeLicences(modules);

function writeTypes() {
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  const run = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], {
    cwd: ROOT,
    stdio: "inherit",
  });
  if (run.status !== 0) process.exit(run.status ?? 1);
}

/** Gives the files that became part of it. */
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
    // Packages stay packages, but for those that every start of the MCP server waits for.
    external: (id) => isPackage(id) && !BUNDLED.some((name) => isOf(name, id)),
  });
  const { output } = await bundle.write({
    dir: DIST,
    format: "esm",
    // Half of what is read at a start were words for people, who have the sources.
    comments: false,
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    // One file for what is loaded together, instead of ten: finding one takes half a millisecond. An MCP
    // server loads these in turn, a thread of a store the first four, the library all up to the engine.
    codeSplitting: {
      groups: [
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
 * The licences of what is part of `dist` ask for a copy of themselves.
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
 * The files that `backscroll/client` and `backscroll/assistant-ui` consist of. Bundlers take whole files
 * of `dist`, so none of these may share one with what needs Node.
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
 * The files that are loaded with `input`, without those that it loads later.
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
