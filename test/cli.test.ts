import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { session as anySession } from "../src/api/round-trip.cases.ts";
import { toWireSession } from "../src/api/session.ts";
import { callCli, type Ran, runCli } from "./support/cli.ts";
import { removeFolder } from "./support/folder.ts";

/** The commands on one store, in the order in which a user meets them. */

const folder = mkdtempSync(join(tmpdir(), "backscroll-cli-"));
const db = join(folder, "store", "backscroll.db");
const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/;
/** The fields of a session on the wire: docs/library.md lists them. */
const WIRE_SESSION = fc.sample(anySession, 1).flatMap((each) => Object.keys(toWireSession(each)));
let session = "";
let question = "";

afterAll(() => removeFolder(folder));

function cli(...args: string[]): Promise<Ran> {
  return callCli(args, { env: { HOME: folder, BACKSCROLL_DB: db } });
}

/** Runs a command that must succeed with an empty standard error, and gives its output. */
async function ok(...args: string[]): Promise<string> {
  const ran = await cli(...args);
  expect({ code: ran.code, stderr: ran.stderr }, args.join(" ")).toEqual({ code: 0, stderr: "" });
  return ran.stdout;
}

async function json<Document = Record<string, unknown>>(...args: string[]): Promise<Document> {
  return JSON.parse(await ok(...args, "--json")) as Document;
}

interface Page {
  readonly session: Record<string, unknown>;
  readonly messages: Record<string, unknown>[];
  readonly entries: Record<string, unknown>[];
  readonly offset: number;
  readonly total: number;
}

beforeAll(async () => {
  session = (await ok("new", "--agent", "coder", "--by", "ana", "--title", "Cron")).trim();
  question = (
    await ok("append", session, "Why does the cron job run twice?", "--actor", "ana")
  ).trim();
});

describe("status", () => {
  test("has the store's address, its contents, and suggested commands", async () => {
    const text = await ok("status");
    expect(text).toContain(db);
    expect(text).toContain("SQLite, schema version");
    expect(text).toContain("1 session, 1 message");
    expect(text).toMatch(/write-ahead log \d/);
    expect(text.match(/^ {2}node bin\/backscroll\.js .*$/gm)).toHaveLength(2);
  });

  test("prints the same as JSON", async () => {
    const status = await json<{ tenants: Record<string, unknown>[] }>("status");
    expect(Object.keys(status)).toEqual([
      "backend",
      "address",
      "schema_version",
      "epoch",
      "database_bytes",
      "wal_bytes",
      "losses",
      "followers",
      "tenants",
    ]);
    expect(Object.keys(status.tenants[0] ?? {})).toEqual([
      "tenant",
      "sessions",
      "entries",
      "messages",
      "content_bytes",
      "pending",
      "memories",
      "facts",
      "feed_position",
      "feed_head",
      "index",
      "quota",
    ]);
  });
});

