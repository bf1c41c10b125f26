/**
 * `npm run bench -- mcp --messages N`: the latency of `backscroll mcp` for an agent, and the size
 * of its answers. The corpus is that of `bench search`, kept in `--folder` and reused.
 */

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { McpHost } from "../src/mcp/host.ts";
import { TOOLS } from "../src/mcp/tools/index.ts";
import { open } from "../src/open.ts";
import { fillStore } from "./fill-store.ts";
import {
  type BenchOptions,
  type Figures,
  medians,
  percentile,
  Report,
  withFolder,
} from "./measure.ts";

const PROGRAM = join(import.meta.dirname, "../bin/backscroll.js");
const STARTS = 20;
const AT_ONCE = 8;
/** Runs per measurement: each adds its lines to the store. */
const UNREAD_STARTS = 5;
const UNREAD_LINES = 1_000;

export async function benchMcp(options: BenchOptions): Promise<boolean> {
  const report = new Report("mcp");
  const use = async (folder: string) => {
    const address = await fill(folder, options.messages);
    // The first run fills the compile cache.
    await start(address, folder);
    const name = `${options.messages} messages`;
    const listing = await repeat(STARTS, () => start(address, folder, LIST));
    report.measurement("sqlite", `first tool, ${name}`, STARTS, listing);
    report.bar("new process to its first tool's answer, median ms", listing["toolMs"], 300);
    const searching = await repeat(STARTS, () => start(address, folder));
    report.measurement("sqlite", `first search, ${name}`, STARTS, searching);
    report.bar("new process to what its first search found, median ms", searching["toolMs"], 500);
    const together = await Promise.all(
      Array.from({ length: AT_ONCE }, () => start(address, folder)),
    );
    report.measurement("sqlite", `${AT_ONCE} at once`, 1, medians(together));
    const unread = await repeat(UNREAD_STARTS, () => startWithUnread(address, folder));
    report.measurement(
      "sqlite",
      `first search, ${UNREAD_LINES} unread lines`,
      UNREAD_STARTS,
      unread,
    );
    report.bar(`the same with ${UNREAD_LINES} unread lines, median ms`, unread["toolMs"], 800);
    await measureHub(report, address, folder);
    await measureHooks(report, address, folder);
    const bytes = await answerBytes(address, folder);
    report.measurement("sqlite", "bytes of default answers", 1, bytes);
    report.bar("bytes of a search of five hits", bytes["search_sessions"], 6_000);
  };
  if (options.folder === undefined) await withFolder(undefined, use);
  else {
    mkdirSync(options.folder, { recursive: true });
    await use(options.folder);
  }
  return report.met;
}

async function repeat(times: number, run: () => Promise<Figures>): Promise<Figures> {
  const runs: Figures[] = [];
  for (let i = 0; i < times; i++) runs.push(await run());
  return medians(runs);
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
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "bench", version: "1.0.0" },
  },
});
const QUERY = "how did the people find the first kebase";
const call = (name: string, args: object = {}, id = 2) =>
  message({ id, method: "tools/call", params: { name, arguments: args } });
const LIST = call("list_sessions");
const SEARCH = call("search_sessions", { query: QUERY });

