import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { COMMANDS } from "../src/cli/commands/index.ts";
import { commandHelp } from "../src/cli/help.ts";
import { open } from "../src/open.ts";
import { callCli, environmentOf, type Ran, ROOT, run, runCli } from "./support/cli.ts";
import { removeFolder } from "./support/folder.ts";

/** Errors of the command line. */

const folder = mkdtempSync(join(tmpdir(), "backscroll-cli-errors-"));
const db = join(folder, "backscroll.db");
let session = "";

beforeAll(async () => {
  await using engine = await open(db, { inThread: true });
  const handle = await engine.createSession({ agent: "coder", createdBy: "ana", title: "Ours" });
  session = handle.id;
  const content = "x".repeat(2_000);
  await handle.append(Array.from({ length: 500 }, () => ({ role: "user" as const, content })));
  const other = engine.forTenant("other");
  await other.createSession({ agent: "coder", createdBy: "eve", title: "Theirs" });
});

afterAll(() => removeFolder(folder));

function cli(args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  return callCli(args, { env: { HOME: folder, BACKSCROLL_DB: db, ...env } });
}

/** The command must fail with `code` and one line that matches `message`. */
async function fails(args: readonly string[], code: number, message: RegExp): Promise<void> {
  const ran = await cli(args);
  expect(ran.stderr, args.join(" ")).toMatch(message);
  expect(ran.stderr.trimEnd().split("\n")).toHaveLength(1);
  expect([ran.code, ran.stdout], args.join(" ")).toEqual([code, ""]);
}

describe("mistakes on the command line", () => {
  test.concurrent.each<[string[], RegExp]>([
    [["lst"], /^backscroll: unknown command lst; did you mean list\? \(invalid_input\)$/m],
    [["frobnicate"], /unknown command frobnicate; backscroll --help lists the commands/],
    [["list", "--agnet", "x"], /list has no option --agnet; did you mean --agent\?/],
    [["list", "-x"], /list has no option -x; see backscroll list --help/],
    [["--agent", "coder", "list"], /unknown option --agent; options of a command come after/],
    [["list", "--limit"], /--limit needs a value: N/],
    [["list", "--limit", "--json"], /--limit needs a value: N; .* --limit=--json/],
    [["list", "--limit", "many"], /--limit must be a whole number, not "many"/],
    [["list", "--limit", "501"], /limit is 501; at most 500 is allowed.*too_large/],
    [["list", "--since", "soonish"], /--since must be a time such as today/],
    [["list", "--cursor", "x"], /cursor was not given by a list.*invalid_cursor/],
    [["list", "extra"], /list takes no argument "extra"/],
    [["list", "--json=yes"], /--json takes no value/],
    [["show"], /show needs SESSION; see backscroll show --help/],
    [["memory"], /memory needs one of list, search, get, put, delete \(invalid_input\)/],
    [["memory", "ls"], /memory needs one of .*, not ls; did you mean list\?/],
    [["new", "--agent", "coder"], /new needs --by NAME/],
    [["new", "--agent", "a", "--by", "b", "--metadata", "{"], /--metadata is not JSON/],
    [["new", "--agent", "a", "--by", "b", "--metadata", "[]"], /--metadata must be a JSON object/],
    [["new", "--agent", "a", "--by", "b", "--id", "../x"], /id may hold letters/],
    [["doctor", "--head", "abc"], /--head must be a hash/],
    [["export"], /export needs a session, or --all/],
    [["list", "--tenant", "a b"], /tenant must be 1 to 128 letters/],
    [["list", "--db", "mysql://x/y"], /mysql:\/\/ is no store.*invalid_address/],
    [["changes", "--after", "x"], /"x" is no cursor of the change feed.*invalid_cursor/],
  ])("%j is reported in one line", async (args, message) => {
    await fails(args, 2, message);
  });

  test("refuses an invalid message", async () => {
    await Promise.all([
      fails(["append", session, ""], 2, /content is empty/),
      fails(["append", session, "x", "--role", "boss"], 2, /role must be one of user/),
      fails(["append", session, "--json-message", '{"rôle":1}'], 2, /no field "rôle"/),
    ]);
    const bytes = await callCli(["append", session, "-"], {
      env: { HOME: folder, BACKSCROLL_DB: db },
      input: new Uint8Array([0xff, 0xfe]),
    });
    expect([bytes.code, bytes.stderr]).toEqual([2, expect.stringContaining("not UTF-8")]);
  });
});

