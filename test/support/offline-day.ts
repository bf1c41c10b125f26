/**
 * A day with Backscroll, run in a network namespace that has the loopback interface alone. Prints
 * how many packets the kernel could not route, before, after, and after attempts that must be seen.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { environmentOf, type Ran, ROOT, run, runCli } from "./cli.ts";

const [home = "", recorder = "", log = ""] = process.argv.slice(2);
const env = {
  HOME: home,
  WORKSTATION_ID: "w1",
  CONNECTIONS: log,
  NODE_OPTIONS: `--import ${recorder}`,
  BACKSCROLL_HOOK_DEADLINE_MS: "60000",
};

/** Of both versions of IP: an attempt without a route counts, whoever makes it. */
function unrouted(): number {
  const [names = "", values = ""] = readFileSync("/proc/net/snmp", "utf8").match(/^Ip: .*/gm) ?? [];
  const at = names.split(" ").indexOf("OutNoRoutes");
  const six = /^Ip6OutNoRoutes\s+(\d+)/m.exec(readFileSync("/proc/net/snmp6", "utf8"));
  return Number(values.split(" ")[at]) + Number(six?.[1] ?? 0);
}

async function ok(args: readonly string[], input = ""): Promise<Ran> {
  const ran = await runCli(args, { env, cwd: home, input });
  if (ran.code !== 0) throw new Error(`${args.join(" ")}: ${ran.code} ${ran.stderr}`);
  return ran;
}

/** The page as a browser loads it, with everything that it names. */
async function visit(url: string): Promise<number> {
  const page = await (await fetch(`${url}/`, { headers: { accept: "text/html" } })).text();
  const names = [...page.matchAll(/(?:src|href)="([^":#]+)"/g)].map(
    ([, name = ""]) => new URL(name, `${url}/`).href,
  );
  const asked = ["/v1/sessions", "/v1/search?q=lock", "/docs", "/healthz", "/v1/stats"];
  const places = [...names, ...asked.map((path) => `${url}${path}`)];
  for (const place of places) {
    const answer = await fetch(place);
    if (!answer.ok) throw new Error(`${place}: ${answer.status}`);
    await answer.arrayBuffer();
  }
  return names.length;
}

const before = unrouted();
await ok(["setup", "claude-code", "--hooks", "--yes"]);
await ok(["ingest"]);
const asks = [
  [
    "initialize",
    { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
  ],
  ["tools/call", { name: "search_sessions", arguments: { query: "lock" } }],
].map(([method, params], id) => JSON.stringify({ jsonrpc: "2.0", id, method, params }));
const hook = (hook_event_name: string) =>
  ok(
    ["hook", "claude-code"],
    JSON.stringify({ hook_event_name, session_id: "5f0c2a91", cwd: home, source: "startup" }),
  );
await Promise.all([
  ok(["search", "lock"]),
  ok(["mcp", "--final-read", "0"], `${asks.join("\n")}\n`),
  ok(["doctor"]),
  hook("SessionStart"),
  hook("SessionEnd"),
]);

const server = spawn(
  process.execPath,
  [join(ROOT, "bin/backscroll.js"), "serve", "--watch", "--port", "0", "--json"],
  { cwd: home, env: environmentOf(env), stdio: ["ignore", "pipe", "inherit"] },
);
const [line] = await once(createInterface(server.stdout), "line");
const { url } = JSON.parse(line as string) as { url: string };
const assets = await visit(url);
const { stdout: trusted } = await ok(["trust", "--json"]);
server.kill("SIGTERM");
await once(server, "exit");
const after = unrouted();

const attempts = [
  "require('net').connect(9, '192.0.2.1').on('error', () => {})",
  "require('dns').lookup('backscroll.example', () => {})",
  "fetch('http://192.0.2.2/').catch(() => {})",
];
await run(process.execPath, ["-e", attempts.join("; ")], { env, cwd: home });
await new Promise((resolve) => connect(9, "192.0.2.3").once("error", resolve));
const { servers } = JSON.parse(trusted) as { servers: unknown };
const counts = { before, after, control: unrouted(), assets };
process.stdout.write(JSON.stringify({ ...counts, servers, url }));