/** Times from the start of the process: to the first answer, to a tool's, to its end. */
function start(address: string, home: string, tool = SEARCH): Promise<Figures> {
  const started = performance.now();
  // The final read of one run would slow the next one down.
  const args = [PROGRAM, "mcp", "--db", address, "--final-read", "0"];
  const child = spawn(process.execPath, args, {
    // This home has no transcripts; the scan runs as usual.
    env: { PATH: process.env["PATH"], HOME: home, BACKSCROLL_BUILT: "1" },
    cwd: home,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const figures: Record<string, number> = {};
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    if (figures["firstAnswerMs"] === undefined && said.includes('"id":1')) {
      figures["firstAnswerMs"] = performance.now() - started;
      child.stdin.write(tool);
    } else if (figures["toolMs"] === undefined && said.includes('"id":2')) {
      figures["toolMs"] = performance.now() - started;
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

/** After this time the hub has warmed its index. */
const WARM_MS = 5_000;

/** Idle agents that one hub serves. */
const AGENTS = 10;

/** A new pipe's first answer while the hub runs, and what ten idle agents take in all. */
async function measureHub(report: Report, address: string, home: string): Promise<void> {
  const agents = Array.from({ length: AGENTS }, () => beginAgent(address, home));
  try {
    await Promise.all(agents.map(({ answered }) => answered));
    await pause(WARM_MS);
    const pids = processesOf(home);
    const pssMb = pids.reduce((sum, pid) => sum + pssOf(pid), 0) / 1024;
    report.measurement("sqlite", `${AGENTS} idle agents`, 1, { processes: pids.length, pssMb });
    report.bar(`${AGENTS} idle agents in all, MB of PSS`, pssMb, 350);
    const listing = await repeat(STARTS, () => start(address, home, LIST));
    report.measurement("sqlite", "first tool, hub running", STARTS, listing);
    report.bar("new pipe to its first tool's answer, median ms", listing["toolMs"], 120);
    const searching = await repeat(STARTS, () => start(address, home));
    report.measurement("sqlite", "first search, hub running", STARTS, searching);
    report.bar("new pipe to what its first search found, median ms", searching["toolMs"], 120);
  } finally {
    for (const { child } of agents) child.stdin.end();
  }
}

const HOOKS = 100;
const COLD_HOOKS = 20;

/** From the start of a hook's process to its end: while a hub runs, and where it starts one. */
async function measureHooks(report: Report, address: string, home: string): Promise<void> {
  const agent = beginAgent(address, home);
  await agent.answered;
  await pause(WARM_MS);
  const warm = await inTurn(HOOKS, (i) => runHook(address, home, i));
  agent.child.stdin.end();
  report.measurement("sqlite", "hook, hub running", HOOKS, toFigures(warm));
  report.bar("hook to its answer, hub running, p95 ms", percentile(warm, 95), 120);
  const cold = await inTurn(COLD_HOOKS, async (i) => {
    for (const pid of processesOf(home)) process.kill(Number(pid), "SIGKILL");
    while (processesOf(home).length > 0) await pause(20);
    return runHook(address, home, i);
  });
  report.measurement("sqlite", "hook, no hub", COLD_HOOKS, toFigures(cold));
  report.bar("hook to its answer, no hub, p95 ms", percentile(cold, 95), 400);
  for (const pid of processesOf(home)) process.kill(Number(pid), "SIGKILL");
}

async function inTurn(times: number, run: (i: number) => Promise<number>): Promise<number[]> {
  const ms: number[] = [];
  for (let i = 0; i < times; i++) ms.push(await run(i));
  return ms;
}

function toFigures(ms: readonly number[]): Figures {
  return { "p50 ms": percentile(ms, 50), "p95 ms": percentile(ms, 95) };
}

/** Of each moment in turn. */
function payloadOf(i: number, cwd: string): object {
  const common = { session_id: `bench-${i}`, cwd };
  const bash = { tool_name: "Bash", tool_input: { command: "lint run --all" } };
  const moments = [
    { hook_event_name: "UserPromptSubmit", prompt: QUERY },
    {
      hook_event_name: "PostToolUseFailure",
      ...bash,
      error: "Exit code 2\nfatal: cannot find the first kebase of people",
    },
    {
      hook_event_name: "PostToolUse",
      tool_name: "Read",
      tool_input: { file_path: "/p/people.ts" },
    },
    { hook_event_name: "SessionStart", source: "startup" },
  ];
  return { ...common, ...moments[i % moments.length] };
}

function runHook(address: string, home: string, i: number): Promise<number> {
  const started = performance.now();
  const child = spawn(process.execPath, [PROGRAM, "hook", "claude-code", "--db", address], {
    env: { PATH: process.env["PATH"], HOME: home, BACKSCROLL_BUILT: "1" },
    cwd: home,
    stdio: ["pipe", "ignore", "inherit"],
  });
  child.stdin.end(JSON.stringify(payloadOf(i, home)));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve(performance.now() - started);
      else reject(new Error(`backscroll hook ended with ${code}`));
    });
  });
}

