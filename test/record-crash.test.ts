/** Acknowledged writes of records survive SIGKILL, and none is partial. */

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { open } from "../src/index.ts";
import { Child } from "./support/child.ts";
import { createFolder } from "./support/folder.ts";
import { createDatabase } from "./support/postgres.ts";

describe.each([
  ["SQLite", async () => join(createFolder(), "records.db")],
  ["PostgreSQL", createDatabase],
] as const)("on %s", (_, newAddress) => {
  test("a killed writer leaves complete writes, and all acknowledged ones", async () => {
    const address = await newAddress();
    const writer = new Child("./record-writer.ts");
    writer.tell({ address });
    await writer.until(20);
    expect(await writer.kill()).toMatchObject({ signal: "SIGKILL" });
    const told = writer.said<{ n: number }>().at(-1)?.n ?? 0;
    expect(told).toBeGreaterThanOrEqual(20);

    await using engine = await open(address, { inThread: true });
    const [left, right] = await engine.records.getMany("pair", ["left", "right"]);
    expect(left?.value).toBe(right?.value);
    // The interrupted write may have been committed.
    expect([told, told + 1]).toContain(left?.value);
    expect(await engine.records.search(String(left?.value))).toHaveLength(2);
    expect(await engine.verify()).toMatchObject({ ok: true });
  });
});
