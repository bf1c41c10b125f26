/**
 * Killed processes that write the same turns to the session of one key: each turn is stored once.
 */

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { open, textOf } from "../src/index.ts";
import { Child } from "./support/child.ts";
import { createFolder } from "./support/folder.ts";
import { createEmptyDatabase } from "./support/postgres.ts";
import { repeats } from "./support/repeats.ts";
import type { TurnTask } from "./support/turn-writer.ts";

const BACKENDS: readonly [string, () => Promise<string>][] = [
  ["SQLite", () => Promise.resolve(join(createFolder(), "turns.db"))],
  ["PostgreSQL", createEmptyDatabase],
];
/** Three entries each, so that one page holds all. */
const TURNS = repeats(12, 160);
const KEY = "project/a chat";

describe.each(BACKENDS)("on %s", (_, newAddress) => {
  test("several processes race for a key and its turns, and another continues after a kill", async () => {
    const address = await newAddress();
    const task = (ownKey: string): TurnTask => ({ address, key: KEY, ownKey, turns: TURNS });
    const children = ["one", "two", "three"].map((ownKey) => {
      const child = new Child("./turn-writer.ts");
      child.tell(task(ownKey));
      return child;
    });
    const [killed, ...others] = children;
    await killed?.until(1 + TURNS / 2);
    await killed?.kill();
    const last = new Child("./turn-writer.ts");
    last.tell(task("one"));
    const writers = [...others, last];
    for (const child of writers) await child.succeed();
    // All processes got the entries of the first writer of each turn.
    const [first] = writers;
    for (const child of writers) expect(child.lines).toEqual(first?.lines);

    await using engine = await open(address, { inThread: true });
    expect((await engine.listSessions({ keyPrefix: KEY })).sessions).toHaveLength(1);
    const { id = "" } = (await engine.findSessionByOrigin(KEY)) ?? {};
    const session = await engine.getSession(id);
    const { entries } = await session.listEntries({ tree: true, limit: 500 });
    const ids = entries.slice(0, 3 * TURNS).map(({ externalId }) => externalId);
    expect(ids).toEqual(
      Array.from({ length: TURNS }, (_, turn) =>
        ["question", "state", "draft"].map((part) => `turn ${turn}/${part}`),
      ).flat(),
    );
    expect(entries).toHaveLength(3 * TURNS);

    for (const key of ["one", "two", "three"]) {
      const own = await engine.findSessionByOrigin(key);
      const { messages } = await engine.listMessages(own?.id ?? "", { limit: 500 });
      expect(messages.map(({ blocks }) => textOf(blocks))).toEqual(
        Array.from({ length: TURNS }, (_, n) => [`question ${n} by own`, `answer ${n}`]).flat(),
      );
    }
    expect((await engine.verify()).problems).toEqual([]);
  });
});
