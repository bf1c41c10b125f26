import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { callCli } from "./support/cli.ts";
import { removeFolder } from "./support/folder.ts";
import { createEmptyDatabase } from "./support/postgres.ts";

const folder = mkdtempSync(join(tmpdir(), "backscroll-cli-postgres-"));

afterAll(() => removeFolder(folder));

test("the command line works on PostgreSQL, and moves a store there and back", async () => {
  const address = await createEmptyDatabase();
  const { password } = new URL(address);
  const cli = (args: readonly string[], code = 0, db = address) =>
    callCli(args, { env: { HOME: folder, BACKSCROLL_DB: db } }).then((ran) => {
      expect(ran.code, `${args.join(" ")}: ${ran.stderr}`).toBe(code);
      expect(ran.stdout + ran.stderr).not.toContain(`:${password}@`);
      return code === 0 ? ran.stdout.trim() : ran.stderr;
    });

  expect(await cli(["list"], 4)).toContain("status --create");
  expect(await cli(["status", "--create"])).toContain("PostgreSQL, schema version");
  const session = await cli(["new", "--agent", "coder", "--by", "ana", "--title", "Elsewhere"]);
  const question = await cli(["append", session, "Why twice?", "--actor", "ana"]);
  await cli(["edit", session, question, "Why does it run twice?"]);
  expect(await cli(["show", session, "--tree"])).toContain(`${question}  [superseded]`);
  expect(await cli(["doctor", "--verify"])).toContain("all match");
  expect(await cli(["search", "running", "twice"])).toContain("Why does it run twice?");
  expect(await cli(["doctor", "--rebuild", "--purge"])).toMatch(/Purged +default: 1 segment/);
  expect(await cli(["search", "running", "twice"])).toContain("Why does it run twice?");
  const changes = await cli(["changes", "--session", session, "--json"]);

  const file = join(folder, "copy.db");
  await cli(["backup", file]);
  const back = await createEmptyDatabase();
  await cli(["restore", file], 0, back);
  const read = (db: string) => cli(["show", session, "--json"], 0, db);
  expect(await read(file)).toBe(await read(address));
  expect(await read(back)).toBe(await read(address));
  const kept = (text: string) =>
    (JSON.parse(text) as { changes: { hash: string }[] }).changes.map(({ hash }) => hash);
  expect(kept(await cli(["changes", "--session", session, "--json"], 0, back))).toEqual(
    kept(changes),
  );
  expect(await cli(["delete", session, "--yes"])).toContain("Deleted 2 entries");
  expect(await cli(["show", session], 1)).toContain("session_not_found");
});
