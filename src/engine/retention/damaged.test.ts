/** An unreadable session must not block the erasures of other sessions and tenants. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { open } from "../../open.ts";

test("a damaged session is reported after all others are erased", async () => {
  const folder = mkdtempSync(join(tmpdir(), "backscroll-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "store.db");
  await using engine = await open(path, { inThread: true });
  for (const [tenant, id] of [
    ["a", "damaged"],
    ["a", "beside"],
    ["b", "elsewhere"],
  ] as const) {
    const session = await engine.forTenant(tenant).createSession({
      id,
      agent: "coder",
      createdBy: "ana",
    });
    for (const word of ["one", "two", "three", "four"]) {
      await session.append({ role: "user", content: `${word} `.repeat(300) });
    }
    await session.compact({ keep: { messages: 1 } });
    await session.update({ retention: "audit-only" });
  }
  const db = new DatabaseSync(path);
  db.exec(`UPDATE entries SET pack = 1 WHERE sequence <= 2 AND (tenant, session) =
    (SELECT tenant, session FROM sessions WHERE id = 'damaged')`);
  await expect(engine.sweepAll()).rejects.toMatchObject({ code: "store_corrupt" });
  const erased = db
    .prepare(`SELECT s.id, sum(e.content IS NULL) AS erased FROM entries e
      JOIN sessions s ON s.tenant = e.tenant AND s.session = e.session GROUP BY s.id ORDER BY s.id`)
    .all();
  db.close();
  expect(erased).toEqual([
    { id: "beside", erased: 3 },
    { id: "damaged", erased: 0 },
    { id: "elsewhere", erased: 3 },
  ]);
});
