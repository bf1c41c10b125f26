/**
 * Makes `dist/page`: the page that the server shows, as files with a hash of their content in their
 * names and with packed copies beside them. Nothing of it is made again while it is served.
 */

import { createHash } from "node:crypto";
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const SOURCE = join(ROOT, "src", "page");
const TARGET = join(ROOT, "dist", "page");

/** The styles of the chart library are the only ones that are not ours. */
const STYLES = [
  ...globSync("styles/*.css", { cwd: SOURCE })
    .sort()
    .map((file) => join(SOURCE, file)),
  join(ROOT, "node_modules", "uplot", "dist", "uPlot.min.css"),
];

/**
 * What the first view needs and the others share, in one file: each further one would cost a request
 * before the first results.
 */
const BASE =
  /node_modules[\\/]@?preact|src[\\/](?!page[\\/])|src[\\/]page[\\/](?:data|parts|find)[\\/]/;

/** Gives the files that became part of it. */
export async function writePage() {
  const { rolldown } = await import("rolldown");
  rmSync(TARGET, { recursive: true, force: true });
  mkdirSync(join(TARGET, "assets"), { recursive: true });
  // The worker comes first: the page must know its name.
  const [worker] = await bundle(rolldown, { worker: "src/page/code/worker.ts" }, {});
  const chunks = await bundle(
    rolldown,
    { app: "src/page/main.tsx" },
    { __WORKER__: JSON.stringify(worker?.fileName) },
  );
  const script = chunks.find(({ isEntry }) => isEntry);
  // What the first script imports is asked for with it, not after it.
  /** @param {{ fileName: string }} chunk */
  const isFirst = ({ fileName }) => script?.imports.includes(fileName);
  const css = STYLES.map((file) => readFileSync(file, "utf8")).join("\n");
  const style = { fileName: `style-${hashOf(css)}.css`, code: withoutSpace(css) };
  const html = readFileSync(join(SOURCE, "index.html"), "utf8")
    .replace("<script", `${chunks.filter(isFirst).map(preload).join("")}<script`)
    .replace("app.js", `assets/${script?.fileName}`)
    .replace("style.css", `assets/${style.fileName}`);
  const assets = [...(worker === undefined ? [] : [worker]), ...chunks, style];
  await Promise.all([
    writePacked(join(TARGET, "index.html"), html),
    ...assets.map(({ fileName, code }) => writePacked(join(TARGET, "assets", fileName), code)),
  ]);
  const bundled = [worker, ...chunks].flatMap((chunk) => chunk?.moduleIds ?? []);
  return [...bundled, ...STYLES];
}

/**
 * @param {typeof import("rolldown").rolldown} rolldown
 * @param {Record<string, string>} input
 * @param {Record<string, string>} define
 */
async function bundle(rolldown, input, define) {
  const build = await rolldown({
    cwd: ROOT,
    input,
    platform: "browser",
    tsconfig: false,
    transform: { define, jsx: { runtime: "automatic", importSource: "preact" } },
  });
  const { output } = await build.generate({
    format: "esm",
    minify: true,
    comments: false,
    entryFileNames: "[name]-[hash].js",
    chunkFileNames: "[name]-[hash].js",
    codeSplitting: { groups: [{ name: "base", test: BASE }] },
  });
  await build.close();
  return output.filter((chunk) => chunk.type === "chunk");
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

/** @param {{ fileName: string }} chunk */
function preload({ fileName }) {
  return `<link rel="modulepreload" href="assets/${fileName}">\n`;
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
