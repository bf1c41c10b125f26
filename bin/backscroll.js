#!/usr/bin/env node
/**
 * Starts the command line, or says in one line why it cannot.
 *
 * This file must parse on any Node with ES modules, so that an old one gets a sentence instead of a
 * stack trace. In a checkout it runs the sources as they are; in the package, what was built.
 */

import { existsSync } from "node:fs";

/** Its own exit code, so that a script can tell "wrong Node" from a failed command. */
const EXIT_OLD_NODE = 78;

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(
    `backscroll needs Node 22.18 or newer; this is Node ${process.versions.node}. Install a newer Node and run it again.`,
  );
  process.exit(EXIT_OLD_NODE);
}

// Node 22 warns at every start that node:sqlite may change. The tests cover that version, and a user
// cannot act on the warning. Other warnings pass.
const emitWarning = process.emitWarning;
process.emitWarning = (warning, ...rest) => {
  if (!/SQLite|Type Stripping/.test(String(warning)) || !rest.includes("ExperimentalWarning")) {
    emitWarning.call(process, warning, ...rest);
  }
};

const { cacheCompiledCode } = await import("./compile-cache.js");
cacheCompiledCode();

/** Of the sources, or of what was built: the tests of a checkout run that, since it starts faster. */
function load(name) {
  const source = new URL(`../src/cli/${name}.ts`, import.meta.url);
  const built = new URL(`../dist/cli/${name}.js`, import.meta.url);
  const isBuilt = process.env.BACKSCROLL_BUILT !== undefined && existsSync(built);
  return import(existsSync(source) && !isBuilt ? source.href : built.href);
}

const [command, ...rest] = process.argv.slice(2);
// What agents start only speaks to the hub, if it can: the program is not loaded.
const isDone =
  (command === "mcp" && (await (await load("pipe/pipe")).runPipe(rest, process.argv[1]))) ||
  (command === "hook" && (await (await load("pipe/hook")).runHook(rest, process.argv[1])));
if (!isDone) {
  const { main } = await load("main");
  process.exitCode = await main(process.argv.slice(2));
}