describe("missing and obstructing files", () => {
  test("have their own exit codes", async () => {
    await Promise.all([
      fails(["show", "nope"], 1, /there is no session nope; .*\(session_not_found\)/),
      fails(["branch", session, "nope"], 1, /\(entry_not_found\)/),
      fails(["memory", "get", "coder", "nope"], 1, /\(memory_not_found\)/),
      fails(["facts", "delete", "nope"], 1, /\(fact_not_found\)/),
      fails(["new", "--agent", "a", "--by", "b", "--id", session], 3, /\(session_exists\)/),
      fails(["append", session, "x", "--expect-leaf", "root"], 3, /\(stale_leaf\)/),
    ]);
  });

  test("are one JSON object on standard error with --json", async () => {
    const ran = await cli(["show", "nope", "--json"]);
    expect([ran.code, ran.stdout]).toEqual([1, ""]);
    expect(JSON.parse(ran.stderr)).toEqual({
      error: {
        code: "session_not_found",
        message: "there is no session nope; list sessions to see their ids",
        details: { session_id: "nope" },
      },
    });
  });

  test("name the command that creates a store, and that command does", async () => {
    const home = join(folder, "fresh home");
    mkdirSync(home);
    const env = { HOME: home, BACKSCROLL_DB: "" };
    const missing = await cli(["list"], env);
    expect([missing.code, missing.stdout]).toEqual([4, ""]);
    const [, command = ""] =
      /create it with: (.*) \(store_not_found\)$/m.exec(missing.stderr) ?? [];
    const created = await run("sh", ["-c", command], { env });
    expect(created.code, created.stderr).toBe(0);
    const file = join(home, ".backscroll", "backscroll.db");
    expect(created.stdout).toContain(file);
    expect([statSync(file).mode & 0o777, statSync(join(file, "..")).mode & 0o777]).toEqual([
      0o600, 0o700,
    ]);
    // The two commands that `status` suggests work, in that order.
    for (const [, next = ""] of created.stdout.matchAll(/^ {2}(\S.*)$/gm)) {
      expect((await run("sh", ["-c", next], { env })).code, next).toBe(0);
    }
    expect((await cli(["list"], env)).stdout).toContain("First session");
    expect((await cli(["append", "x", "y", "--db", join(home, "none.db")])).code).toBe(4);
  });

  test("are never overwritten: a foreign file, a folder, a damaged store", async () => {
    const text = join(folder, "notes.txt");
    writeFileSync(text, "These are my notes, and no database.");
    await fails(["status", "--create", "--db", text], 7, /is not a database.*\(store_corrupt\)/);
    await fails(["status", "--create", "--db", folder], 2, /is a folder; name a file in it/);
  });

  test("include externally modified text, reported by reads and by doctor", async () => {
    const file = join(folder, "changed.db");
    await cli(["new", "--agent", "a", "--by", "b", "--id", "told", "--db", file]);
    const entry = (await cli(["append", "told", "Pay 10 euros.", "--db", file])).stdout.trim();
    const forger = new DatabaseSync(file);
    forger.exec("UPDATE entries SET content = CAST(replace(content, '10', '99') AS BLOB)");
    forger.close();
    await fails(["show", "told", "--db", file], 7, new RegExp(`${entry}.*\\(store_corrupt\\)`));
    const report = await cli(["doctor", "--verify", "--db", file]);
    expect([report.code, report.stderr]).toEqual([1, ""]);
    expect(report.stdout).toContain(`told ${entry}: the entry does not match its hash`);
    expect((await cli(["doctor", "--db", file])).code).toBe(0);
  });

  test("a read-only file", async () => {
    const place = join(folder, "read-only");
    mkdirSync(place);
    const file = join(place, "store.db");
    await cli(["new", "--agent", "a", "--by", "b", "--id", "kept", "--db", file]);
    chmodSync(folder, 0o755);
    chmodSync(place, 0o777);
    chmodSync(file, 0o444);
    const options = { env: { HOME: folder, BACKSCROLL_DB: file }, isBound: true };
    const read = await runCli(["list"], options);
    expect([read.code, read.stdout]).toEqual([0, expect.stringContaining("kept")]);
    const written = await runCli(["append", "kept", "x"], options);
    expect([written.code, written.stderr]).toEqual([6, expect.stringContaining("store_read_only")]);
  });
});

