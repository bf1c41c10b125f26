import { appendFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CLAUDE_CODE } from "../ingest/claude-code/claude-code.ts";
import type { ImportedEntry } from "../ingest/source.ts";
import { open } from "../open.ts";
import { createMachine } from "./archive.cases.ts";
import { SessionFigures } from "./session-figures.ts";

async function titleOf(...requests: readonly string[]): Promise<string | undefined> {
  const figures = new SessionFigures();
  const entries = requests.map(
    (text, i): ImportedEntry => ({
      sourceId: String(i),
      kind: "message",
      role: "user",
      actor: null,
      data: null,
      blocks: [{ type: "text", text }],
      usage: null,
      model: null,
      createdAt: i,
      metadata: {},
    }),
  );
  async function* all() {
    yield* entries;
  }
  for await (const _ of figures.watch(all()));
  const nothing = { title: "", metadata: {} };
  return figures.describe(nothing, null, { mtime: 0, isAdded: false }).title;
}

describe("a derived title is the first line of the first request", () => {
  test.each([
    ["without later lines", "Fix the invoice parser\nand then the rest", "Fix the invoice parser"],
    ["with white space collapsed", "\n\n   Fix \t the\u00A0parser  \n", "Fix the parser"],
    ["with unstorable characters replaced", "Fix\u0000the parser \uD800", "Fix the parser \uFFFD"],
  ])("%s", async (_what, request, title) => {
    expect(await titleOf(request, "Something else")).toBe(title);
  });

  test("with any number of spaces collapsed", async () => {
    for (const spaces of [490, 498, 499, 500, 3_000]) {
      expect(await titleOf(`Fix${" ".repeat(spaces)}😀 parser`)).toBe("Fix 😀 parser");
    }
  });

  test("cut between words", async () => {
    const words = Array(15).fill("word").join(" ");
    expect(await titleOf("word ".repeat(200_000))).toBe(`${words}…`);
  });

  test("cut inside a word that exceeds the limit", async () => {
    expect(await titleOf("x".repeat(1_000_000))).toBe(`${"x".repeat(79)}…`);
  });

  test("without injected text", async () => {
    expect(await titleOf("<system-reminder>Be kind.</system-reminder>", "Fix the parser")).toBe(
      "Fix the parser",
    );
    expect(await titleOf("<system-reminder>Be kind.</system-reminder>")).toBeUndefined();
  });
});

describe("machine-made sessions", () => {
  const TIME = { timestamp: "2026-05-04T10:00:00.000Z", cwd: "/srv/shop" };
  const asked = (uuid: string, parentUuid: string | null, content: string) =>
    `${JSON.stringify({ ...TIME, type: "user", uuid, parentUuid, sessionId: "s", message: { role: "user", content } })}\n`;

  test.each([
    ["Warmup", true],
    ["Context: This summary will be shown in a list to help users and Claude choose which", true],
    ["Warmup the cache before the test", false],
  ])("%s", async (text, isMade) => {
    await using engine = await open(":memory:");
    const machine = createMachine();
    const sources = { sources: [CLAUDE_CODE] };
    const file = machine.put(".claude/projects/p/s.jsonl", asked("a", null, text));
    await machine.run(engine, sources);
    const marks = async () =>
      (await engine.listSessions({ machineMade: true })).sessions.map(
        ({ metadata }) => metadata["machineMade"],
      );
    expect(await marks()).toEqual([isMade ? true : undefined]);
    // Messages were appended here.
    appendFileSync(file, asked("b", "a", "And now fix the cron job"));
    await machine.run(engine, sources);
    expect(await marks()).toEqual([undefined]);
    await machine.run(engine, { ...sources, force: true });
    expect(await marks()).toEqual([undefined]);
  });
});
