/**
 * `npm run try -- claude-code | codex`: the real client, from npm, with our MCP server and a mock model
 * on loopback. Two conversations in a row: the second must find the first. Prints what the model saw.
 *
 * Needs the network for `npm install`; nothing else leaves this machine. Not part of `npm test`.
 */

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TOKEN_ESTIMATE } from "../src/context/tokens.ts";
import { CLIENTS, type Client } from "./try/clients.ts";
import { type MockModel, startMockModel } from "./try/mock-model.ts";

const BACKSCROLL = join(import.meta.dirname, "../bin/backscroll.js");

/** The last final read may still be at work. */
const REMOVE = { recursive: true, force: true, maxRetries: 10, retryDelay: 500 };

/** Said in the first conversation only, by the user and, last of all, by the model. */
const ASKED = "the walrus keeps the cron lock in slot 4711";
const ANSWERED = "noted: the pelican guards it";

async function main(): Promise<number> {
  const client = CLIENTS[process.argv[2] ?? ""];
  if (client === undefined) {
    console.error(`usage: npm run try -- ${Object.keys(CLIENTS).join(" | ")}`);
    return 2;
  }
  const folder = mkdtempSync(join(tmpdir(), "backscroll-try-"));
  const model = await startMockModel((ask) => (ask.includes("walrus keeps") ? ANSWERED : "done"));
  try {
    return await converse(client, folder, model);
  } finally {
    await model.close();
    if (process.argv.includes("--keep")) console.log(`\nkept: ${folder}`);
    else rmSync(folder, REMOVE);
  }
}

async function converse(client: Client, folder: string, model: MockModel): Promise<number> {
  console.log(`Installing ${client.package} in ${folder} …`);
  execFileSync("npm", ["install", "--no-fund", "--no-audit", "--prefix", folder, client.package], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const project = join(folder, "project");
  mkdirSync(project);
  const server = [process.execPath, BACKSCROLL, "mcp", "--final-read", "2"];
  const setting = { folder, project, server, modelUrl: model.url };
  client.configure(setting);
  const say = async (prompt: string) => {
    const { command, env } = client.run(setting, prompt);
    const started = performance.now();
    const code = await run(command, env, project);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(`\n> ${prompt}\n  (${client.package}: exit ${code}, ${seconds} s)`);
    if (code !== 0) throw new Error(`${client.package} ended with ${code}`);
  };

  await say(`Remember that ${ASKED}.`);
  // No word of the first conversation but the one that is looked for stands in the second.
  await say('CALL search_sessions {"query":"walrus"} please');
  await say('CALL search_sessions {"query":"pelican"} please');
  const [first = "", second = ""] = model.toolResults;
  for (const [what, seen] of [
    ["walrus", first],
    ["pelican", second],
  ] as const) {
    const bytes = Buffer.byteLength(seen);
    const tokens = TOKEN_ESTIMATE.countText(seen);
    console.log(`\n--- search_sessions "${what}": what the model saw ---\n${seen}`);
    console.log(`--- ${bytes} bytes, about ${tokens} tokens ---`);
  }
  const isFound = first.includes("4711") && second.includes("pelican guards");
  console.log(isFound ? "\nThe first conversation was found whole." : "\nNOT FOUND");
  return isFound ? 0 : 1;
}

function run(
  [file = "", ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string,
): Promise<number | null> {
  return new Promise((resolve, reject) => {
    // Nothing of the caller's own agents: a run inside one of them would inherit its session.
    const own = { PATH: process.env["PATH"] ?? "", ...env };
    const child = spawn(file, args, { cwd, env: own, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (text) => (said += String(text)));
    }
    child.once("error", reject);
    child.once("close", (code) => {
      if (code !== 0) console.error(said);
      resolve(code);
    });
  });
}

process.exitCode = await main();