describe("a password in an address", () => {
  test.concurrent.each([
    "postgres://ana:s3cret@127.0.0.1:1/db",
    "postgres://127.0.0.1:1/db?password=s3cret",
  ])("is never printed: %s", async (address) => {
    for (const extra of [[], ["--json"]]) {
      const ran = await cli(["status", "--create", "--db", address, ...extra]);
      expect(ran.code).not.toBe(0);
      expect(ran.stdout + ran.stderr).not.toContain("s3cret");
    }
  });
});

describe("tenants", () => {
  test("see their own sessions only", async () => {
    expect((await cli(["list"])).stdout).not.toContain("Theirs");
    const theirs = await cli(["list", "--tenant", "other"]);
    expect(theirs.stdout).toContain("Theirs");
    expect(theirs.stdout).not.toContain("Ours");
    expect((await cli(["list"], { BACKSCROLL_TENANT: "other" })).stdout).toBe(theirs.stdout);
    await Promise.all([
      fails(["show", session, "--tenant", "other"], 1, /session_not_found/),
      fails(["append", session, "x", "--tenant", "other"], 1, /session_not_found/),
      fails(["delete", session, "--yes", "--tenant", "other"], 1, /session_not_found/),
    ]);
    const status = await cli(["status", "--tenant", "other", "--json"]);
    expect(JSON.parse(status.stdout)).toMatchObject({ tenants: [{ tenant: "other" }] });
  });
});

describe("help", () => {
  test("has one screen, and lists every command on demand, each with an example", async () => {
    const overview = await cli(["--help"]);
    expect([overview.code, overview.stderr]).toEqual([0, ""]);
    expect((await cli(["help"])).stdout).toBe(overview.stdout);
    const lines = overview.stdout.trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(24);
    expect(lines.every((line) => line.length <= 80)).toBe(true);
    const whole = await cli(["help", "--all"]);
    for (const command of COMMANDS) {
      const { name } = command;
      const isEarlier = name === "usage" || name === "sessions";
      expect(new RegExp(`^ {2}${name} `, "m").test(whole.stdout), name).toBe(!isEarlier);
      expect(commandHelp(command)).toMatch(new RegExp(`^Usage: backscroll ${name}`));
      expect(commandHelp(command)).toMatch(new RegExp(`^ {2}backscroll ${name}`, "m"));
    }
    const show = COMMANDS.find(({ name }) => name === "show");
    const help = await cli(["show", "--help"]);
    expect([help.code, help.stderr, help.stdout]).toEqual([0, "", show && commandHelp(show)]);
    expect((await cli(["help", "show"])).stdout).toBe(help.stdout);
    expect((await cli(["memory", "--help"])).stdout).toContain("backscroll memory put");
  });

  test("needs no store, and neither does the version", async () => {
    const none = { BACKSCROLL_DB: join(folder, "nowhere.db") };
    expect((await cli(["list", "--help"], none)).code).toBe(0);
    expect((await cli(["--version"], none)).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    const version = JSON.parse((await cli(["--version", "--json"], none)).stdout);
    expect(Object.keys(version)).toEqual(["version", "node", "sqlite"]);
  });
});

describe("pipes and signals", () => {
  test("ends quietly when the reader closes the pipe", async () => {
    const command = `"${process.execPath}" bin/backscroll.js export --all | head -n 1; echo "\${PIPESTATUS[0]}"`;
    const ran = await run("bash", ["-c", command], { env: { HOME: folder, BACKSCROLL_DB: db } });
    const lines = ran.stdout.trimEnd().split("\n");
    expect(ran.stderr).toBe("");
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ type: "session" });
    expect(lines[1]).toBe("0");
  });

  test("follows the feed until it is interrupted", async () => {
    const child = spawn(
      process.execPath,
      [join(ROOT, "bin/backscroll.js"), "changes", "--follow", "--json", "--after", "start"],
      {
        env: environmentOf({ HOME: folder, BACKSCROLL_DB: db }),
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    let output = "";
    const seen = (text: string) =>
      new Promise<void>((resolve) => {
        const look = () => output.includes(text) && resolve();
        child.stdout.on("data", look);
        look();
      });
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    const exited = new Promise((resolve) => child.once("exit", resolve));
    await seen('"position":501');
    const late = await cli(["new", "--agent", "late", "--by", "ana", "--id", "late"]);
    expect(late.code).toBe(0);
    await seen('"session_id":"late"');
    child.kill("SIGINT");
    expect(await exited).toBe(0);
    const positions = output
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { position: number }).position);
    expect(positions).toEqual(positions.map((_, i) => i + 1));
  });
});
