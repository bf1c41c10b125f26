/** The commands about a gateway's conversations, as users run them. */

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openGateway } from "../src/gateway/index.ts";
import { open } from "../src/index.ts";
import { callCli } from "./support/cli.ts";
import { removeFolder } from "./support/folder.ts";

const folder = mkdtempSync(join(tmpdir(), "backscroll-gateway-"));
const db = join(folder, "store.db");
const file = join(folder, "config.json");
const KEY = "agent:main:telegram:direct:4711";
const env = { BACKSCROLL_DB: db, BACKSCROLL_CONFIG: file, HOME: folder };
let sessionId: string;

const cli = (...args: string[]) => callCli(args, { env });
const json = async (...args: string[]) => {
  const ran = await cli(...args, "--json");
  expect([ran.code, ran.stderr]).toEqual([0, ""]);
  return JSON.parse(ran.stdout);
};

beforeAll(async () => {
  const past = () => Date.now() - 90 * 86_400_000;
  const random = (bytes: Uint8Array) => crypto.getRandomValues(bytes as Uint8Array<ArrayBuffer>);
  {
    await using engine = await open(db, { inThread: true, source: { now: past, random } });
    await engine.createSession({ agent: "main", createdBy: "ana", id: "old" });
    const theirs = { id: "theirs", origin: { source: "codex" } };
    await engine.createSession({ agent: "main", createdBy: "ana", ...theirs });
  }
  await using engine = await open(db, { inThread: true });
  const gateway = openGateway(engine);
  const ana = { channel: "telegram", peer: "4711", displayName: "Ana", append: true };
  await gateway.inbound({ ...ana, text: "Hello" });
  const turn = await gateway.inbound({ ...ana, text: "/new Hello again" });
  sessionId = turn.session?.id ?? "";
  writeFileSync(file, "{}");
});

afterAll(() => removeFolder(folder));

describe("sessions and routes", () => {
  test("are listed by key", async () => {
    const { sessions, next_cursor } = await json("sessions");
    expect(next_cursor).toBeNull();
    expect(sessions).toMatchObject([
      { key: KEY, session_id: sessionId, version: 2, session: { message_count: 1 } },
    ]);
    expect((await cli("sessions")).stdout).toMatch(/KEY +SESSION .*\n.*4711.* Ana\n/);
    expect(await json("routes", "list")).toMatchObject({ routes: [{ key: KEY }] });
    expect((await cli("routes", "list")).stdout).toContain(KEY);
  });

  test("are shown with the past sessions of a key", async () => {
    const route = await json("routes", "show", KEY);
    expect(route.fields).toMatchObject({ displayName: "Ana", provider: "telegram" });
    expect(route.sessions.map((each: { reason: string }) => each.reason)).toEqual([
      "command",
      "first",
    ]);
    expect((await cli("routes", "show", KEY)).stdout).toMatch(/displayName +Ana/);
    const none = await cli("routes", "show", "none");
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("session_key_not_found")]);
  });

  test("are set, changed and deleted", async () => {
    const set = await json("routes", "set", "global", sessionId);
    expect(set).toMatchObject({ key: "global", version: 1, fields: {} });
    const fields = ["--fields", '{"sendPolicy":"deny","mine":1}'];
    await json("routes", "set", "global", ...fields, "--expect-version", "1");
    const led = await json("routes", "set", "global", "old");
    expect(led).toMatchObject({ session_id: "old", fields: { sendPolicy: "deny", mine: 1 } });
    const late = await cli("routes", "set", "global", ...fields, "--expect-version", "1");
    expect([late.code, late.stderr]).toEqual([3, expect.stringContaining("route_conflict")]);
    const wrong = await cli("routes", "set", "global", "--fields", '{"sendPolicy":"maybe"}');
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("fields.sendPolicy")]);
    expect((await cli("routes", "set", "global")).code).toBe(2);
    expect((await cli("routes", "delete", "global")).code).toBe(0);
    expect((await cli("routes", "delete", "global")).code).toBe(1);
  });
});

test("a session's status has its key, context and next reset", async () => {
  expect(await json("status", sessionId)).toMatchObject({
    session_id: sessionId,
    key: KEY,
    current: true,
    window_tokens: 200_000,
    compaction_count: 0,
    memory_flush_at: null,
    next_reset: { reason: "daily" },
  });
  const { stdout } = await cli("status", sessionId);
  expect(stdout).toMatch(/Key +agent:main:telegram:direct:4711\n/);
  expect(stdout).toMatch(/Next reset +\S+ 04:00 \(daily\)\nRule +daily at 04:00 \(.+\)\n/);
  expect((await cli("status", "old")).stdout).toContain("no key leads to it");
  expect((await cli("status", "none")).code).toBe(1);
});

describe("the configuration", () => {
  test("is shown with the source of each value", async () => {
    writeFileSync(file, '{"session":{"dmScope":"main"}}');
    const ran = await callCli(["config"], {
      env: { ...env, CLAUDE_CODE_AUTO_COMPACT_INPUT_TOKENS: "5000" },
    });
    expect(ran.code).toBe(0);
    expect(ran.stdout).toMatch(/session\.dmScope +main +file\n/);
    expect(ran.stdout).toMatch(/session\.mainKey +main +default\n/);
    expect(ran.stdout).toMatch(/compaction\.inputTokens +5000 +environment\n/);
    const explained = await cli("config", "--explain");
    expect(explained.stdout).toMatch(/session\.resetByChannel\.\*\.mode +– +default +When/);
    expect(await json("config")).toMatchObject({ path: file, exists: true });
  });

  test("is refused with an unknown key", async () => {
    writeFileSync(file, '{"session":{"mainkey":"x"}}');
    const ran = await cli("config");
    expect([ran.code, ran.stderr]).toEqual([
      2,
      `backscroll: the configuration has no field "session.mainkey"; did you mean session.mainKey?; see ${file} (invalid_input)\n`,
    ]);
  });

  test("names the invalid key", async () => {
    writeFileSync(file, '{"session":{"reset":{"mode":"weekly"}}}');
    const ran = await cli("config");
    expect([ran.code, ran.stderr]).toEqual([
      2,
      expect.stringMatching(/session\.reset\.mode must be one of daily, idle, manual/),
    ]);
  });
});

describe("maintenance", () => {
  test("is off, and reports its plan", async () => {
    writeFileSync(file, "{}");
    for (const args of [["maintain"], ["maintain", "--dry-run"]]) {
      const ran = await cli(...args);
      expect(ran.stdout).toMatch(/old .* idle for too long/);
      expect(ran.stdout).toMatch(/Would delete 1 session of 4/);
      expect(ran.stdout).toContain("mode is off: nothing is deleted");
    }
    expect((await json("list")).sessions).toHaveLength(4);
  });

  test("deletes with enforce, and never other agents' sessions", async () => {
    writeFileSync(file, '{"session":{"maintenance":{"mode":"enforce","maxDiskBytes":1}}}');
    const dry = await json("maintain", "--dry-run");
    expect(dry).toMatchObject({ applied: false, over_budget: true, spared: { ingested: 1 } });
    const report = await json("maintain");
    expect(report).toMatchObject({ applied: true, deletions: [{ session_id: "old" }] });
    const ids = (await json("list")).sessions.map((each: { id: string }) => each.id);
    expect(ids).toHaveLength(3);
    expect(ids).toContain("theirs");
  });
});
