/** Tokens that were written to caches of an hour, through ingest: the session has their sum. */

import { appendFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { open } from "../index.ts";
import { CLAUDE_CODE } from "../ingest/claude-code/claude-code.ts";
import type { ImportedEntry, TranscriptSource } from "../ingest/source.ts";
import { HOUR_CACHE_KEY } from "../model/session.ts";
import { createMachine } from "./archive.cases.ts";
import { deriveAgain } from "./derive-again.ts";

const SESSION = "c1a0de00-0000-4000-8000-000000000001";
const MODEL = "claude-opus-4-8";

/** A line of the answer `id`, with the usage of all its lines. */
function answer(id: string, block: number, hour: number, five = 0): string {
  const usage = {
    input_tokens: 0,
    output_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: hour + five,
    cache_creation: { ephemeral_5m_input_tokens: five, ephemeral_1h_input_tokens: hour },
  };
  const content = [{ type: "text", text: `${id} ${block}` }];
  const message = { id, role: "assistant", model: MODEL, content, usage };
  const base = { sessionId: SESSION, cwd: "/srv/shop", timestamp: "2026-05-04T10:00:00.000Z" };
  return `${JSON.stringify({ ...base, type: "assistant", uuid: `${id}-${block}`, message })}\n`;
}

/** The reader of the first release, which did not tell these tokens. */
const OLD: TranscriptSource = {
  ...CLAUDE_CODE,
  version: 1,
  read(input) {
    const transcript = CLAUDE_CODE.read(input);
    const sessions = (async function* () {
      for await (const session of transcript.sessions) {
        const entries = (async function* (): AsyncGenerator<ImportedEntry> {
          for await (const entry of session.entries) {
            const { [HOUR_CACHE_KEY]: _, ...metadata } = entry.metadata;
            yield { ...entry, metadata };
          }
        })();
        yield { ...session, entries };
      }
    })();
    const { problems, state, isLost } = transcript;
    return {
      problems,
      sessions,
      ...(state === undefined ? {} : { state }),
      ...(isLost === undefined ? {} : { isLost }),
    };
  },
};

async function world() {
  const machine = createMachine();
  const file = machine.put(`.claude/projects/x/${SESSION}.jsonl`, "");
  const memory = await open(":memory:", { inThread: true });
  const run = (source: TranscriptSource = CLAUDE_CODE, force = false) =>
    machine.run(memory, { sources: [source], paths: [file], force });
  const cost = async () => {
    const { sessions, costs } = await memory.listSessions({ costs: true });
    const total = [...(costs?.values() ?? [])].reduce((sum, each) => sum + each, 0);
    return { total, hours: sessions[0]?.metadata[HOUR_CACHE_KEY] };
  };
  return { machine, memory, file, run, cost };
}

test("a file that grows inside an answer counts each answer once, at twice the input's price", async () => {
  const { memory, file, run, cost } = await world();
  writeFileSync(file, answer("a", 1, 1_000));
  await run();
  expect(await cost()).toEqual({ total: 10_000, hours: { [MODEL]: 1_000 } });
  appendFileSync(file, answer("a", 2, 1_000) + answer("b", 1, 300, 200));
  await run();
  // 1,300 × 10 + 200 × 6.25
  const all = { total: 14_250, hours: { [MODEL]: 1_300 } };
  expect(await cost()).toEqual(all);
  await run(CLAUDE_CODE, true);
  expect(await cost()).toEqual(all);
  await memory.close();
});

test("sessions of an earlier version get them when their file or its kept bytes are read again", async () => {
  for (const way of ["force", "again"]) {
    const { machine, memory, file, run, cost } = await world();
    writeFileSync(file, answer("a", 1, 1_000) + answer("b", 1, 300, 200));
    await run(OLD);
    expect(await cost()).toEqual({ total: 9_375, hours: undefined });
    const environment = {
      home: machine.home,
      variables: { WORKSTATION_ID: "w1" },
      platform: "linux",
    } as const;
    if (way === "force") await run(CLAUDE_CODE, true);
    else await deriveAgain(memory, { environment, sources: [CLAUDE_CODE] });
    expect(await cost(), way).toEqual({ total: 14_250, hours: { [MODEL]: 1_300 } });
    await memory.close();
  }
});

test("a fork has none of its own, and a remaining sum never exceeds what was written", async () => {
  const { memory, file, run } = await world();
  writeFileSync(file, answer("a", 1, 1_000));
  await run();
  const { sessions } = await memory.listSessions();
  const fork = await memory.session(sessions[0]?.id ?? "").fork({ createdBy: "ana" });
  const usage = { cacheCreationTokens: 100 };
  await fork.append({ role: "assistant", actor: "a", content: "x", model: MODEL, usage });
  const { total } = await memory.stats({ session: fork.id });
  expect(total.costMicroUsd).toBe(625);
  await memory.session(fork.id).update({ metadata: { [HOUR_CACHE_KEY]: { [MODEL]: 1_000_000 } } });
  expect((await memory.stats({ session: fork.id })).total.costMicroUsd).toBe(1_000);
  await memory.close();
});
