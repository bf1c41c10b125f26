import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { TenantEngine } from "../engine/tenant-engine.ts";
import { SOURCES } from "../ingest/sources.ts";
import { textOf } from "../model/block.ts";
import { open } from "../open.ts";
import { createMachine, type Machine } from "./archive.cases.ts";

const sources = { sources: SOURCES };

async function saidAfter(tenant: TenantEngine, machine: Machine): Promise<string[]> {
  await machine.run(tenant, sources);
  const [session] = (await tenant.listSessions()).sessions;
  const { messages } = await tenant.listMessages(session?.id ?? "", { limit: 100 });
  return messages.map(({ blocks }) => textOf(blocks));
}

test("a step added to a folder of crabtalk is read", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  const folder = ".crabtalk/sessions/s1";
  const say = (step: number, role: string, content: string) =>
    machine.put(`${folder}/step-00000${step}`, JSON.stringify({ role, content }));
  const agent = { agent: "a", created_by: "u", created_at: "2026-05-04T10:00:00Z" };
  machine.put(`${folder}/meta`, `${JSON.stringify(agent)}\n`);
  say(1, "user", "one");
  expect(await saidAfter(engine, machine)).toEqual(["one"]);
  expect((await machine.run(engine, sources)).totals.files.unchanged).toBe(1);
  say(2, "assistant", "two");
  expect(await saidAfter(engine, machine)).toEqual(["one", "two"]);
  // A file that is not a step changes nothing.
  machine.put(`${folder}/notes.txt`, "x");
  expect((await machine.run(engine, sources)).totals.files.unchanged).toBe(1);
});

test("a message in its own file is read once it is complete", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  const at = 1_770_000_000_000;
  const put = (path: string, value: object) =>
    machine.put(`.local/share/opencode/storage/${path}.json`, JSON.stringify(value));
  const say = (id: string, role: string, text: string, time: object) => {
    const part = { id: `prt_${id}`, messageID: id, sessionID: "ses_1", type: "text", text };
    put(`part/${id}/prt_${id}`, part);
    put(`message/ses_1/${id}`, { id, sessionID: "ses_1", role, time });
  };
  const session = { id: "ses_1", projectID: "p", directory: "/srv", version: "1", title: "t" };
  put("session/p/ses_1", { ...session, time: { created: at, updated: at } });
  say("msg_1", "user", "one", { created: at });
  expect(await saidAfter(engine, machine)).toEqual(["one"]);
  expect((await machine.run(engine, sources)).totals.files.unchanged).toBe(1);
  say("msg_2", "assistant", "tw", { created: at + 1 });
  expect(await saidAfter(engine, machine)).toEqual(["one"]);
  say("msg_2", "assistant", "two", { created: at + 1, completed: at + 2 });
  expect(await saidAfter(engine, machine)).toEqual(["one", "two"]);
  expect((await machine.run(engine, sources)).totals.files.unchanged).toBe(1);
});

test("a link out of the place is ignored", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  const storage = ".local/share/opencode/storage";
  const session = { id: "ses_1", projectID: "p", directory: "/srv", version: "1", title: "t" };
  machine.put(`${storage}/session/p/ses_1.json`, JSON.stringify(session));
  machine.put(`${storage}/message/other.json`, "{}");
  machine.put("outside/msg_1.json", "{}");
  symlinkSync(join(machine.home, "outside"), join(machine.home, storage, "message/ses_1"));
  await machine.run(engine, sources);
  machine.put("outside/msg_2.json", "{}");
  expect((await machine.run(engine, sources)).totals.files.unchanged).toBe(1);
});

test("a text that its source has shortened stays as it was stored", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  const put = (name: string, ...steps: (readonly [number, string])[]) => {
    const lines = steps.map(([number, content]) => {
      const source = number === 0 ? "USER_EXPLICIT" : "MODEL";
      const type = number === 0 ? "USER_INPUT" : "PLANNER_RESPONSE";
      const said = { step_index: number, source, type, status: "DONE", content };
      return JSON.stringify({ ...said, created_at: "2026-10-09T10:00:00Z" });
    });
    const folder = ".gemini/antigravity-cli/brain/c1/.system_generated/logs";
    machine.put(`${folder}/${name}`, `${lines.join("\n")}\n`);
  };
  put("transcript_full.jsonl", [0, "a long question"], [1, "an answer"]);
  expect(await saidAfter(engine, machine)).toEqual(["a long question", "an answer"]);
  put("transcript.jsonl", [0, "a long ques"], [1, "an answer"]);
  put("transcript_full.jsonl", [1, "an answer"], [2, "another"]);
  const after = ["a long question", "an answer", "another"];
  expect(await saidAfter(engine, machine)).toEqual(after);
});
