/**
 * Builds `dist/page`: the page as content-addressed files (a hash in each name) with precompressed
 * copies, so that the server compresses nothing.
 */

import { createHash } from "node:crypto";
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const SOURCE = join(ROOT, "src", "page");
const ENTRY = "src/page/main.tsx";
const EARLY = "src/page/early.ts";
const READER = "src/page/read/read.tsx";
const MARKDOWN = "src/page/markdown/rich.ts";
const TARGET = join(ROOT, "dist", "page");

/** The script that the document loads. */
const FIRST = "first";

/**
 * An explicit compile hint: V8 compiles all functions of the script on another thread while it arrives,
 * instead of at their first call. Other engines see a comment.
 */
const COMPILE_HINT = "//# allFunctionsCalledOnLoad";

const STYLES = globSync("styles/*.css", { cwd: SOURCE })
  .sort()
  .map((file) => join(SOURCE, file));

/** Gives the bundled source files. */
export async function writePage() {
  const { rolldown } = await import("rolldown");
  rmSync(TARGET, { recursive: true, force: true });
  mkdirSync(join(TARGET, "assets"), { recursive: true });
  // The worker is built first: the page's code contains its hashed name.
  const [worker] = await bundle(rolldown, { worker: "src/page/code/worker.ts" }, {}, []);
  const define = { __WORKER__: JSON.stringify(worker?.fileName) };
  const chunks = await bundle(rolldown, { app: ENTRY }, define, [
    { name: FIRST, test: await testOfFirst(rolldown, define) },
  ]);
  const first = chunks.find(({ moduleIds }) => moduleIds.includes(join(ROOT, ENTRY)));
  if (first === undefined) throw new Error(`no chunk of the page has ${ENTRY}`);
  // The chunk of the entry only imports that one.
  const used = chunks.filter(({ isEntry, moduleIds }) => !isEntry || moduleIds.length > 0);
  const early = await bundleEarly(rolldown, chunks);
  const css = STYLES.map((file) => readFileSync(file, "utf8")).join("\n");
  const style = { fileName: `style-${hashOf(css)}.css`, code: withoutSpace(css) };
  const html = readFileSync(join(SOURCE, "index.html"), "utf8")
    .replace("early.js", `assets/${early.fileName}`)
    .replace("app.js", `assets/${first.fileName}`)
    .replace("style.css", `assets/${style.fileName}`);
  const assets = [...(worker === undefined ? [] : [worker]), early, ...used, style];
  await Promise.all([
    writePacked(join(TARGET, "index.html"), html),
    ...assets.map(({ fileName, code }) => writePacked(join(TARGET, "assets", fileName), code)),
  ]);
  const bundled = [worker, early, ...chunks].flatMap((chunk) => chunk?.moduleIds ?? []);
  return [...bundled, ...STYLES];
}

/** Descriptions of fields are for the OpenAPI document: the page's client reads only their kinds. */
const WITHOUT_DESCRIPTIONS = {
  name: "without-descriptions",
  /** @param {string} code @param {string} id */
  transform: (code, id) =>
    id.includes("/src/model/") ? code.replace(/\babout:\s*"[^"\n]*",?/g, "") : null,
};

/**
 * @param {typeof import("rolldown").rolldown} rolldown
 * @param {Record<string, string>} input
 * @param {Record<string, string>} define
 * @param {{ name: string, test: (id: string) => boolean }[]} groups
 * @param {"esm" | "iife"} format
 */
async function bundle(rolldown, input, define, groups, format = "esm") {
  const build = await rolldown({
    cwd: ROOT,
    input,
    platform: "browser",
    tsconfig: false,
    transform: { define, jsx: { runtime: "automatic", importSource: "preact" } },
    plugins: [WITHOUT_DESCRIPTIONS],
  });
  const { output } = await build.generate({
    format,
    minify: true,
    comments: false,
    entryFileNames: "[name]-[hash].js",
    chunkFileNames: "[name]-[hash].js",
    codeSplitting: format === "esm" ? { groups } : false,
    postBanner: ({ name }) => (name === FIRST ? COMPILE_HINT : ""),
  });
  await build.close();
  return output.filter((chunk) => chunk.type === "chunk");
}

/**
 * Builds the early script last: it contains the hashed names of the reader's chunks.
 *
 * @param {typeof import("rolldown").rolldown} rolldown
 * @param {readonly import("rolldown").OutputChunk[]} chunks
 */
async function bundleEarly(rolldown, chunks) {
  const nameOf = (/** @type {string} */ module) => {
    const chunk = chunks.find(({ moduleIds }) => moduleIds.includes(join(ROOT, module)));
    if (chunk === undefined) throw new Error(`no chunk of the page has ${module}`);
    return JSON.stringify(chunk.fileName);
  };
  const define = { __READER__: nameOf(READER), __MARKDOWN__: nameOf(MARKDOWN) };
  const [early] = await bundle(rolldown, { early: EARLY }, define, [], "iife");
  if (early === undefined) throw new Error(`there is no chunk of ${EARLY}`);
  return early;
}

/**
 * The modules of the first view and those that views share, for one chunk: each further chunk would cost
 * a request before the first results.
 *
 * @param {typeof import("rolldown").rolldown} rolldown
 * @param {Record<string, string>} define
 */
async function testOfFirst(rolldown, define) {
  const chunks = await bundle(rolldown, { app: ENTRY }, define, []);
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const modules = new Set();
  const pending = chunks.filter(({ isEntry }) => isEntry);
  for (let chunk = pending.pop(); chunk !== undefined; chunk = pending.pop()) {
    byName.delete(chunk.fileName);
    for (const id of chunk.moduleIds) modules.add(id);
    pending.push(...chunk.imports.flatMap((name) => byName.get(name) ?? []));
  }
  const parts = join(SOURCE, "parts");
  return (/** @type {string} */ id) => modules.has(id) || id.startsWith(parts);
}

/** @param {string} path @param {string} text */
async function writePacked(path, text) {
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
  const bytes = Buffer.from(text);
  const [zipped, brotli] = await Promise.all([
    promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
    promisify(brotliCompress)(bytes, quality),
  ]);
  writeFileSync(path, bytes);
  writeFileSync(`${path}.gz`, zipped);
  writeFileSync(`${path}.br`, brotli);
}

/** @param {string} text */
function hashOf(text) {
  return createHash("sha256").update(text).digest("base64url").slice(0, 8);
}

/** @param {string} css */
function withoutSpace(css) {
  return css.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\s+/g, " ");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writePage();
