/**
 * The benches as plain JavaScript, for the measured processes. Type stripping would add 24 MB,
 * which no user's program has.
 */

import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const PROJECT = fileURLToPath(new URL("..", import.meta.url));
const isPlain = import.meta.url.endsWith(".js");
let folder: string | undefined;

/** The JavaScript of a module of this folder. */
export function plainScript(module: URL): URL {
  if (isPlain) return module;
  folder ??= makeScripts();
  return pathToFileURL(join(folder, basename(module.pathname).replace(/\.ts$/, ".js")));
}

function makeScripts(): string {
  const made = mkdtempSync(join(tmpdir(), "backscroll-scripts-"));
  process.once("exit", () => rmSync(made, { recursive: true, force: true }));
  for (const name of ["dist", "src", "node_modules", "package.json"]) {
    symlinkSync(join(PROJECT, name), join(made, name));
  }
  const scripts = join(made, "bench");
  mkdirSync(scripts);
  symlinkSync(join(PROJECT, "bench/transcripts"), join(scripts, "transcripts"));
  for (const name of readdirSync(join(PROJECT, "bench")).filter((each) => each.endsWith(".ts"))) {
    const source = readFileSync(join(PROJECT, "bench", name), "utf8");
    // Imports of each other, and module names for other processes.
    const plain = stripTypeScriptTypes(source).replace(/"(\.\/[\w-]+)\.ts"/g, '"$1.js"');
    writeFileSync(join(scripts, name.replace(/\.ts$/, ".js")), plain);
  }
  return scripts;
}
