/** Tokens on the command line. */

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { backup, open, restore } from "../src/index.ts";
import { callCli, type Ran } from "./support/cli.ts";
import { removeFolder } from "./support/folder.ts";

const folder = mkdtempSync(join(tmpdir(), "backscroll-access-"));
const db = join(folder, "store.db");
const TOKEN = /^bsk_[0-9A-HJKMNP-TV-Z]{26}_[\w-]{43}\n$/;

afterAll(() => removeFolder(folder));

function cli(...args: string[]): Promise<Ran> {
  return callCli(args, { env: { HOME: folder, BACKSCROLL_DB: db } });
}

async function ok(...args: string[]): Promise<string> {
  const ran = await cli(...args);
  expect({ code: ran.code, stderr: ran.stderr }, args.join(" ")).toEqual({ code: 0, stderr: "" });
  return ran.stdout;
}

describe("token", () => {
  test("create prints only the token, which authenticates its holder", async () => {
    const text = await ok(
      "token",
      "create",
      "--tenant",
      "acme",
      "--scope",
      "write",
      "--actor",
      "ci",
      "--act-as",
      "ana, ben",
      "--expires",
      "30d",
      "--label",
      "build server",
    );
    expect(text).toMatch(TOKEN);
    await using engine = await open(db, { readOnly: true, inThread: true });
    expect(await engine.authenticate(text.trim())).toMatchObject({
      tenant: "acme",
      scope: "write",
      actor: "ci",
      actAs: ["ana", "ben"],
      operator: false,
    });
    const [record] = await engine.forTenant("acme").listTokens();
    const days = ((record?.expiresAt ?? 0) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(29.9);
    expect(days).toBeLessThanOrEqual(30);
  });

  test("create, list and revoke as JSON, with the secret once", async () => {
    const made = JSON.parse(
      await ok("token", "create", "--scope", "admin", "--act-as", "any", "--operator", "--json"),
    ) as { token: string; record: Record<string, unknown> };
    expect(Object.keys(made)).toEqual(["token", "record"]);
    expect(made.record).toEqual({
      id: made.token.slice(4, 30),
      tenant: "default",
      scope: "admin",
      actor: null,
      act_as: "any",
      operator: true,
      label: null,
      created_at: expect.any(String),
      expires_at: null,
      revoked_at: null,
    });
    const id = String(made.record["id"]);
    const listed = await ok("token", "list", "--json");
    expect(JSON.parse(listed)).toEqual({ tokens: [made.record], next_cursor: null });
    const revoked = JSON.parse(await ok("token", "revoke", id, "--json")) as object;
    expect(revoked).toEqual({ ...made.record, revoked_at: expect.any(String) });
    const all = [listed, await ok("changes", "--json"), await ok("token", "list")].join();
    expect(all).not.toContain(made.token.slice(-43));
    expect(all).toContain("token_revoked");
  });

  test("list shows each scope and validity", async () => {
    const tenant = ["--tenant", "shown"];
    expect(await ok("token", "list", ...tenant)).toBe("No tokens.\n");
    const until = ["--expires", "2099-01-01"];
    await ok("token", "create", "--scope", "read", "--label", "reader", ...until, ...tenant);
    const admin = await ok("token", "create", "--scope", "admin", "--operator", ...tenant);
    await ok("token", "revoke", admin.slice(4, 30), ...tenant);
    const lines = (await ok("token", "list", ...tenant)).trimEnd().split("\n");
    expect(lines.map((line) => line.replace(/[0-9A-Z]{26}/, "ID").split(/\s{2,}/))).toEqual([
      ["TOKEN", "SCOPE", "STATE", "EXPIRES", "ACTOR", "ACT AS", "LABEL"],
      ["ID", "read", "valid", "2099-01-01 00:00", "–", "–", "reader"],
      ["ID", "admin, operator", "revoked", "never", "–", "–"],
    ]);
    const page = await cli("token", "list", "--limit", "1", ...tenant);
    expect(page.stderr).toContain("token list --cursor");
  });

  test.each([
    ["no scope", ["create"], 2, "--scope read, write or admin"],
    ["an unknown scope", ["create", "--scope", "root"], 2, "must be one of read, write"],
    [
      "an expiry in the past",
      ["create", "--scope", "read", "--expires", "2020-01-01"],
      2,
      "in the future",
    ],
    [
      "an expiry that is not a time",
      ["create", "--scope", "read", "--expires", "soon"],
      2,
      "duration",
    ],
    [
      "an operator without the scope admin",
      ["create", "--scope", "write", "--operator"],
      2,
      "scope admin",
    ],
    ["a list with an empty name", ["create", "--scope", "read", "--act-as", "a,,b"], 2, "commas"],
    ["an unknown token", ["revoke", "01JZ8T3G6K"], 1, "token_not_found"],
  ])("refuses %s with the way out", async (_, args, code, says) => {
    const ran = await cli("token", ...args);
    expect([ran.code, ran.stdout]).toEqual([code, ""]);
    expect(ran.stderr).toContain(says);
  });
});

test("a restored store accepts the same tokens, and has no old lease", async () => {
  const [first, copy, second] = ["first", "copy", "second"].map((name) => join(folder, name));
  let token = "";
  {
    await using engine = await open(first ?? "", { inThread: true });
    ({ token } = await engine.forTenant("acme").createToken({ scope: "read" }));
    await engine.holdLease("job", { durationMs: 600_000 }, async () => {
      await backup(first ?? "", copy ?? "");
    });
  }
  await restore(copy ?? "", second ?? "");
  await using engine = await open(second ?? "", { inThread: true });
  expect(await engine.authenticate(token)).toMatchObject({ tenant: "acme", scope: "read" });
  let done = false;
  await engine.holdLease("job", { durationMs: 600_000 }, async () => {
    done = true;
  });
  expect(done).toBe(true);
});
