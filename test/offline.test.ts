/**
 * Nothing leaves the machine: a day with Backscroll in a network namespace without another machine.
 * Two witnesses: each process logs what it connects to or looks up, and the kernel counts packets
 * without a route, whoever sends them. Both must see the attempts that end the day.
 */

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeTurn } from "./support/claude-transcript.ts";
import { environmentOf, run } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";

const UP = "ip link set lo up";

/** Why there can be no namespace here; undefined: there can. */
function obstacle(): string | undefined {
  if (process.platform !== "linux") return "network namespaces are Linux's";
  const tried = spawnSync("unshare", ["-rn", "sh", "-c", UP], { encoding: "utf8" });
  if (tried.status === 0) return undefined;
  return `unshare -rn failed: ${tried.error?.message ?? tried.stderr.trim()}`;
}

test("set-up, ingest, search, hooks, MCP, the server and its page connect to nothing outside", async ({
  skip,
}) => {
  const reason = obstacle();
  if (reason !== undefined) {
    process.stderr.write(`The test without a network is skipped: ${reason}\n`);
    skip(reason);
  }
  const home = createFolder();
  mkdirSync(join(home, ".claude"));
  const cwd = join(home, "shop");
  mkdirSync(cwd);
  writeTurn(home, { id: "5f0c2a91", cwd, text: "Why is the lock gone?" });
  const log = join(home, "connections");
  const support = join(import.meta.dirname, "support");
  const words = [
    process.execPath,
    join(support, "offline-day.ts"),
    home,
    join(support, "connection-recorder.mjs"),
    log,
  ];
  const day = await run("unshare", ["-rn", "sh", "-c", `${UP} && exec "$@"`, "sh", ...words], {
    env: environmentOf({ HOME: home }),
  });
  expect([day.code, day.stderr]).toEqual([0, ""]);
  const { before, after, control, assets, servers, url } = JSON.parse(day.stdout);
  expect(after).toBe(before);
  expect(control).toBeGreaterThan(after);
  expect(assets).toBeGreaterThan(0);
  expect(servers).toEqual([{ url, reachable: false }]);

  const seen = readFileSync(log, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { readonly kind: string; readonly target: string });
  const outside = seen.filter(
    ({ target }) => !/^(?:127\.0\.0\.1|::1|localhost|\/.*)$/.test(target),
  );
  const targets = new Set(outside.map(({ target }) => target));
  expect(targets).toEqual(new Set(["192.0.2.1", "192.0.2.2", "backscroll.example"]));
});
