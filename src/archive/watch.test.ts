import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { TenantEngine } from "../engine/tenant-engine.ts";
import { CRABTALK } from "../ingest/crabtalk/crabtalk.ts";
import { OPENCODE_FILES } from "../ingest/opencode/opencode.ts";
import type { TranscriptSource } from "../ingest/source.ts";
import { open } from "../open.ts";
import { createMachine, type Machine, NOTES, notes } from "./archive.cases.ts";
import { waitAfter, watchPlaces } from "./watch.ts";

/** Watches until the test is over. Resolves when everything present is ingested. */
async function start(
  tenant: TenantEngine,
  machine: Machine,
  reconcileMs = 60_000,
  sources: readonly TranscriptSource[] = [NOTES],
) {
  const end = new AbortController();
  const outcomes: string[] = [];
  let done: Promise<void> = Promise.resolve();
  const folders = await new Promise<number>((resolve, reject) => {
    done = watchPlaces(tenant, {
      environment: { home: machine.home, variables: { WORKSTATION_ID: "w1" }, platform: "linux" },
      sources,
      signal: end.signal,
      onReady: resolve,
      reconcileMs,
      onOutcome: ({ how }) => outcomes.push(how),
    });
    done.catch(reject);
  });
  const stop = async () => {
    end.abort();
    await done;
  };
  return { folders, outcomes, stop, [Symbol.asyncDispose]: stop };
}

/** Waits until `text` is found. */
async function found(tenant: TenantEngine, text: string): Promise<void> {
  const hits = async () => (await tenant.searchSessions(text)).hits.length;
  await expect.poll(hits, { interval: 20 }).toBeGreaterThan(0);
}

const line = (text: string) => `${JSON.stringify({ note: text, text })}\n`;

test("a line is found once the system reports its write", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  const file = machine.put("notes/project/a.jsonl", notes("first"));
  await using watching = await start(engine, machine);
  await found(engine, "first");
  appendFileSync(file, line("platypus"));
  await found(engine, "platypus");
  await watching.stop();
  expect(watching.outcomes).toEqual(["read", "continued"]);
});

test("new files and folders are followed too", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  mkdirSync(join(machine.home, "notes"));
  await using _watching = await start(engine, machine);
  const file = machine.put("notes/new/deep/b.jsonl", notes({ text: "wombat", session: "b" }));
  await found(engine, "wombat");
  appendFileSync(file, line("quokka"));
  await found(engine, "quokka");
});

test("a full scan finds changes that the file system did not report", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  // The place does not exist yet, so it cannot be watched.
  await using watching = await start(engine, machine, 100);
  expect(watching.folders).toBe(0);
  machine.put("notes/a.jsonl", notes("numbat"));
  await found(engine, "numbat");
});

test("the time of ingesting does not count as scanning", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  machine.put("notes/a.jsonl", notes("kakapo"));
  const slow: TranscriptSource = {
    ...NOTES,
    read(input) {
      const transcript = NOTES.read(input);
      async function* sessions() {
        await new Promise((resolve) => setTimeout(resolve, 500));
        yield* transcript.sessions;
      }
      return { ...transcript, sessions: sessions() };
    },
  };
  let looked = 0;
  const onLooked = (ms: number) => {
    looked += ms;
  };
  const started = performance.now();
  const { totals } = await machine.run(engine, { sources: [slow], onLooked });
  const took = performance.now() - started;
  expect(totals.entries).toBe(1);
  expect(looked).toBeGreaterThan(0);
  // The 500 ms of reading are in one and not in the other; a timer may be a millisecond early.
  expect(looked).toBeLessThan(took - 498);
});

test("scanning takes 1 % of the time, with intervals of at most five minutes", () => {
  expect(waitAfter(2, 30_000)).toBe(30_000);
  expect(waitAfter(1_000, 30_000)).toBe(100_000);
  expect(waitAfter(60_000, 30_000)).toBe(300_000);
  expect(waitAfter(60_000, 900_000)).toBe(900_000);
});

test("a step in its own file is found too", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  const agent = { agent: "a", created_by: "u", created_at: "2026-05-04T10:00:00Z" };
  const folder = ".crabtalk/sessions/s1";
  machine.put(`${folder}/meta`, JSON.stringify(agent));
  machine.put(`${folder}/step-000001`, JSON.stringify({ role: "user", content: "echidna" }));
  const storage = ".local/share/opencode/storage";
  const time = { created: 1_770_000_000_000 };
  const session = { id: "ses_1", projectID: "p", directory: "/srv", version: "1", time };
  machine.put(`${storage}/session/p/ses_1.json`, JSON.stringify(session));
  await using _watching = await start(engine, machine, 60_000, [CRABTALK, OPENCODE_FILES]);
  await found(engine, "echidna");
  machine.put(`${folder}/step-000002`, JSON.stringify({ role: "assistant", content: "potoroo" }));
  await found(engine, "potoroo");
  const part = { id: "prt_1", messageID: "msg_1", type: "text", text: "bandicoot" };
  machine.put(`${storage}/part/msg_1/prt_1.json`, JSON.stringify(part));
  const message = { id: "msg_1", sessionID: "ses_1", role: "user", time };
  machine.put(`${storage}/message/ses_1/msg_1.json`, JSON.stringify(message));
  // The folder of messages did not exist to be watched; its parent reports it.
  await found(engine, "bandicoot");
});

test("the session of a deleted file stays, without an error", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  const file = machine.put("notes/a.jsonl", notes("bilby"));
  await using watching = await start(engine, machine);
  rmSync(file);
  machine.put("notes/b.jsonl", notes({ text: "dugong", session: "b" }));
  await found(engine, "dugong");
  await watching.stop();
  await found(engine, "bilby");
});

test("a new agent's folder is noticed within seconds, long before the next scan", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  await using watching = await start(engine, machine, 600_000);
  expect(watching.folders).toBe(0);
  machine.put("notes/a.jsonl", notes("numbat"));
  await found(engine, "numbat");
});