describe("new and list", () => {
  test("print ids that a script can use", () => {
    expect(session).toMatch(ULID);
    expect(question).toMatch(ULID);
  });

  test("set all fields by options", async () => {
    const made = await json(
      "new",
      "--agent",
      "reviewer",
      "--by",
      "ben",
      "--id",
      "review-1",
      "--owner",
      "eve",
      "--title",
      "Review",
      "--metadata",
      '{"ticket":"A-1"}',
      "--ttl",
      "3600",
      "--retention",
      "audit-only",
    );
    expect(made).toMatchObject({
      id: "review-1",
      agent: "reviewer",
      created_by: "ben",
      owner: "eve",
      title: "Review",
      metadata: { ticket: "A-1" },
      ttl: 3600,
      retention: "audit-only",
    });
    expect(Object.keys(made)).toEqual(WIRE_SESSION);
    expect(made["created_at"]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  test("prints a table, without colours unless it is a terminal", async () => {
    const text = await ok("list");
    expect(text).toMatch(/^ID +AGE +LAST INPUT +AGENT +OWNER +ENDED +MESSAGES +TITLE$/m);
    expect(text).toContain("review-1");
    expect(text).not.toContain("\u001b");
  });

  test.concurrent.each([
    [["--agent", "reviewer"], ["review-1"]],
    [["--owner", "eve"], ["review-1"]],
    [["--participant", "ana", "--agent", "coder"], ["session"]],
    [["--title", "REV"], ["review-1"]],
    [["--since", "1h", "--title", "cron"], ["session"]],
    [["--until", "2020-01-01"], []],
    [["--project", "none"], []],
    [["--source", "none", "--workstation", "none"], []],
  ])("narrows the list with %j", async (options, expected) => {
    const page = await json<{ sessions: { id: string }[] }>("list", ...options);
    const ids = expected.map((id) => (id === "session" ? session : id));
    expect(page.sessions.map(({ id }) => id)).toEqual(ids);
  });

  test("continue the previous page", async () => {
    const ran = await cli("list", "--limit", "1");
    expect(ran.code).toBe(0);
    const cursor = /list --cursor (\S+)/.exec(ran.stderr)?.[1] ?? "";
    const page = await json<{ sessions: unknown[]; next_cursor: null }>("list", "--cursor", cursor);
    expect(page.sessions).toHaveLength(1);
    expect(page.next_cursor).toBeNull();
  });
});

test("list omits machine-made sessions", async () => {
  const made = (
    await ok("new", "--agent", "coder", "--by", "ana", "--metadata", '{"machineMade":true}')
  ).trim();
  const ids = async (...args: string[]) =>
    (await json<{ sessions: { id: string }[] }>("list", ...args)).sessions.map(({ id }) => id);
  expect(await ids()).not.toContain(made);
  expect(await ids("--machine-made")).toContain(made);
  await ok("delete", made, "--yes");
});

describe("append and show", () => {
  test("read the text from standard input, without its last newline", async () => {
    const { code, stdout } = await runCli(
      ["append", session, "-", "--role", "assistant", "--actor", "coder"],
      { env: { HOME: folder, BACKSCROLL_DB: db }, input: "The lock is gone.\nSee \u001b[31m.\n" },
    );
    expect(code).toBe(0);
    const page = await json<Page>("show", session, "--around", stdout.trim(), "--limit", "1");
    expect(page.messages[0]?.["blocks"]).toEqual([
      { type: "text", text: "The lock is gone.\nSee \u001b[31m." },
    ]);
  });

  test("takes a whole message as JSON", async () => {
    const appended = await json<Page>(
      "append",
      session,
      "--json-message",
      JSON.stringify({
        role: "assistant",
        actor: "coder",
        tool_calls: [{ id: "t1", name: "bash", arguments: { command: "ls" } }],
        tool_results: [{ id: "t1", name: "bash", output: "a\nb", is_error: true }],
        usage: { input_tokens: 12, output_tokens: 4 },
        created_at: "2026-01-02T03:04:05Z",
      }),
    );
    expect(appended.entries.map(({ role, actor }) => [role, actor])).toEqual([
      ["assistant", "coder"],
      ["tool", "bash"],
    ]);
    expect(appended.entries[0]).toMatchObject({
      created_at: "2026-01-02T03:04:05.000Z",
      usage: { input_tokens: 12, output_tokens: 4 },
      blocks: [{ type: "tool_use", id: "t1", name: "bash", input: { command: "ls" } }],
    });
    expect(appended.entries[1]?.["blocks"]).toEqual([
      { type: "tool_result", tool_use_id: "t1", tool_name: "bash", output: "a\nb", is_error: true },
    ]);
    expect(Object.keys(appended.entries[0] ?? {})).toEqual([
      "id",
      "session_id",
      "external_id",
      "sequence",
      "parent_id",
      "kind",
      "role",
      "actor",
      "status",
      "blocks",
      "data",
      "raw",
      "msg_idx",
      "usage",
      "model",
      "adapter",
      "superseded_by",
      "copied_from",
      "pinned",
      "metadata",
      "created_at",
      "hash",
      "truncated",
      "erased",
    ]);
  });

  test("store a request under one key once", async () => {
    const once = await ok("append", session, "Thanks.", "--actor", "ana", "--key", "k1");
    expect(await ok("append", session, "Thanks.", "--actor", "ana", "--key", "k1")).toBe(once);
  });

  test("show messages for people, with control characters visible", async () => {
    const text = await ok("show", session);
    expect(text).toMatch(new RegExp(`^[0-9a-z]{8}  Cron\\n  id +${session}\\n`));
    expect(text).toMatch(/^#0 {2}user · ana {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}/m);
    expect(text).toContain("    See ␛[31m.");
    expect(text).toContain("[tool_use bash] ls\n");
    expect(text).toContain("[tool_result bash error] a");
    expect(text).not.toContain("\u001b");
  });

  test("cut large output until --full", async () => {
    const large = Array.from({ length: 5_000 }, (_, i) => `line ${i}`).join("\n");
    const other = (await ok("new", "--agent", "large", "--by", "ana")).trim();
    await runCli(["append", other], { env: { HOME: folder, BACKSCROLL_DB: db }, input: large });
    const [cut, all, preview, whole] = await Promise.all([
      ok("show", other),
      ok("show", other, "--full"),
      json<Page>("show", other),
      json<Page>("show", other, "--full"),
    ]);
    expect(cut.split("\n").length).toBeLessThan(30);
    expect(cut).toContain("--full shows all");
    expect(all).toContain("    line 4999\n");
    expect(preview.messages[0]?.["truncated"]).toBe(true);
    expect(whole.messages[0]).toMatchObject({ truncated: false, blocks: [{ text: large }] });
  });

  test("pages by offset and limit, and shows the newest as history", async () => {
    const page = await json<Page>("show", session, "--offset", "1", "--limit", "2");
    expect([page.offset, page.total, page.messages.length]).toEqual([1, 5, 2]);
    const ran = await cli("show", session, "--limit", "2");
    expect(ran.stderr).toMatch(/3 more: node bin\/backscroll\.js show [0-9a-z]{8} --offset 2/);
    const newest = await json<Page>("history", session, "--limit", "2");
    expect(newest.messages.map(({ msg_idx }) => msg_idx)).toEqual([3, 4]);
    expect(await ok("history", session, "--limit", "1")).toContain("Thanks.");
  });
});

describe("title, label, branch, edit and fork", () => {
  test("move through the tree and lose nothing", async () => {
    await ok("title", session, "Cron runs twice");
    await ok("label", session, question, "start");
    const edited = (await ok("edit", session, question, "Why twice?")).trim();
    const tree = await ok("show", session, "--tree");
    expect(tree).toContain("Cron runs twice");
    expect(tree).toContain(`${question}  [superseded, label "start"]`);
    expect(tree).toContain(`${edited}  [active leaf]  Why twice?`);
    expect((await json<Page>("show", session, "--leaf", question)).total).toBe(1);

    await ok("branch", session, question, "--summary", "We rephrased the question.");
    const { entries } = await json<Page>("show", session, "--tree");
    expect(entries.at(-1)).toMatchObject({
      kind: "branch_summary",
      parent_id: question,
      data: { from_id: edited },
    });
    expect(await json("branch", session, "root")).toMatchObject({ leaf: null });
    await ok("branch", session, edited);
    expect(await json("label", session, question, "--remove")).toEqual({ labels: {} });
  });

  test("mark what does not hold, show it, and take it back", async () => {
    const own = (await ok("new", "--agent", "coder", "--by", "ana")).trim();
    for (const text of ["The walrus runs twice", "It runs once now"]) await ok("append", own, text);
    const page = await json<{ readonly session: { readonly short_id: string } }>("show", own);
    const short = page.session.short_id;
    const [message, later] = [`${short}#0`, `${short}#1`];
    const reason = "Mended";
    const why = ["--reason", reason, "--actor", "ana"];
    const { marks } = await json("mark", message, "--replaced-by", later, ...why);
    expect(marks).toMatchObject([
      { msg_idx: 0, kind: "replaced", reason, actor: "ana", replaced_by: { msg_idx: 1 } },
    ]);
    const note = `replaced by #1 (ana): ${reason}`;
    expect(await ok("recap", own)).toContain(`#0 ${note}`);
    expect(await ok("search", "walrus")).toContain(note);
    for (const shown of ["show", "history"] as const) expect(await ok(shown, own)).toContain(note);
    expect(await ok("show", own, "--tree")).toContain(note);
    expect(await json("mark", message, "--undo")).toEqual({ marks: [] });
    expect((await cli("mark", message)).stderr).toContain("mark needs either --reason or --undo");
    expect((await cli("mark", `${short}#999`, "--undo")).stderr).toContain("no message #999");
    await ok("mark", short, "--reason", "A trial.");
    expect(await ok("recap", own)).toContain("session wrong: A trial.");
    expect(await ok("show", own)).toMatch(/^ +marked +session wrong: A trial\.$/m);
    await ok("delete", own, "--yes");
  });

  test("a rule is rejected by its number, whether found or added", async () => {
    const own = (await ok("new", "--agent", "coder", "--by", "rita")).trim();
    await ok("append", own, "Always run the walrus tests.", "--actor", "rita");
    await ok("rules", "add", "--owner", "rita", "Never push on Fridays.");
    const which = ["--owner", "rita"];
    const added = await ok("rules", "reject", "1", ...which);
    expect(added).toBe("Rejected: Never push on Fridays.\n");
    const found = await ok("rules", "reject", "1", ...which);
    expect(found).toMatch(
      /^Rejected: Always run the walrus tests\. rules remove \S+-1 takes it back/,
    );
    expect(await json("rules", ...which)).toEqual({ rules: [], complete: true });
    await ok("delete", own, "--yes");
  });

  test("fork a path into a new session", async () => {
    const copy = (await ok("fork", session, "--through", question, "--by", "ben")).trim();
    expect((await cli("delete", session)).stderr).toContain("but not 1 fork (--cascade does)");
    expect((await cli("delete", session, "--cascade")).stderr).toContain(", 1 fork for good");
    const page = await json<Page>("show", copy);
    expect(page.session).toMatchObject({
      created_by: "ben",
      parent_session_id: session,
      fork_point: question,
      title: "Cron runs twice",
    });
    expect(page.messages).toMatchObject([{ copied_from: question }]);
    await ok("delete", copy, "--yes");
  });
});

describe("memory and facts", () => {
  test("keeps notes by agent and name", async () => {
    await ok("memory", "put", "coder", "deploy", "Migrate first.", "--metadata", '{"v":1}');
    await ok("memory", "put", "coder", "style", "Short lines.");
    expect(await ok("memory", "get", "coder", "deploy")).toBe("Migrate first.\n");
    expect(await ok("memory", "list")).toMatch(/^coder +style +\S+ \S+ +Short lines\.$/m);
    const first = await json<{ memories: unknown[]; next_cursor: string }>(
      "memory",
      "list",
      "--agent",
      "coder",
      "--limit",
      "1",
    );
    expect(first.memories).toMatchObject([{ name: "deploy", metadata: { v: 1 } }]);
    const rest = await json<{ memories: unknown[] }>(
      "memory",
      "list",
      "--agent",
      "coder",
      "--cursor",
      first.next_cursor,
    );
    expect(rest.memories).toMatchObject([{ name: "style" }]);
    await ok("memory", "delete", "coder", "style");
    expect((await cli("memory", "get", "coder", "style")).code).toBe(1);
  });

  test("keeps facts with their source", async () => {
    const fact = (
      await ok(
        "facts",
        "add",
        session,
        "cron",
        "is locked by",
        "a file",
        "--source",
        question,
        "--confidence",
        "0.8",
      )
    ).trim();
    expect(await json("facts", "list", "--session", session)).toMatchObject({
      facts: [{ id: fact, object: "a file", source_entry: question, confidence: 0.8 }],
    });
    expect(await ok("facts", "list")).toContain("cron · is locked by · a file");
    await ok("facts", "delete", fact);
    expect(await ok("facts", "list")).toBe("No facts.\n");
  });
});

describe("changes, doctor, backup, restore, export, sweep and delete", () => {
  test("shows the feed in order, and resumes", async () => {
    const first = await json<{ changes: { position: number; kind: string }[]; next: string }>(
      "changes",
      "--limit",
      "2",
    );
    expect(first.changes.map(({ position, kind }) => [position, kind])).toEqual([
      [1, "session_created"],
      [2, "entry_appended"],
    ]);
    const rest = await json<{ changes: { position: number }[]; end: boolean }>(
      "changes",
      "--after",
      first.next,
      "--limit",
      "500",
    );
    expect([rest.changes[0]?.position, rest.end]).toEqual([3, true]);
    const usage = await ok("changes", "--session", session, "--limit", "500");
    expect(usage).toMatch(/context_usage .*promptTokens=12/);
  });

  test("find the store sound, and a noted head", async () => {
    const report = await json<{ ok: boolean; verification: { heads: Record<string, string> } }>(
      "doctor",
      "--verify",
    );
    expect(report.ok).toBe(true);
    const head = report.verification.heads["default"] ?? "";
    expect(await ok("doctor", "--head", head)).toContain("all match");
    const cut = await cli("doctor", "--head", "0".repeat(64));
    expect([cut.code, cut.stdout]).toEqual([1, expect.stringContaining("cut or rewritten")]);
  });

  test("copy the store and restore it", async () => {
    const copy = join(folder, "copy.db");
    expect(await ok("backup", copy)).toContain(copy);
    expect((await cli("backup", copy)).code).toBe(3);
    const restored = join(folder, "restored.db");
    await ok("restore", copy, "--db", restored);
    expect(await ok("list", "--db", restored)).toBe(await ok("list"));
    expect((await cli("restore", copy, "--db", restored)).code).toBe(3);
  });

  test("exports everything as JSON lines", async () => {
    const file = join(folder, "all.jsonl");
    expect(await ok("export", "--all", file)).toContain(`Exported 3 sessions with`);
    const text = readFileSync(file, "utf8");
    expect(await ok("export", "--all")).toBe(text);
    const lines = text.trimEnd().split("\n");
    const records = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(new Set(records.map(({ type }) => type))).toEqual(
      new Set(["session", "entry", "memory"]),
    );
    const first = records.findIndex(({ id }) => id === session);
    expect(records[first + 1]).toMatchObject({ type: "entry", id: question, sequence: 1 });
    expect((await cli("export", "--all", file)).code).toBe(2);
  });

  test("delete only with confirmation, and leave a tombstone", async () => {
    const refused = await cli("delete", session);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("add --yes")]);
    expect(await json("delete", session, "--yes")).toMatchObject({
      session_id: session,
      reason: "delete",
    });
    expect((await cli("show", session)).code).toBe(1);
    expect(await ok("sweep")).toBe("Deleted 0 sessions, ended 0 messages.\n");
    expect(await json("sweep", "--all")).toMatchObject({ deleted_sessions: [] });
    expect(await ok("doctor", "--verify")).toContain("all match");
  });
});
