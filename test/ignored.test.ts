/** Conversations that a rule names leave no trace of their text in the store. */

import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { writeTurn } from "./support/claude-transcript.ts";
import { callCli, type Ran } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";
import { storedValues, tablesWith } from "./support/stored-values.ts";

let home: string;
let turns = 0;
beforeEach(() => {
  home = createFolder();
  turns = 0;
});

const store = () => join(home, "x.db");
const cli = (args: readonly string[], env: Record<string, string> = {}): Promise<Ran> =>
  callCli(args, { cwd: home, env: { HOME: home, BACKSCROLL_DB: store(), ...env } });

function put(path: string, content: string): string {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}
const configure = (config: object) => put(".backscroll/config.json", JSON.stringify(config));

/** The id of the session that says `word`. */
function claude(cwd: string, word: string): string {
  const id = `0000000${++turns}-0000-4000-8000-000000000000`;
  writeTurn(home, { id, cwd, text: `please ${word} the tests` });
  return id;
}

function codex(cwd: string, word: string): void {
  const id = `0000000${++turns}-0000-7000-8000-000000000000`;
  const at = "2026-05-04T10:00:00.000Z";
  const lines = [
    {
      type: "session_meta",
      payload: { id, timestamp: at, cwd, originator: "codex", source: "cli" },
    },
    {
      type: "response_item",
      payload: { type: "message", role: "user", content: [{ type: "input_text", text: word }] },
    },
  ].map((line) => JSON.stringify({ timestamp: at, ...line }));
  put(
    `.codex/sessions/2026/05/04/rollout-2026-05-04T10-00-00-${id}.jsonl`,
    `${lines.join("\n")}\n`,
  );
}

const ignoredBy = async (...args: string[]) => {
  const ran = await cli(["ingest", "--json", ...args]);
  expect(ran.stderr).toBe("");
  return JSON.parse(ran.stdout).totals.ignored_by as Record<string, number>;
};
const texts = async () => (await cli(["export", "--all"])).stdout;

