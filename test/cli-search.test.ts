import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { open } from "../src/open.ts";
import { callCli, type Ran } from "./support/cli.ts";
import { removeFolder } from "./support/folder.ts";

/** Search from the command line, on one small store. */

const folder = mkdtempSync(join(tmpdir(), "backscroll-cli-search-"));
const db = join(folder, "store.db");
const DAY = 86_400_000;
const OLD = Date.parse("2026-01-10T12:00:00Z");

afterAll(() => removeFolder(folder));

beforeAll(async () => {
  await using memory = await open(db, { inThread: true });
  const cron = await memory.createSession({
    id: "cron",
    agent: "coder",
    createdBy: "ana",
    title: "Cron runs twice",
    origin: { projectId: "p1", projectPath: "/src/jobs", workstation: "desk", gitBranch: "main" },
  });
  await cron.append([
    { role: "user", actor: "ana", content: "Hello there." },
    { role: "user", actor: "ana", content: "Why does the nightly cron job run twice?" },
    { role: "assistant", actor: "coder", content: "Because the lock file is gone." },
    { role: "user", actor: "ana", content: "Thanks \u001b[31mred\u001b[0m." },
    { role: "user", actor: "ana", content: "Bye." },
  ]);
  const backup = await memory.createSession({
    id: "backup",
    agent: "reviewer",
    createdBy: "ben",
    origin: { projectId: "p2", workstation: "laptop" },
  });
  await backup.append([
    { role: "user", actor: "ben", content: "The backup job needs a lock.", createdAt: OLD },
    {
      role: "assistant",
      actor: "reviewer",
      createdAt: OLD + DAY,
      toolCalls: [{ id: "1", name: "runShell", arguments: { command: "flock" } }],
    },
  ]);
  await memory.putMemory({ agent: "coder", name: "deploy", content: "Migrate before the deploy." });
  await memory.putMemory({ agent: "other", name: "deploy", content: "Never deploy on Fridays." });
  await cron.addFacts([{ subject: "cron job", predicate: "is locked by", object: "a file" }]);
});

function cli(...args: string[]): Promise<Ran> {
  return callCli(args, { env: { HOME: folder, BACKSCROLL_DB: db } });
}

interface Hit {
  readonly session_id: string;
  readonly msg_idx: number | null;
  readonly window: { readonly msg_idx: number; readonly found: boolean }[];
}

async function search(...args: string[]): Promise<Hit[]> {
  const { code, stdout, stderr } = await cli("search", ...args, "--json");
  const { hits } = JSON.parse(stdout) as { hits: Hit[] };
  expect({ code, stderr }, args.join(" ")).toEqual({ code: hits.length > 0 ? 0 : 1, stderr: "" });
  return hits;
}

async function found(...args: string[]): Promise<string[]> {
  return (await search(...args)).map(({ session_id }) => session_id).sort();
}