function beginAgent(address: string, home: string) {
  const args = [PROGRAM, "mcp", "--db", address, "--final-read", "0"];
  const env = { PATH: process.env["PATH"], HOME: home, BACKSCROLL_BUILT: "1" };
  const child = spawn(process.execPath, args, {
    env,
    cwd: home,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const { promise: answered, resolve, reject } = Promise.withResolvers<void>();
  child.once("error", reject);
  child.stdout.on("data", (text) => {
    if (String(text).includes('"id":1')) child.stdin.write(SEARCH);
    else resolve();
  });
  child.stdin.write(INITIALIZE);
  return { child, answered };
}

/** Agents and hubs with this home, by Linux's list of processes. */
function processesOf(home: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      const isOurs = words.some(
        (word, i) => word === PROGRAM && /^(mcp|hub)$/.test(words[i + 1] ?? ""),
      );
      const variables = isOurs ? readFileSync(`/proc/${pid}/environ`, "utf8").split("\0") : [];
      return variables.includes(`HOME=${home}`);
    } catch {
      // No process, or one that has ended.
      return false;
    }
  });
}

/** In kilobytes. */
function pssOf(pid: string): number {
  return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1]);
}

/** As `start`, while a transcript of the caller's folder lies unread. */
async function startWithUnread(address: string, folder: string): Promise<Figures> {
  const home = mkdtempSync(join(folder, "home-"));
  try {
    const sessionId = randomUUID();
    const project = join(home, ".claude/projects", home.replaceAll(/[^a-zA-Z0-9]/g, "-"));
    mkdirSync(project, { recursive: true });
    const lines = Array.from({ length: UNREAD_LINES }, (_, i) =>
      JSON.stringify({
        type: "user",
        sessionId,
        cwd: home,
        uuid: `${sessionId}-${i}`,
        parentUuid: i === 0 ? null : `${sessionId}-${i - 1}`,
        timestamp: new Date(Date.now() - UNREAD_LINES + i).toISOString(),
        message: { role: "user", content: `line ${i} of what nobody has read yet` },
      }),
    );
    writeFileSync(join(project, `${sessionId}.jsonl`), `${lines.join("\n")}\n`);
    return await start(address, home);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** The answers of each reading tool with minimal arguments. */
async function answerBytes(address: string, home: string): Promise<Figures> {
  const engine = await open(address);
  try {
    const host: McpHost = {
      tenant: engine,
      version: "0.0.0",
      cwd: home,
      access: {
        tenant: engine.tenant,
        scope: "read",
        actor: null,
        actAs: "any",
        operator: false,
        tokenId: null,
      },
    };
    const { hits } = await engine.searchSessions(QUERY, { limit: 1 });
    const session = { session_id: hits[0]?.shortId ?? "" };
    const args: Readonly<Record<string, object>> = {
      search_sessions: { query: QUERY },
      list_messages: session,
      recap: {},
      related: { question: QUERY },
      trace: { error: "kebase" },
      list_sessions: {},
      get_session_meta: session,
      recall: { ...session, query: QUERY },
      search_memory: { query: QUERY },
      build_context: session,
    };
    const figures: Record<string, number> = {};
    for (const tool of TOOLS.filter(({ scope }) => scope === "read")) {
      const { content, isError } = await tool.call(host, args[tool.name]);
      const [first] = content;
      if (isError || first?.type !== "text")
        throw new Error(`${tool.name}: ${JSON.stringify(content)}`);
      figures[tool.name] = Buffer.byteLength(first.text);
    }
    return figures;
  } finally {
    await engine.close();
  }
}