describe("a rule", () => {
  test("keeps the text of its conversations out of every table and original", async () => {
    for (const folder of ["open", "hidden/deep", "repo/.git", "marked/a", "lines/secret/b"]) {
      mkdirSync(join(home, folder), { recursive: true });
    }
    put("repo/.git/config", '[remote "origin"]\n\turl = git@example.org:acme/shop.git\n');
    put("marked/.backscrollignore", "");
    const marks = put("lines/.backscrollignore", "# mine\nsec*\n");
    configure({
      ignore: {
        folders: ["~/hidden"],
        repositories: ["acme/shop"],
        agents: ["codex"],
        patterns: ["Client*X"],
      },
    });
    claude(join(home, "open"), "marigold");
    claude(join(home, "lines"), "tulip");
    claude(join(home, "hidden/deep"), "quagga1");
    claude(join(home, "repo"), "quagga2");
    claude(join(home, "marked/a"), "quagga3");
    claude(join(home, "lines/secret/b"), "quagga4");
    claude("/elsewhere/client/about-x", "quagga5");
    codex(join(home, "open"), "quagga6");
    put(".claude/projects/-note/memory/MEMORY.md", "a note");
    const encoded = join(home, "hidden/deep").replace(/[^A-Za-z0-9]/g, "-");
    put(`.claude/projects/${encoded}/memory/MEMORY.md`, "quagga7");
    const gone = join(home, "hidden/gone").replace(/[^A-Za-z0-9]/g, "-");
    put(`.claude/projects/${gone}/memory/MEMORY.md`, "quagga8");
    const expected = {
      "ignore.folders ~/hidden": 1,
      "ignore.repositories acme/shop": 1,
      "ignore.agents codex": 1,
      "ignore.patterns Client*X": 1,
      [join(home, "marked/.backscrollignore")]: 1,
      [marks]: 1,
    };
    expect(await ignoredBy()).toEqual(expected);
    // The files are not opened again, and are counted all the same.
    expect(await ignoredBy()).toEqual(expected);
    expect(tablesWith(store(), "quagga")).toEqual([]);
    // The scan finds what is stored, as original and as message.
    expect(tablesWith(store(), "marigold")).toEqual(
      expect.arrayContaining(["entries", "original_parts"]),
    );
    const said = (await cli(["ingest"])).stdout;
    expect(said).toContain("1 session by ignore.agents codex");
    expect(said).toContain("forget --project");
    const doctor = await cli(["doctor"]);
    expect(doctor.stdout).toMatch(/^Ignored {3}.*1 session by ignore\.folders ~\/hidden/m);
    expect(JSON.parse((await cli(["doctor", "--json"])).stdout).rules.ignored_by).toEqual(expected);
    // A store that never met these files has the same rows.
    const rows = (path: string) =>
      [...storedValues(path)]
        .filter(([table]) => !/ingested_files|index\./.test(table))
        .map(([table, values]) => `${table} ${values.length}`);
    const before = rows(store());
    for (const path of [".codex", "hidden", "repo", "marked", "lines/secret"]) {
      rmSync(join(home, path), { recursive: true });
      const folder = join(home, path).replace(/[^A-Za-z0-9]/g, "-");
      rmSync(join(home, `.claude/projects/${folder}`), { recursive: true, force: true });
    }
    for (const folder of [encoded, gone, "-elsewhere-client-about-x"]) {
      rmSync(join(home, ".claude/projects", folder), { recursive: true });
    }
    for (const path of ["marked/a", "lines/secret/b"]) {
      const folder = join(home, path).replace(/[^A-Za-z0-9]/g, "-");
      rmSync(join(home, ".claude/projects", folder), { recursive: true });
    }
    await callCli(["ingest"], {
      cwd: home,
      env: { HOME: home, BACKSCROLL_DB: join(home, "y.db") },
    });
    expect(rows(join(home, "y.db"))).toEqual(before);
  });

  test("holds for later lines, and what was stored before it stays", async () => {
    const cwd = join(home, "work");
    const id = claude(cwd, "marigold");
    await cli(["ingest"]);
    put("work/.backscrollignore", "*\n");
    writeTurn(home, { id, cwd, text: "quagga", turn: 2 });
    expect(await ignoredBy()).toEqual({ [join(cwd, ".backscrollignore")]: 1 });
    writeTurn(home, { id, cwd, text: "quagga", turn: 3 });
    await cli(["ingest", "--force"]);
    expect(await cli(["ingest", "--again", "--force"])).toMatchObject({ code: 0, stderr: "" });
    expect(await texts()).toContain("marigold");
    expect(tablesWith(store(), "quagga")).toEqual([]);
  });

  test("that is taken back lets its conversations in, whole", async () => {
    configure({ ignore: { agents: ["claude-code"] } });
    const id = claude(join(home, "work"), "marigold");
    await cli(["ingest"]);
    expect(await texts()).toBe("");
    configure({});
    expect(await ignoredBy()).toEqual({});
    expect(await texts()).toContain("marigold");
    expect((await cli(["export", id, "--original"])).stdout).toContain("marigold");
  });

  test("cannot be overruled by naming the file", async () => {
    configure({ ignore: { folders: [join(home, "work")] } });
    claude(join(home, "work"), "quagga");
    const file = join(home, "moved.jsonl");
    const folder = join(home, "work").replace(/[^A-Za-z0-9]/g, "-");
    const text = readFileSync(
      join(home, `.claude/projects/${folder}/00000001-0000-4000-8000-000000000000.jsonl`),
    );
    writeFileSync(file, text);
    const named = await cli(["ingest", file, "--force"]);
    expect(named.stdout).toContain(`ignored by ignore.folders ${join(home, "work")}`);
    const piped = await callCli(["ingest", "-", "--json"], {
      cwd: home,
      input: text,
      env: { HOME: home, BACKSCROLL_DB: store() },
    });
    expect(JSON.parse(piped.stdout).totals.ignored_by).toEqual({
      [`ignore.folders ${join(home, "work")}`]: 1,
    });
    expect(tablesWith(store(), "quagga")).toEqual([]);
  });

  test("for a folder holds by its path without links, also once it is gone", async () => {
    mkdirSync(join(home, "disk/secret"), { recursive: true });
    symlinkSync(join(home, "disk"), join(home, "link"));
    configure({ ignore: { folders: [join(home, "link/secret")] } });
    claude(join(home, "disk/secret/a"), "quagga");
    claude(join(home, "link/secret/b"), "quagga");
    claude(join(home, "disk/secrets"), "marigold");
    rmSync(join(home, "disk/secret"), { recursive: true });
    expect(await ignoredBy()).toEqual({ [`ignore.folders ${join(home, "link/secret")}`]: 2 });
    expect(tablesWith(store(), "quagga")).toEqual([]);
    expect(await texts()).toContain("marigold");
  });
});

test.each([
  [
    { ignore: { agents: ["claud-code"] } },
    /ignore\.agents has no agent "claud-code"; did you mean claude-code\?/,
  ],
  [{ ignore: { folders: ["work"] } }, /ignore\.folders must have absolute paths/],
  [{ ignores: {} }, /has no field "ignores"; did you mean ignore\?/],
])("the configuration %j is an error, and nothing is stored", async (config, message) => {
  claude(join(home, "work"), "quagga");
  configure(config);
  const ran = await cli(["ingest"]);
  expect([ran.code, ran.stderr]).toEqual([2, expect.stringMatching(message)]);
  expect(ran.stderr).toContain("config.json");
  expect(await texts()).toBe("");
  if (!("ignore" in config)) return;
  expect((await cli(["doctor"])).stdout).toMatch(/^Rules {5}nothing is ingested: /m);
});

test("the hook of an ignored folder says and stores nothing", async () => {
  claude(join(home, "open"), "marigold");
  await cli(["ingest"]);
  const cwd = join(home, "work");
  put("work/.backscrollignore", "");
  const id = claude(cwd, "quagga");
  const folder = cwd.replace(/[^A-Za-z0-9]/g, "-");
  const transcript_path = join(home, ".claude/projects", folder, `${id}.jsonl`);
  const call = (event: object) =>
    callCli(["hook", "claude-code"], {
      cwd: home,
      env: { HOME: home, BACKSCROLL_DB: store() },
      input: JSON.stringify({ session_id: id, cwd, transcript_path, ...event }),
    });
  const start = { hook_event_name: "SessionStart", source: "startup" };
  expect(await call(start)).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(await call({ hook_event_name: "SessionEnd" })).toEqual({
    code: 0,
    stdout: "",
    stderr: "",
  });
  expect(tablesWith(store(), "quagga")).toEqual([]);
});
