import { expect, test } from "vitest";
import type { TenantEngine } from "../engine/tenant-engine.ts";
import { SOURCES } from "../ingest/sources.ts";
import { textOf } from "../model/block.ts";
import { open } from "../open.ts";
import { createMachine } from "./archive.cases.ts";

const ID = "6a1c2f3e-0d4b-4c5a-9e8f-7b6a5c4d3e2f";
const sources = { sources: SOURCES };

/** What each session says, one after the other. */
async function allSaid(tenant: TenantEngine): Promise<string[][]> {
  const { sessions } = await tenant.listSessions();
  const said = sessions.map(async ({ id }) => {
    const { messages } = await tenant.listMessages(id, { limit: 100 });
    return messages.map(({ blocks }) => textOf(blocks).slice(0, 8));
  });
  return Promise.all(said);
}

const asLines = (...records: readonly object[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");

test("a line that was left out as too long keeps its number", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  const say = (role: string, text: string) => ({
    ...{ role, message: { content: [{ type: "text", text }] } },
  });
  machine.put(
    `.cursor/projects/p/agent-transcripts/${ID}/${ID}.jsonl`,
    asLines(say("user", "one"), say("user", "word ".repeat(300_000)), say("assistant", "three")),
  );
  await machine.run(engine, { ...sources, oversize: "skip" });
  expect(await allSaid(engine)).toEqual([["one", "three"]]);
  const { totals } = await machine.run(engine, { ...sources, force: true });
  // Only the line that was left out is new.
  expect(totals.entries).toBe(1);
  expect((await allSaid(engine))[0]?.toSorted()).toEqual(["one", "three", "word wor"]);
});