describe("search", () => {
  test("accepts a question as typed, and shows the answer beside it, or the messages around", async () => {
    const { code, stdout, stderr } = await cli("search", "why", "does", "cron", "run", "twice");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^cron {2}Cron runs twice\n {2}coder · \S+ \S+$/m);
    expect(stdout).toContain("▸ ana asked  #1  Why does the nightly cron job run twice?\n");
    expect(stdout).toContain("  it said    #2  Because the lock file is gone.\n");
    expect(stdout).not.toContain("Hello there.");
    const around = await cli("search", "why does cron run twice", "-B", "1", "-A", "1");
    expect(around.stdout).toContain(
      "▸ #1 user · ana\n    Why does the nightly cron job run twice?\n",
    );
    expect(around.stdout).toContain("  #0 user · ana\n    Hello there.\n");
    expect(stdout).not.toContain("\u001b");
  });

  test("shows with its first hit what else was said in that session, without announcements", async () => {
    const other = join(folder, "more.db");
    const memory = await open(other, { inThread: true });
    const session = await memory.createSession({ agent: "coder", createdBy: "ana" });
    await session.append([
      { role: "user", content: "Why does the importer stall on large parcels?" },
      { role: "assistant", content: "Let me look at how the importer reads large parcels." },
      { role: "assistant", content: "The importer stalls on large parcels: probably the disk." },
      { role: "user", content: "Are you sure?" },
      {
        role: "assistant",
        content: "No. Large parcels wait for a lock that a dead importer holds.",
      },
    ]);
    await memory.close();
    const { stdout } = await cli("search", "importer stalls on large parcels", "--db", other);
    expect(stdout).toContain("probably the disk");
    expect(stdout).toContain("a lock that a dead importer holds");
    expect(stdout).not.toContain("Let me look");
    for (const narrowed of [["importer stalls -dead"], ["importer stalls", "--role", "user"]]) {
      const { stdout: own } = await cli("search", ...narrowed, "--db", other);
      expect(own, narrowed.join(" ")).not.toContain("a lock that a dead importer holds");
    }
    const marking = await open(other, { inThread: true });
    const marked = await marking.getSession(session.id);
    const { entries } = await marked.listEntries();
    const last = entries.at(-1)?.id ?? "";
    await marked.mark({ entryId: last, reason: "it was the disk", actor: "ana" });
    await marking.close();
    const after = await cli("search", "importer stalls on large parcels", "--db", other);
    expect(after.stdout).not.toContain("a lock that a dead importer holds");
  });

  test("shows of a long first answer its verdict, not the list that repeats the words", async () => {
    const other = join(folder, "long.db");
    const memory = await open(other, { inThread: true });
    const session = await memory.createSession({ agent: "coder", createdBy: "ana" });
    const list = Array.from({ length: 40 }, (_, i) => `- parcel importer stall test ${i}`);
    await session.append([
      { role: "user", content: "Look at the importer." },
      {
        role: "assistant",
        content: [
          "The importer stalls because the parcel lock is held by a dead worker.",
          ...Array.from({ length: 40 }, (_, i) => `Line ${i} is about something else altogether.`),
          "```",
          ...list,
          "```",
        ].join("\n"),
      },
    ]);
    await memory.close();
    const { stdout } = await cli("search", "parcel importer stall", "--db", other);
    expect(stdout).toContain("because the parcel lock is held by a dead worker");
    expect(stdout).not.toContain("stall test");
  });

  test("shows control characters instead of obeying them", async () => {
    const { stdout } = await cli("search", "thanks");
    expect(stdout).toContain("Thanks ␛[31mred␛[0m.");
    expect(stdout).not.toContain("\u001b");
  });

  test("prints JSON of this shape", async () => {
    const { stdout } = await cli("search_sessions", "nightly", "--explain", "--json");
    const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
    const entry = expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/);
    const number = expect.any(Number);
    const item = (index: number, role: string, actor: string, snippet: string) => ({
      entry_id: entry,
      msg_idx: index,
      role,
      actor,
      snippet,
      created_at: expect.stringMatching(time),
      truncated: false,
      tool_name: null,
      matches: [],
      found: false,
    });
    expect(JSON.parse(stdout)).toEqual({
      hits: [
        {
          session_id: "cron",
          short_id: "cron",
          meta: {
            title: "Cron runs twice",
            agent: "coder",
            message_count: 5,
            created_at: expect.stringMatching(time),
            updated_at: expect.stringMatching(time),
            late_branches: 0,
          },
          branch: null,
          entry_id: entry,
          msg_idx: 1,
          only_asked: null,
          leaf: entry,
          score: number,
          similarity: null,
          superseded_by: null,
          mark: null,
          changed_files: null,
          exchange: null,
          window: [
            item(0, "user", "ana", "Hello there."),
            {
              ...item(1, "user", "ana", "Why does the nightly cron job run twice?"),
              matches: [{ start: 13, end: 20 }],
              found: true,
            },
            item(2, "assistant", "coder", "Because the lock file is gone."),
          ],
          parts: {
            message: number,
            neighbours: number,
            session: number,
            boost: number,
            coverage: number,
          },
        },
      ],
      notes: [],
      indexing: false,
      degraded: false,
      next_cursor: null,
      total: 1,
      partial: false,
      explanation: {
        terms: expect.arrayContaining([{ term: "night", documents: 1, weight: number }]),
        documents: number,
        average_length: number,
        segments: 0,
        candidates: number,
      },
    });
    const plain = JSON.parse((await cli("search", "nightly", "--json")).stdout);
    expect([plain.explanation, plain.hits[0].parts]).toEqual([null, null]);
  });

  test.concurrent.each<[string[], string[]]>([
    [["lock"], ["backup", "cron"]],
    [["lock", "--agent", "reviewer"], ["backup"]],
    [["lock", "--owner", "ana"], ["cron"]],
    [["lock", "--participant", "ben"], ["backup"]],
    [["lock", "--project", "p1"], ["cron"]],
    [["lock", "--project", "src/jobs"], ["cron"]],
    [["lock", "--workstation", "laptop"], ["backup"]],
    [["lock", "--git-branch", "main"], ["cron"]],
    [["lock", "--session", "cron"], ["cron"]],
    [["lock", "--exclude", "cron"], ["backup"]],
    [["lock", "--role", "assistant"], ["cron"]],
    [["lock", "--since", "2026-01-11"], ["cron"]],
    [["lock", "--until", "2026-01-11"], ["backup"]],
    [["runShell", "--tool", "runShell"], ["backup"]],
    [["backup", "lock", "--all"], ["backup"]],
    [["lock", "agent:reviewer", "since:2026-01-10"], ["backup"]],
    [["lock -file"], ["backup"]],
    [["lock", "--agent", "nobody"], []],
    [["xylophone"], []],
  ])("finds with %j", async (args, sessions) => {
    expect(await found(...args)).toEqual(sessions);
  });

  test("sizes the window with -B and -A", async () => {
    const indexes = async (...args: string[]) =>
      (await search("nightly", ...args))[0]?.window.map(({ msg_idx }) => msg_idx);
    expect(await indexes("-B", "0", "-A", "3")).toEqual([1, 2, 3, 4]);
    expect(await indexes("--before", "9", "--after", "0")).toEqual([0, 1]);
  });

  test("gives several hits of a session, with the index for show", async () => {
    const hits = await search("job lock file", "--per-session", "5", "--session", "cron");
    expect(hits.map(({ msg_idx }) => msg_idx).sort()).toEqual([1, 2]);
    expect(await search("lock", "--limit", "1")).toHaveLength(1);
    const { stdout } = await cli("show", "cron", "--offset", `${hits[0]?.msg_idx}`, "--limit", "1");
    expect(stdout).toMatch(/lock file|nightly cron job/);
  });

  test("reports that nothing was found, with its own exit code", async () => {
    const { code, stdout, stderr } = await cli("search", "xylophone");
    const why = 'No message has "xylophone".';
    expect([code, stdout, stderr]).toEqual([1, `Nothing found.\n${why}\n`, ""]);
    const filtered = await cli("search", "cron", "--agent", "nobody");
    expect(filtered.stdout).toBe(
      "Nothing found.\nA filter leaves it out: there are hits without --agent.\n",
    );
  });

  test("matches the last word as a prefix while it is typed", async () => {
    expect((await cli("search", "loc")).code).toBe(1);
    expect((await cli("search", "loc", "--as-you-type")).code).toBe(0);
  });

  test("reports ignored filters, and refuses invalid options", async () => {
    const odd = await cli("search", "lock since:someday");
    expect([odd.code, odd.stderr]).toEqual([0, expect.stringContaining("is no date")]);
    for (const wrong of [
      ["--limit", "21"],
      ["--ranking", "best"],
      ["--since", "soon"],
    ]) {
      expect((await cli("search", "lock", ...wrong)).code, wrong.join(" ")).toBe(2);
    }
    expect((await cli("search")).code).toBe(2);
    const dashed = await cli("search", "lock", "-file");
    expect([dashed.code, dashed.stderr]).toEqual([2, expect.stringContaining("'lock -file'")]);
  });

  test("explains its scores to a person", async () => {
    const { stdout } = await cli("search", "nightly", "--explain", "--ranking", "plain");
    expect(stdout).toMatch(/^7 messages, 0 segments and the tail, 1 candidate/m);
    expect(stdout).toMatch(/night {2}in 1 messages?, weight \d/);
    expect(stdout).toMatch(/message \d\.\d{3} \+ neighbours 0\.000 \+ session 0\.000 \+ boost/);
  });
});

