/** A session in several files, a changed line and a re-import: the same on both databases. */

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createMachine } from "../src/archive/archive.cases.ts";
import { CLAUDE_CODE } from "../src/ingest/claude-code/claude-code.ts";
import { textOf } from "../src/model/block.ts";
import { open } from "../src/open.ts";
import { createFolder } from "./support/folder.ts";
import { createDatabase } from "./support/postgres.ts";

const SOURCES = { sources: [CLAUDE_CODE] };

function line(uuid: string, parentUuid: string | null, minute: number, text = uuid): string {
  const message = { role: "user", content: text };
  const timestamp = new Date(Date.UTC(2026, 4, 4, 10, minute)).toISOString();
  const place = { sessionId: "s", cwd: "/srv/shop", timestamp };
  return `${JSON.stringify({ type: "user", uuid, parentUuid, message, ...place })}\n`;
}

describe.each([
  ["SQLite", async () => join(createFolder(), "store.db")],
  ["PostgreSQL", createDatabase],
])("on %s", (_, create) => {
  test("a late earlier file is imported before the others, under the same ids", async () => {
    await using engine = await open(await create());
    const machine = createMachine();
    const folder = ".claude/projects/-srv-shop";
    machine.put(`${folder}/late.jsonl`, line("c", null, 10) + line("d", "c", 11));
    await machine.run(engine, SOURCES);
    const [before] = (await engine.listSessions()).sessions;
    const path = async () => {
      const { messages } = await engine.listMessages(before?.id ?? "", { limit: 50 });
      return messages.map(({ id, blocks }) => ({ id, text: textOf(blocks) }));
    };
    const [, last] = await path();
    machine.put(`${folder}/early.jsonl`, line("a", null, 0) + line("b", "a", 1));
    await machine.run(engine, SOURCES);
    expect((await path()).map(({ text }) => text)).toEqual(["a", "b", "c", "d"]);
    expect((await path()).at(-1)).toEqual(last);
    const [after] = (await engine.listSessions()).sessions;
    expect(after).toMatchObject({ id: before?.id, createdAt: Date.UTC(2026, 4, 4, 10) });
    const { changes } = await engine.listChanges({ limit: 500 });
    expect(changes.filter(({ kind }) => kind === "session_deleted")).toHaveLength(1);
    // A changed last line is the leaf.
    machine.put(`${folder}/late.jsonl`, line("c", null, 10) + line("d", "c", 11, "other"));
    await machine.run(engine, { ...SOURCES, force: true });
    expect((await path()).map(({ text }) => text)).toEqual(["a", "b", "c", "other"]);
    expect((await engine.verify()).problems).toEqual([]);
    const { hits } = await engine.searchSessions("other");
    expect(hits).toHaveLength(1);
  });
});
