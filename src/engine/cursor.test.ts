import { expect, test } from "vitest";
import { open } from "../open.ts";
import { formatPageCursor, parsePageCursor } from "./cursor.ts";

test("a cursor round-trips", () => {
  for (const position of [
    { lastInteractionAt: 0, number: 1 },
    { lastInteractionAt: 1_790_000_000_000, number: 100_000 },
  ]) {
    expect(parsePageCursor(formatPageCursor(position))).toEqual(position);
  }
});

test("other texts are refused", async () => {
  await using engine = await open(":memory:");
  const cursors = ["", "x", "czE6MQ", formatPageCursor({ lastInteractionAt: -1, number: 1 })];
  for (const cursor of cursors) {
    const call = engine.listSessions({ cursor });
    await expect(call, cursor).rejects.toMatchObject({ code: "invalid_cursor" });
  }
});

test("pages go through all sessions once, while sessions move and are added", async () => {
  await using engine = await open(":memory:");
  const first = Date.UTC(2026, 0, 1);
  for (let i = 0; i < 25; i++) {
    const startedAt = first + Math.floor(i / 3) * 1_000;
    await engine.createSession({ id: `s${i}`, agent: "test", createdBy: "test", startedAt });
  }
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await engine.listSessions({
      limit: 4,
      ...(cursor === undefined ? {} : { cursor }),
    });
    seen.push(...page.sessions.map((session) => session.id));
    cursor = page.nextCursor;
    // New sessions and new input go to the front, behind the reader.
    await engine.createSession({ agent: "test", createdBy: "test" });
  } while (cursor !== undefined);
  expect(seen).toEqual(Array.from({ length: 25 }, (_, i) => `s${24 - i}`));
});