describe("memory search and facts search", () => {
  test("find whole notes, of one agent if named", async () => {
    const { stdout } = await cli("memory", "search", "deploy", "--agent", "coder");
    expect(stdout).toBe("coder · deploy\n    Migrate before the deploy.\n");
    const both = JSON.parse((await cli("search_memory", "deploy", "--json")).stdout);
    expect(both.memories).toHaveLength(2);
    expect(both.memories[0]).toMatchObject({ name: "deploy", content: expect.any(String) });
    const one = JSON.parse((await cli("search_memory", "deploy", "--limit", "1", "--json")).stdout);
    expect(one.memories).toHaveLength(1);
    expect(await cli("memory", "search", "xylophone")).toMatchObject({
      code: 1,
      stdout: "Nothing found.\n",
    });
  });

  test("find facts", async () => {
    const { code, stdout } = await cli("facts", "search", "cron", "lock");
    expect([code, stdout]).toEqual([0, expect.stringMatching(/cron job +is locked by +a file/)]);
    const { facts } = JSON.parse((await cli("facts", "search", "cron", "--json")).stdout);
    expect(facts).toMatchObject([{ subject: "cron job", object: "a file" }]);
    expect((await cli("facts", "search", "xylophone")).code).toBe(1);
  });
});

describe("secrets", () => {
  const secret = `ghp_${"aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF"}`;
  const at = join(folder, "secrets.db");
  const run = async (...args: string[]): Promise<string> => {
    const { code, stdout } = await callCli(args, { env: { HOME: folder, BACKSCROLL_DB: at } });
    expect(code, args.join(" ")).toBe(0);
    return stdout;
  };

  test("are masked in output, and stored unchanged", async () => {
    {
      await using memory = await open(at, { inThread: true });
      const session = await memory.createSession({ id: "s", agent: "coder", createdBy: "ana" });
      await session.append({ role: "user", content: `Deploy with ${secret} please.` });
      await memory.putMemory({ agent: "coder", name: "key", content: secret });
    }
    const reads = [
      ["show", "s"],
      ["show", "s", "--tree"],
      ["history", "s"],
      ["export", "--all"],
    ];
    await Promise.all(
      reads.flatMap((words) =>
        [words, [...words, "--json"]].map(async (args) => {
          const [masked, raw] = await Promise.all([run(...args), run(...args, "--raw")]);
          expect(masked).not.toContain(secret);
          expect(masked).toContain("[redacted]");
          expect(raw).toContain(secret);
        }),
      ),
    );
    expect(await run("search", "deploy", "--json")).not.toContain(secret);
    expect(await run("memory", "search", "key")).toContain("[redacted]");
    expect(await run("memory", "search", "key", "--json")).not.toContain(secret);
    expect(await run("memory", "get", "coder", "key")).toContain(secret);
    const copy = join(folder, "secrets-copy.db");
    await run("backup", copy);
    expect(await run("show", "s", "--raw", "--db", copy)).toContain(secret);
  });
});

