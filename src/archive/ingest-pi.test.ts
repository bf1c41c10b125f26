import { appendFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { TenantEngine } from "../engine/tenant-engine.ts";
import { textOf } from "../model/block.ts";
import { open } from "../open.ts";
import { createMachine } from "./archive.cases.ts";

const HEADER = { type: "session", version: 3, id: "s1", timestamp: at(0), cwd: "/srv/shop" };

function at(second: number): string {
  return new Date(Date.UTC(2026, 4, 4, 10) + second * 1000).toISOString();
}

function said(id: string, parentId: string | null, text: string): object {
  const message = { role: "user", content: [{ type: "text", text }] };
  return { type: "message", id, parentId, timestamp: at(1), message };
}

function lines(...records: readonly object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

async function path(tenant: TenantEngine): Promise<string[]> {
  const { sessions } = await tenant.listSessions({});
  const { messages } = await tenant.listMessages(sessions[0]?.id ?? "", { limit: 500 });
  return messages.map(({ blocks }) => textOf(blocks));
}

test("a grown file of pi is resumed where the last reading ended", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  const file = machine.put("pi/a.jsonl", lines(HEADER, said("a", null, "one")));
  await machine.run(engine);
  // A label hangs on the first message, and the next message on the label.
  const label = { type: "label", id: "l", parentId: "a", targetId: "a", label: "start" };
  appendFileSync(file, lines({ ...label, timestamp: at(2) }, said("b", "l", "two")));
  expect((await machine.run(engine)).totals).toMatchObject({
    grown: 1,
    entries: 2,
    files: { continued: 1 },
  });
  appendFileSync(file, lines(said("c", "a", "three")));
  expect((await machine.run(engine)).totals.files.continued).toBe(1);
  expect(await path(engine)).toEqual(["one", "three"]);
  expect((await machine.run(engine, { force: true })).totals).toMatchObject({ entries: 0 });
});

test("a file of pi that refers far back is read whole", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  const many = Array.from({ length: 400 }, (_, i) =>
    said(`m${i}`, i === 0 ? null : `m${i - 1}`, `message ${i}`),
  );
  const file = machine.put("pi/a.jsonl", lines(HEADER, ...many));
  await machine.run(engine);
  appendFileSync(file, lines(said("x", "m399", "goes on"), said("y", "m2", "goes back")));
  const { outcomes, totals } = await machine.run(engine);
  expect(outcomes.map(({ how }) => how)).toEqual(["read"]);
  // Entries stored before that are reported with the rest.
  expect(totals).toMatchObject({ grown: 1, entries: 2, problems: new Map() });
  expect(outcomes[0]?.sessions).toMatchObject([{ entries: 2, skipped: 400 }]);
  expect(await path(engine)).toEqual(["message 0", "message 1", "message 2", "goes back"]);
});

test("costs that the source reports are summed, and reported for the part that grew", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  const answer = (id: string, parentId: string, total: number) => ({
    type: "message",
    id,
    parentId,
    timestamp: at(3),
    message: {
      role: "assistant",
      content: [{ type: "text", text: "Done." }],
      model: "example-1",
      usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, cost: { total } },
    },
  });
  const file = machine.put(
    "pi/a.jsonl",
    lines(HEADER, said("a", null, "one"), answer("b", "a", 0.25)),
  );
  const cost = async () => (await engine.listSessions({})).sessions[0]?.figures?.costUsd;
  await machine.run(engine);
  expect(await cost()).toBe(0.25);
  appendFileSync(file, lines(answer("c", "b", 0.5)));
  await machine.run(engine);
  expect(await cost()).toBe(0.75);
  await machine.run(engine, { force: true });
  expect(await cost()).toBe(0.75);
});

test("many files of one session, read concurrently, are one session with all entries", async () => {
  await using engine = await open(":memory:");
  const machine = createMachine();
  for (let i = 0; i < 12; i++) {
    machine.put(`pi/${i}.jsonl`, lines(HEADER, said(`m${i}`, null, `part ${i}`)));
  }
  const { totals } = await machine.run(engine);
  expect(totals).toMatchObject({ created: 1, entries: 12 });
  expect((await engine.verify()).problems).toEqual([]);
});
