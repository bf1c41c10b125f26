/** One process behind all agents: real pipes, a real hub, and both killed. */

import { lstat, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCli } from "./support/cli.ts";
import { survivesKills } from "./support/hub-kills.ts";
import { kill, Machine, message } from "./support/hub-machine.ts";

let machine: Machine;
beforeAll(async () => {
  machine = await Machine.create();
});
afterAll(() => machine.end());

test("one process, which only its owner can reach, serves all agents of a store", async () => {
  const agents = await Promise.all([1, 2, 3].map(() => machine.start().begin()));
  const answers = await Promise.all(
    agents.map((agent, i) => agent.call("append_message", message(`together ${i}`))),
  );
  expect(answers.map(({ result }) => result?.isError ?? false)).toEqual([false, false, false]);
  expect(await machine.hubs()).toHaveLength(1);
  const run = join(dirname(machine.db), ".backscroll", "run");
  const socket = (await readdir(run)).find((name) => name.endsWith(".sock")) ?? "";
  expect((await lstat(join(run, socket))).mode & 0o777).toBe(0o600);
  expect((await lstat(run)).mode & 0o777).toBe(0o700);
  await Promise.all(agents.map((agent) => agent.end()));
  expect((await machine.stored()).sort()).toEqual(["together 0", "together 1", "together 2"]);
});

test("a call in flight is answered by a new process, and a write is neither lost nor repeated", async () => {
  await survivesKills(machine, 4);
});

test("an agent is heard that spoke to a process which died before it read on", async () => {
  const agent = await machine.start().begin();
  const [hub = 0] = await machine.hubs();
  process.kill(hub, "SIGSTOP");
  // More than the socket holds: the pipe waits until the process reads on, which it never does. What
  // needs no answer is not said again to the next one.
  agent.tell({ method: "notifications/progress", params: { message: "a".repeat(2_000_000) } });
  await pause(300);
  kill(hub);
  const { result } = await agent.call("search_sessions", { query: "together" });
  expect(result?.isError ?? false).toBe(false);
  await agent.end();
});

test("each agent has the tools of its own options", async () => {
  const list = async (...args: string[]) => {
    const agent = await machine.start(...args).begin();
    const { result } = (await agent.ask("tools/list", {})) as unknown as {
      result: { tools: { name: string }[] };
    };
    await agent.end();
    return result.tools.map(({ name }) => name);
  };
  const [few, all] = await Promise.all([list(), list("--all-tools")]);
  expect(few).toHaveLength(7);
  expect(few[0]).toBe("search_past_conversations");
  expect(all).toHaveLength(13);
  expect(all).toContain("append_message");
  expect(await machine.hubs()).toHaveLength(1);
});

test("an agent that is killed disturbs no other", async () => {
  const [one, other] = await Promise.all([machine.start().begin(), machine.start().begin()]);
  one.process.kill("SIGKILL");
  const { result } = await other.call("search_sessions", { query: "together" });
  expect(result?.content?.[0]?.text).toContain("together 1");
  await other.end();
});

test("the process ends after the last agent", async () => {
  await expect.poll(() => machine.hubs(), { timeout: 20_000, interval: 200 }).toEqual([]);
});

test("a store that does not open is told as without the process", async () => {
  const { code, stderr } = await runCli(["mcp", "--db", "/dev/null/x.db"], {
    env: { HOME: dirname(machine.db) },
  });
  expect(stderr).toContain("/dev/null/x.db");
  expect(code).not.toBe(0);
});