test("the index setting is changed by config alone, for every later process", async () => {
  const own = join(folder, "own.db");
  const env = { HOME: folder, BACKSCROLL_DB: own };
  {
    await using memory = await open(own, { inThread: true });
    const session = await memory.createSession({ agent: "coder", createdBy: "ana" });
    await session.append({
      role: "assistant",
      content: "done",
      toolCalls: [{ id: "1", name: "Bash", arguments: { command: "kudu" } }],
      toolResults: [{ id: "1", name: "Bash", output: "impala" }],
    });
  }
  expect((await callCli(["search", "impala"], { env })).code).toBe(0);
  const changed = await callCli(["config", "--index-tools", "inputs", "--json"], { env });
  expect(JSON.parse(changed.stdout)).toMatchObject({
    indexing: { tools: "inputs", language: "english" },
    rebuilt: [{ tenant: "default" }],
  });
  expect((await callCli(["search", "impala"], { env })).code).toBe(1);
  const told = { ...env, BACKSCROLL_INDEX_TOOLS: "all" };
  const other = await callCli(["search", "kudu"], { env: told });
  expect(other.code).toBe(0);
  expect(other.stderr).toContain("indexing.tools is inputs in the store, not all");
  expect((await callCli(["config", "--index-tools", "some"], { env })).code).toBe(2);
});

