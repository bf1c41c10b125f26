import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../../test/support/cli.ts";
import { open } from "../open.ts";
import { createMachine } from "./archive.cases.ts";
import { indexAll, indexFile, parseSessionFile } from "./parse-session-file.ts";

const PI = join(ROOT, "test/fixtures/pi/version-3.jsonl");

describe("parseSessionFile", () => {
  test("gives the session's exchanges, tools and times, and stores nothing", async () => {
    const meta = await parseSessionFile(PI);
    expect(meta).toMatchObject({
      sessionId: "6a1c2f3e-0d4b-4c5a-9e8f-7b6a5c4d3e2f",
      projectPath: "/srv/shop",
      firstMsgAt: expect.any(Number),
      lastMsgAt: expect.any(Number),
    });
    expect(meta.exchangeCount).toBe(meta.exchanges.length);
    expect(meta.exchanges[0]).toMatchObject({
      user: "Why does the cron job run twice?",
      assistant: expect.stringContaining("I look."),
    });
  });

  test("an empty file has no exchanges, and its id from its name", async () => {
    const id = "6a1c2f3e-0d4b-4c5a-9e8f-7b6a5c4d3e2f";
    const file = createMachine().put(`${id}.jsonl`, "");
    expect(await parseSessionFile(file)).toMatchObject({
      sessionId: id,
      projectPath: "",
      exchangeCount: 0,
      exchanges: [],
      toolCounts: {},
    });
  });

  test("a file of no known format is refused", async () => {
    const file = createMachine().put("notes.txt", "nothing of the kind\n");
    await expect(parseSessionFile(file)).rejects.toMatchObject({ code: "unknown_format" });
  });
});

test("indexFile and indexAll are aliases of ingest", async () => {
  await using engine = await open(":memory:");
  const { home } = createMachine();
  const environment = { home, variables: { WORKSTATION_ID: "w" }, platform: "linux" };
  const { totals } = await indexFile(engine, PI, { environment });
  expect(totals).toMatchObject({ created: 1, entries: 16 });
  expect((await indexAll(engine, { environment })).totals.found).toBe(0);
});
