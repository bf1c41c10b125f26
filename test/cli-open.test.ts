/** `backscroll open`: shows a search or a session in a browser. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { browserCommand } from "../src/cli/commands/serve/open.ts";
import { open } from "../src/index.ts";
import { openServer } from "../src/server/serve.ts";
import { callCli, environmentOf, ROOT } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";

test("open prints the address of the running server's page, a search or a session", async () => {
  const db = join(createFolder(), "store.db");
  await using memory = await open(db);
  const session = await memory.createSession({ agent: "coder", createdBy: "ana", id: "a:b" });
  const server = await openServer(memory, { version: "0.0.0", port: 0 });
  const asked = async (...words: string[]) => {
    const options = ["--db", db, "--port", String(server.port), "--no-browser"];
    const { stdout, code } = await callCli(["open", ...words, ...options]);
    expect(code).toBe(0);
    return stdout.trim();
  };
  try {
    expect(await asked()).toBe(`${server.url}/`);
    expect(await asked(session.id)).toBe(`${server.url}/#/session/a%3Ab`);
    const entry = await session.append({ role: "user", content: "Hello." });
    expect(await asked(`${session.id}#0`)).toBe(`${server.url}/#/session/a%3Ab?m=${entry.id}`);
    expect(await asked("why", "is", "C&A")).toBe(`${server.url}/#/?q=why+is+C%26A`);
    expect(await asked("nobody")).toBe(`${server.url}/#/?q=nobody`);
    // The same over the network.
    const far = await callCli(["open", "nobody", "--db", server.url, "--no-browser", "--json"]);
    expect(JSON.parse(far.stdout)).toEqual({ url: `${server.url}/#/?q=nobody`, started: false });
  } finally {
    await server.stop();
  }
});

test("open starts a server if none runs, and passes its address to the browser", async () => {
  const folder = createFolder();
  const [browser, seen] = [join(folder, "browser"), join(folder, "seen")];
  writeFileSync(
    browser,
    `#!/bin/sh\nprintf %s "$1" > '${seen}.part' && mv '${seen}.part' '${seen}'\n`,
  );
  chmodSync(browser, 0o755);
  const words = ["open", "cron lock", "--db", join(folder, "store.db"), "--port", "0", "--json"];
  const child = spawn(process.execPath, [join(ROOT, "bin/backscroll.js"), ...words], {
    env: environmentOf({ BROWSER: browser }),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  try {
    const [line] = await once(child.stdout.setEncoding("utf8"), "data");
    const { url, started } = JSON.parse(String(line)) as { url: string; started: boolean };
    expect(started).toBe(true);
    await expect.poll(() => existsSync(seen)).toBe(true);
    expect(readFileSync(seen, "utf8")).toBe(url);
    expect(new URL(url).hash).toBe("#/?q=cron+lock");
    expect((await fetch(new URL("/healthz", url))).status).toBe(200);
  } finally {
    child.kill("SIGTERM");
  }
  expect(await ended).toEqual([0, null]);
});

test("the browser is the configured one, else the system's, else none", () => {
  expect(browserCommand("linux", { BROWSER: "firefox" })).toEqual(["firefox"]);
  expect(browserCommand("linux", { DISPLAY: ":0" })).toEqual(["xdg-open"]);
  expect(browserCommand("linux", {})).toBeUndefined();
  expect(browserCommand("darwin", {})).toEqual(["open"]);
  expect(browserCommand("win32", {})).toEqual(["cmd", "/c", "start", ""]);
});
