/**
 * Facts of one session extracted concurrently by two programs: each is stored once, on both
 * databases.
 */

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { open } from "../src/index.ts";
import type { FactExtractor } from "../src/models.ts";
import { removeFolder } from "./support/folder.ts";
import { createDatabase } from "./support/postgres.ts";

const folder = mkdtempSync(join(tmpdir(), "backscroll-race-"));
afterAll(() => removeFolder(folder));

/** A barrier: both extractors have read before either answers. */
function pair(objects: readonly [string, string]): FactExtractor[] {
  let reading = 0;
  let release = () => {};
  const bothRead = new Promise<void>((resolve) => {
    release = resolve;
  });
  return objects.map((object) => ({
    name: "scripted",
    extract: async ({ entries }) => {
      if (++reading === 2) release();
      await bothRead;
      const entryId = entries[0]?.id ?? null;
      const tea = { subject: "Ana", predicate: "drinks", object: "tea", entryId };
      return { facts: [tea, { ...tea, predicate: "lives in", object }], unread: 0 };
    },
  }));
}

test.each([
  ["SQLite", async () => join(folder, "race.db")],
  ["PostgreSQL", createDatabase],
] as const)("on %s", async (_, address) => {
  const place = await address();
  // Like two processes, two stores in one process share only the database.
  await using one = await open(place);
  await using two = await open(place);
  for (let round = 0; round < 8; round++) {
    const metadata = { facts: { enabled: true } };
    const session = await one.createSession({ agent: "coder", createdBy: "ana", metadata });
    await session.append({ role: "user", actor: "ana", content: "I drink tea." });
    const [first, second] = pair(["Rome", "Oslo"]);
    const other = await two.getSession(session.id);
    await Promise.all([
      session.extractFacts(undefined, first === undefined ? {} : { extractor: first }),
      other.extractFacts(undefined, second === undefined ? {} : { extractor: second }),
    ]);
    const held = (await session.listFacts()).map(({ predicate }) => predicate);
    expect(held.toSorted()).toEqual(["drinks", "lives in"]);
    const all = await session.listFacts({ superseded: true });
    const ids = new Set(all.map(({ id }) => id));
    expect(all.every(({ supersededBy }) => supersededBy === null || ids.has(supersededBy))).toBe(
      true,
    );
  }
});
