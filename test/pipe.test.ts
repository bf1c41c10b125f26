/** What an agent gets from its pipe when the process behind it misbehaves. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { ROOT } from "./support/cli.ts";
import { type Agent, kill, Machine } from "./support/hub-machine.ts";

let machine: Machine | undefined;
afterEach(() => machine?.end());

/** An agent at a fake hub, and what the hub prints. */
async function atFakeHub(how: "drops" | "moves"): Promise<{ agent: Agent; printed: Readable }> {
  machine = await Machine.create();
  const hub = spawn(process.execPath, [join(ROOT, "test/support/fake-hub.ts"), how], {
    env: machine.env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void hub.kill("SIGKILL"));
  await once(hub.stdout, "data");
  return { agent: await machine.start().begin(), printed: hub.stdout };
}

test("a call that ends each process is refused after some of them, and later ones are answered", async () => {
  const { agent } = await atFakeHub("drops");
  const { error } = await agent.call("one", {});
  expect(error).toMatchObject({ message: expect.stringContaining("it is not repeated") });
  const { result } = await agent.call("two", {});
  expect(result?.content).toEqual([{ text: "asked 8" }]);
});

test("a call that is cancelled while another process takes over holds up no later one", async () => {
  const { agent, printed } = await atFakeHub("moves");
  const isAsked = once(printed, "data");
  void agent.call("one", {});
  await isAsked;
  agent.tell({ method: "notifications/cancelled", params: { requestId: 1 } });
  expect((await agent.call("two", {})).result?.content).toEqual([{ text: "asked 1" }]);
});

test("a message over the limit is refused, and later ones are answered", async () => {
  const { agent } = await atFakeHub("moves");
  const { error } = await agent.ask("tools/call", { text: "a".repeat(10 * 1024 * 1024) });
  expect(error).toMatchObject({ message: expect.stringContaining("10485760 bytes") });
  expect((await agent.call("two", {})).result?.content).toHaveLength(1);
});

test("an agent whose store no longer opens sees the end of its server", async () => {
  machine = await Machine.create();
  const agent = await machine.start().begin();
  await writeFile(machine.db, "no database at all");
  await chmod(machine.db, 0o600);
  for (const pid of await machine.servers()) kill(pid);
  if (agent.process.exitCode === null) await once(agent.process, "exit");
  expect(agent.process.exitCode).not.toBe(0);
});
