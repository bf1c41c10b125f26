/** A server on loopback serves the user who started it, and no other user of the machine. */

import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, lstatSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { ownToken } from "../../src/cli/settings/own-servers.ts";
import { open } from "../../src/index.ts";
import type { LocalUser } from "../../src/server/local-access.ts";
import { openServer, type RunningServer } from "../../src/server/serve.ts";
import { environmentOf, ROOT } from "../support/cli.ts";
import { createFolder } from "../support/folder.ts";

const TOKEN = `bsl_${"a".repeat(43)}`;
/** Everything that a foreign user must not get. */
const CLOSED = [
  "GET /",
  "GET /v1/sessions",
  "GET /v1/backup",
  "GET /v1/changes",
  "GET /v1/access",
  "GET /metrics",
  "POST /mcp",
  "POST /v1/search",
  "POST /local/code",
  "POST /local/token",
];

let running: { readonly server: RunningServer; close(): Promise<void> } | undefined;
let child: ChildProcess | undefined;
afterEach(async () => {
  await running?.server.stop(0);
  await running?.close();
  child?.kill("SIGKILL");
  running = undefined;
  child = undefined;
});

async function start(user: LocalUser | undefined, socketPath?: string): Promise<RunningServer> {
  const engine = await open(":memory:", { inThread: true });
  const local = {
    token: TOKEN,
    ...(user === undefined ? {} : { userOf: () => user }),
    ...(socketPath === undefined ? {} : { socketPath }),
  };
  const mcp = () => Promise.resolve(Response.json({}));
  const server = await openServer(engine, { version: "1", port: 0, local, mcp });
  running = { server, close: () => engine.close() };
  return server;
}

async function statusOf(url: string, call: string, headers: Record<string, string> = {}) {
  const [method = "", path = ""] = call.split(" ");
  const stop = new AbortController();
  const response = await fetch(url + path, { method, headers, signal: stop.signal });
  stop.abort();
  return response.status;
}

test("another user is refused everything but the health of the server", async () => {
  const { url } = await start("other");
  for (const call of CLOSED) expect([call, await statusOf(url, call)]).toEqual([call, 401]);
  expect(await statusOf(url, "GET /healthz")).toBe(200);
  // The page's document has no data: it asks for a token.
  const page = await fetch(url, { headers: { accept: "text/html" } });
  expect([page.status, (await page.text()).includes("backscroll-access")]).toEqual([401, false]);
});

test("where the system does not tell, the token of the user's file opens everything", async () => {
  const { url } = await start("unknown");
  for (const call of CLOSED.filter((each) => each !== "GET /")) {
    expect([call, await statusOf(url, call)]).toEqual([call, 401]);
  }
  const headers = { authorization: `Bearer ${TOKEN}` };
  for (const call of ["GET /v1/sessions", "GET /metrics", "GET /v1/backup", "POST /mcp"]) {
    expect([call, await statusOf(url, call, headers)]).toEqual([call, 200]);
  }
  const wrong = { authorization: `Bearer bsl_${"b".repeat(43)}` };
  expect(await statusOf(url, "GET /v1/sessions", wrong)).toBe(401);
});

test("a code gives the token once", async () => {
  const { url } = await start("unknown");
  const headers = { authorization: `Bearer ${TOKEN}` };
  const made = await fetch(`${url}/local/code`, { method: "POST", headers });
  const { code } = (await made.json()) as { code: string };
  const exchange = () =>
    fetch(`${url}/local/token`, { method: "POST", headers: { "x-backscroll-code": code } });
  expect(await (await exchange()).json()).toEqual({ token: TOKEN });
  expect((await exchange()).status).toBe(401);
});

test.runIf(process.platform === "linux")("the own user needs no token", async () => {
  const { url } = await start(undefined);
  for (const call of ["GET /v1/sessions", "GET /metrics", "POST /mcp", "GET /"]) {
    expect([call, await statusOf(url, call)]).toEqual([call, 200]);
  }
});

test.runIf(process.platform !== "win32")("a Unix socket of mode 0600 needs no token", async () => {
  const socketPath = join(createFolder(), "serve.sock");
  const server = await start("unknown", socketPath);
  expect([server.socketPath, lstatSync(socketPath).mode & 0o777]).toEqual([socketPath, 0o600]);
  const status = await new Promise((resolve, reject) => {
    const sent = request({ socketPath, path: "/v1/sessions", headers: { host: "localhost" } });
    sent.on("response", (response) => resolve(response.resume().statusCode));
    sent.on("error", reject).end();
  });
  expect(status).toBe(200);
});

test("the token's file is readable by its owner alone, and is made anew if it was not", () => {
  const file = join(createFolder(), "of-user/local-token");
  const token = ownToken(file);
  expect([ownToken(file), readFileSync(file, "utf8")]).toEqual([token, `${token}\n`]);
  if (process.platform === "win32") return;
  expect(lstatSync(file).mode & 0o777).toBe(0o600);
  chmodSync(file, 0o644);
  expect(ownToken(file)).not.toBe(token);
  writeFileSync(file, "short\n");
  expect(ownToken(file)).toMatch(/^bsl_/);
});

/** Starts the command; gives its address. */
async function serve(...args: readonly string[]): Promise<string> {
  const folder = createFolder();
  const line = await new Promise<string>((resolve, reject) => {
    child = spawn(
      process.execPath,
      [join(ROOT, "bin/backscroll.js"), "serve", "--port", "0", "--json", ...args],
      { env: environmentOf({ HOME: folder }), stdio: ["ignore", "pipe", "pipe"] },
    );
    child.stdout?.setEncoding("utf8").once("data", resolve);
    child.once("exit", (code) => reject(new Error(`serve ended with ${code}`)));
  });
  return (JSON.parse(line) as { url: string }).url;
}

/**
 * The statuses of the calls, from a process of the user `nobody`, which it becomes after its start:
 * that user may not be able to run the Node of a private folder.
 */
function asNobody(url: string, calls: readonly string[]): Promise<number[]> {
  const script = `
    process.setgroups([]);
    process.setgid(65_534);
    process.setuid(65_534);
    const [url, ...calls] = process.argv.slice(1);
    const statuses = [];
    for (const call of calls) {
      const [method, path] = call.split(" ");
      const stop = new AbortController();
      statuses.push((await fetch(url + path, { method, signal: stop.signal })).status);
      stop.abort();
    }
    console.log(JSON.stringify(statuses));`;
  return new Promise((resolve, reject) => {
    const asker = spawn(process.execPath, ["--input-type=module", "-e", script, url, ...calls], {
      cwd: "/",
      env: {},
      stdio: ["ignore", "pipe", "inherit"],
    });
    asker.once("error", reject);
    asker.stdout.setEncoding("utf8").once("data", (text: string) => resolve(JSON.parse(text)));
  });
}

/** Only root can become another user. */
const CAN_SWITCH = process.platform === "linux" && process.getuid?.() === 0;

test.runIf(CAN_SWITCH)(
  "nobody of this machine is refused; --open-loopback lets all in",
  async () => {
    const url = await serve();
    expect(await asNobody(url, CLOSED)).toEqual(CLOSED.map(() => 401));
    expect([await statusOf(url, "GET /v1/sessions"), await statusOf(url, "GET /metrics")]).toEqual([
      200, 200,
    ]);
    child?.kill("SIGKILL");
    const open = await serve("--open-loopback");
    expect(await asNobody(open, ["GET /v1/sessions", "GET /v1/backup"])).toEqual([200, 200]);
  },
);
