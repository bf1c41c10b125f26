/**
 * `npm run bench -- mcp --messages N`: how soon `backscroll mcp` answers, as an agent waits for it.
 * The corpus is that of `bench search`: kept in `--folder`, and used again.
 */

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fillStore } from "./fill-store.ts";
import { type BenchOptions, type Figures, medians, Report, withFolder } from "./measure.ts";

const PROGRAM = join(import.meta.dirname, "../bin/backscroll.js");
const STARTS = 20;
const AT_ONCE = 8;

export async function benchMcp(options: BenchOptions): Promise<boolean> {
  const report = new Report("mcp");
  const use = async (folder: string) => {
    const address = await fill(folder, options.messages);
    // The first compiles what the others find in the cache.
    await start(address, folder);
    const runs: Figures[] = [];
    for (let i = 0; i < STARTS; i++) runs.push(await start(address, folder));
    const figures = medians(runs);
    report.measurement("sqlite", `start, ${options.messages} messages`, STARTS, figures);
    report.bar("new process to its first answer, median ms", figures["firstAnswerMs"], 400);
    const together = await Promise.all(
      Array.from({ length: AT_ONCE }, () => start(address, folder)),
    );
    report.measurement("sqlite", `${AT_ONCE} at once`, 1, medians(together));
  };
  if (options.folder === undefined) await withFolder(undefined, use);
  else {
    mkdirSync(options.folder, { recursive: true });
    await use(options.folder);
  }
  return report.met;
}

async function fill(folder: string, messages: number): Promise<string> {
  const address = join(folder, `search-${messages}.db`);
  const done = `${address}.json`;
  if (!existsSync(done)) {
    const task = { address, messages, inThread: false };
    const figures = await fillStore(task, folder);
    writeFileSync(done, JSON.stringify(figures));
  }
  return address;
}

const message = (fields: object) => `${JSON.stringify({ jsonrpc: "2.0", ...fields })}\n`;
const INITIALIZE = message({
  ...{ id: 1, method: "initialize" },
  params: {
    ...{ protocolVersion: "2025-11-25", capabilities: {} },
    clientInfo: { name: "bench", version: "1.0.0" },
  },
});
const SEARCH = message({
  ...{ id: 2, method: "tools/call" },
  params: {
    name: "search_sessions",
    arguments: { query: "how did the people find the first kebase" },
  },
});

/** Times from the start of the process: to the first answer, to what a search found, to its end. */
function start(address: string, home: string): Promise<Figures> {
  const started = performance.now();
  const child = spawn(process.execPath, [PROGRAM, "mcp", "--db", address], {
    // No transcripts are at home here; whether there are any is looked for as always.
    env: { PATH: process.env["PATH"], HOME: home, BACKSCROLL_BUILT: "1" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const figures: Record<string, number> = {};
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    if (figures["firstAnswerMs"] === undefined && said.includes('"id":1')) {
      figures["firstAnswerMs"] = performance.now() - started;
      child.stdin.write(SEARCH);
    } else if (figures["searchMs"] === undefined && said.includes('"id":2')) {
      figures["searchMs"] = performance.now() - started;
      child.stdin.end();
    }
  });
  child.stdin.write(INITIALIZE);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      if (code !== 0) reject(new Error(`backscroll mcp ended with ${code}`));
      else resolve({ ...figures, endMs: performance.now() - started });
    });
  });
}