describe("recap and trace", () => {
  const secret = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;

  beforeAll(async () => {
    await using memory = await open(db, { inThread: true });
    const origin = { projectId: "p3", projectPath: "/src/deploys" };
    const session = await memory.createSession({
      id: "deploys",
      agent: "coder",
      createdBy: "ana",
      title: "Mend the deploy",
      origin,
    });
    const call = (id: string, name: string, input: object, output: string, isError = false) => [
      {
        role: "assistant" as const,
        toolCalls: [{ id, name, input: JSON.stringify(input) }],
      },
      { role: "tool" as const, actor: name, toolResults: [{ id, name, output, isError }] },
    ];
    await session.append([
      { role: "user", actor: "ana", content: `Mend the deploy with ${secret}` },
      ...call("1", "Bash", { command: "make deploy" }, "quagga is not defined", true),
      ...call("2", "Edit", { file_path: "/src/deploys/run.mk", old_string: "a" }, "ok"),
      ...call("3", "Bash", { command: "make deploy" }, "deployed"),
      { role: "assistant", actor: "coder", content: "It deploys." },
    ]);
  });

  test("recap has requests, outcome, files and commands, without secrets", async () => {
    const { stdout, code } = await cli("recap", "--project", "deploys", "--since", "yesterday");
    expect(code).toBe(0);
    expect(stdout).toContain("asked #0: Mend the deploy with [redacted]");
    expect(stdout).toContain("outcome #7: It deploys.");
    expect(stdout).toContain("changed run.mk");
    expect(stdout).toContain("ran `make deploy (2×)`");
    const one = await cli("recap", "deploys", "--json");
    expect(JSON.parse(one.stdout)).toMatchObject({
      sessions: [{ session: { id: "deploys" }, request_count: 1, files_changed: [{ times: 1 }] }],
      more: false,
      sub_agents: 0,
    });
    expect(one.stdout).not.toContain(secret);
  });

  test("trace lists the sessions that touched, ran or met it, and the fix", async () => {
    expect((await cli("trace", "--file", "run.mk")).stdout).toContain("changed at #3");
    const { stdout } = await cli("trace", "--error", "quagga is not defined");
    expect(stdout).toContain("cleared by: #3 Edit run.mk; #5 Bash make deploy worked");
    const json = await cli("trace", "--command", "make deploy", "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({
      subject: { kind: "command", text: "make deploy" },
      sessions: [{ session: { id: "deploys" }, finding: { runs: { first: 1, last: 5 } } }],
      unread: 0,
    });
  });

  test("missing and wrong arguments are reported", async () => {
    expect((await cli("recap", "--project", "nowhere")).code).toBe(1);
    expect((await cli("trace", "--file", "nowhere.ts")).code).toBe(1);
    for (const command of [
      ["trace", "--file", "run.mk"],
      ["stats"],
      ["related", "--question", "x"],
    ]) {
      const { stdout, stderr } = await cli(...command, "--project", "deploy");
      expect(stdout + stderr).toContain("the project deploy; did you mean deploys?");
    }
    const both = await cli("trace", "--file", "a", "--error", "b");
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("one of --file")]);
    const period = await cli("recap", "--since", "today", "--until", "2d");
    expect(period.stderr).toMatch(/since \(.*\) is after until \(.*\); swap them/);
  });
});
