/** A deleted tenant leaves no content, also if the deletion was killed. */

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Engine, type MessageInput, open } from "../src/index.ts";
import { Child } from "./support/child.ts";
import { callCli } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";
import { createDatabase } from "./support/postgres.ts";

const SESSIONS = 12;
/** The tables that still have rows of a deleted tenant: none of them has content. */
const KEPT = ["access_tokens", "changes", "tenants", "tombstones"];

async function fill(engine: Engine, name: string): Promise<void> {
  const tenant = engine.forTenant(name);
  await tenant.createToken({ scope: "write" });
  await tenant.putMemory({ agent: "coder", name: "style", content: `tabs of ${name}` });
  await tenant.records.write(
    [1, 2, 3].map((n) => ({ put: { namespace: "n", key: `${n}`, value: n, text: `zebra ${n}` } })),
  );
  for (let n = 0; n < SESSIONS; n++) {
    const session = await tenant.createSession({ id: `s${n}`, agent: "coder", createdBy: "ana" });
    const messages = [1, 2, 3].map((i): MessageInput => {
      return { role: "user", content: `okapi ${n} ${i} of ${name}` };
    });
    await session.append(messages);
    await session.addFacts([{ subject: "ana", predicate: "likes", object: "okapis" }]);
  }
  await tenant.routes.put("agent:coder:main", { sessionId: "s0" });
  await tenant.maintainIndex("flush");
}

/** The tables with rows of other tenants than the first one. */
async function tablesOfOthers(engine: Engine): Promise<string[]> {
  const tables = new Set<string>();
  for await (const { table, rows } of engine.dump()) {
    if (rows.some((row) => row["tenant"] !== 1)) tables.add(table);
  }
  return [...tables].sort();
}

describe.each([
  ["SQLite", async () => join(createFolder(), "tenants.db")],
  ["PostgreSQL", createDatabase],
] as const)("on %s", (_, newAddress) => {
  test("a killed deletion is finished by the next one, and touches no other tenant", async () => {
    const address = await newAddress();
    {
      await using engine = await open(address, { inThread: true });
      for (const name of ["other", "acme"]) await fill(engine, name);
      expect((await tablesOfOthers(engine)).length).toBeGreaterThan(KEPT.length + 5);
    }
    const deleter = new Child("./tenant-deleter.ts");
    // Transactions: one for the token, one for the route, five for sessions.
    deleter.tell({ address, tenant: "acme", transactions: 7 });
    expect(await deleter.exited).toMatchObject({ signal: "SIGKILL" });

    await using engine = await open(address, { inThread: true });
    const [acme, other] = [engine.forTenant("acme"), engine.forTenant("other")];
    await expect(acme.createSession({ agent: "coder", createdBy: "ana" })).rejects.toMatchObject({
      code: "quota_exceeded",
    });
    const rest = { tokens: 0, sessions: SESSIONS - 5, records: 3, memories: 1, routes: 0 };
    expect(await engine.deleteTenant("acme")).toEqual(rest);
    expect(await tablesOfOthers(engine)).toEqual(KEPT);
    expect((await acme.searchSessions("okapi")).hits).toEqual([]);
    expect((await acme.indexStatus()).documents).toBe(0);
    const { changes } = await acme.listChanges({ limit: 500 });
    expect(changes.filter(({ kind }) => kind === "session_deleted")).toHaveLength(SESSIONS);

    expect((await other.searchSessions("okapi")).hits.length).toBeGreaterThan(0);
    expect(await other.records.search("zebra")).toHaveLength(3);
    expect(await engine.verify()).toMatchObject({ ok: true });
    const nothing = { tokens: 0, sessions: 0, records: 0, memories: 0, routes: 0 };
    expect(await engine.deleteTenant("acme")).toEqual(nothing);
    await acme.setQuota({});
    await acme.createSession({ agent: "coder", createdBy: "ana" });
  });
});

test("an unknown tenant is refused with the nearest name", async () => {
  await using engine = await open(":memory:");
  await engine.forTenant("acme").createSession({ agent: "coder", createdBy: "ana" });
  await expect(engine.deleteTenant("acmee")).rejects.toMatchObject({
    code: "invalid_input",
    message: "the store has no tenant acmee; did you mean acme?",
  });
});

test("the command asks for --yes and reports the counts", async () => {
  const folder = createFolder();
  const db = join(folder, "tenants.db");
  {
    await using engine = await open(db, { inThread: true });
    await fill(engine, "acme");
  }
  const env = { HOME: folder, BACKSCROLL_DB: db };
  const refused = await callCli(["tenant", "delete", "acme"], { env });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("--yes")]);
  const done = await callCli(["tenant", "delete", "acme", "--yes"], { env });
  expect(done.stdout).toBe(
    "Deleted 12 sessions, 3 records, 1 memory and 1 route, revoked 1 token.\n",
  );
});
