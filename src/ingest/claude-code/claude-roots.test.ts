import { expect, test } from "vitest";
import { importText } from "../../../test/support/transcripts.ts";
import { textOf } from "../../model/block.ts";
import { open } from "../../open.ts";

const ID = "6b1b2c3d-0d4b-4c5a-9e8f-7b6a5c4d3e2f";

function said(uuid: string, parentUuid: string | null, text: string, more: object = {}): string {
  const type = uuid.startsWith("a") ? "assistant" : "user";
  const message = { role: type, ...(type === "user" ? {} : { id: uuid }), content: text };
  const fields = { sessionId: ID, timestamp: "2026-05-04T10:00:00.000Z", ...more };
  return JSON.stringify({ type, uuid, parentUuid, message, ...fields });
}

async function path(...lines: readonly string[]): Promise<string[]> {
  await using engine = await open(":memory:");
  const { handle } = await importText(engine, lines.join("\n"), { path: `/p/${ID}.jsonl` });
  const { messages } = await handle.listMessages({ limit: 500 });
  return messages.map(({ blocks }) => textOf(blocks));
}

test("a later root, as after plan mode, continues the conversation", async () => {
  const hook = { type: "progress", uuid: "p1", parentUuid: null, sessionId: ID };
  const plan = [said("u1", null, "plan it"), said("a1", "u1", "planningword")];
  expect(await path(...plan, said("u2", null, "Implement the following plan:"))).toEqual([
    "plan it",
    "planningword",
    "Implement the following plan:",
  ]);
  const hooked = [JSON.stringify(hook), said("u2", "p1", "Implement the following plan:")];
  expect(await path(...plan, ...hooked)).toEqual([
    "plan it",
    "planningword",
    "Implement the following plan:",
  ]);
});

test("messages abandoned by going back are a branch, also at the very start", async () => {
  const hook = JSON.stringify({ type: "progress", uuid: "p0", parentUuid: null, sessionId: ID });
  expect(
    await path(hook, said("u1", "p0", "first"), said("a1", "u1", "one"), said("u2", "p0", "again")),
  ).toEqual(["again"]);
  expect(
    await path(said("u1", null, "first"), said("a1", "u1", "one"), said("u2", "u1", "again")),
  ).toEqual(["first", "again"]);
});

test("an answer of Claude Code itself leaves no branch behind", async () => {
  const exit = said("u2", "a1", "<command-name>/exit</command-name>");
  const synthetic = JSON.stringify({
    type: "assistant",
    uuid: "a2",
    parentUuid: "a1",
    sessionId: ID,
    message: {
      role: "assistant",
      id: "m2",
      model: "<synthetic>",
      content: [{ type: "text", text: "No response requested." }],
    },
  });
  const begin = [said("u1", null, "first"), said("a1", "u1", "one")];
  expect(await path(...begin, exit, synthetic, said("u3", "a2", "next"))).toEqual([
    "first",
    "one",
    "<command-name>/exit</command-name>",
    "No response requested.",
    "next",
  ]);
});

test("roots of sidechains stay sub-agents", async () => {
  const aside = { isSidechain: true };
  expect(
    await path(
      said("u1", null, "first"),
      said("u2", null, "Warmup", aside),
      said("a2", "u2", "ready", aside),
      said("u3", null, "look", aside),
      said("a3", "u3", "found", aside),
      said("a1", "u1", "one"),
    ),
  ).toEqual(["first", "one"]);
});
