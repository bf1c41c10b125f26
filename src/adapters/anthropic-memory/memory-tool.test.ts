import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase } from "../../../test/support/postgres.ts";
import { connect } from "../../client/index.ts";
import type { TenantApi } from "../../engine/interfaces.ts";
import { type Engine, open } from "../../index.ts";
import { openServer } from "../../server/index.ts";
import { type AnthropicMemory, anthropicMemory } from "./index.ts";

describe.each(["sqlite", "postgres", "client"] as const)("the memory tool on %s", (where) => {
  let engine: Engine;
  let tenant: TenantApi;
  const ends: (() => Promise<void>)[] = [];
  let count = 0;

  beforeAll(async () => {
    engine = await open(where === "postgres" ? await createDatabase() : ":memory:");
    ends.push(() => engine.close());
    tenant = engine;
    if (where !== "client") return;
    const server = await openServer(engine, { version: "0.0.0", port: 0 });
    ends.push(() => server.stop(100));
    const remote = await connect(server.url);
    ends.push(() => remote.close());
    tenant = remote;
  });
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });

  const fresh = (history?: number): AnthropicMemory =>
    anthropicMemory(tenant, {
      namespace: `m${++count}`,
      ...(history === undefined ? {} : { history }),
    });
  const create = (memory: AnthropicMemory, path: string, text = "x") =>
    memory.create({ command: "create", path, file_text: text });
  const view = (memory: AnthropicMemory, path: string, ...range: number[]) =>
    memory.view({ command: "view", path, ...(range.length === 0 ? {} : { view_range: range }) });

  test("creates files, and shows folders two levels deep", async () => {
    const memory = fresh();
    expect(await view(memory, "/memories")).toBe(
      "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n0B\t/memories",
    );
    expect(await create(memory, "/memories/notes/cron/lock.md", "y".repeat(1_536))).toBe(
      "File created successfully at: /memories/notes/cron/lock.md",
    );
    await create(memory, "/memories/a.txt", "abc");
    await create(memory, "/memories/.hidden", "abc");
    await create(memory, "/memories/notes/one.md", "");
    const lines = (await view(memory, "/memories")).split("\n").slice(1);
    expect(lines).toEqual([
      "1.5K\t/memories",
      "3B\t/memories/a.txt",
      "1.5K\t/memories/notes/",
      "1.5K\t/memories/notes/cron/",
      "0B\t/memories/notes/one.md",
    ]);
    expect((await view(memory, "/memories/notes")).split("\n").slice(1)).toEqual([
      "1.5K\t/memories/notes",
      "1.5K\t/memories/notes/cron/",
      "1.5K\t/memories/notes/cron/lock.md",
      "0B\t/memories/notes/one.md",
    ]);
    expect(await create(memory, "/memories/a.txt")).toBe(
      "Error: File /memories/a.txt already exists",
    );
    expect(await create(memory, "/memories/notes")).toBe(
      "Error: File /memories/notes already exists",
    );
    expect(await create(memory, "/memories/a.txt/b")).toBe(
      "Error: /memories/a.txt is a file and no directory",
    );
  });

  test("shows files with numbers of lines, whole or in part", async () => {
    const memory = fresh();
    await create(memory, "/memories/f", "one\ntwo\nthree");
    const head = "Here's the content of /memories/f with line numbers:";
    expect(await view(memory, "/memories/f")).toBe(
      `${head}\n     1\tone\n     2\ttwo\n     3\tthree`,
    );
    expect(await view(memory, "/memories/f", 2, 2)).toBe(`${head}\n     2\ttwo`);
    expect(await view(memory, "/memories/f", 2, -1)).toBe(`${head}\n     2\ttwo\n     3\tthree`);
    expect(await view(memory, "/memories/none")).toBe(
      "The path /memories/none does not exist. Please provide a valid path.",
    );
  });

  test("replaces a text that occurs once", async () => {
    const memory = fresh();
    const replace = (path: string, old_str: string, new_str: string) =>
      memory.str_replace({ command: "str_replace", path, old_str, new_str });
    await create(memory, "/memories/f", "a\nb\nc $& d\nb\ne");
    expect(await replace("/memories/f", "c $& d", "$1\nnew")).toBe(
      "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\ta\n     2\tb\n     3\t$1\n     4\tnew\n     5\tb",
    );
    expect(await replace("/memories/f", "zzz", "y")).toBe(
      "No replacement was performed, old_str `zzz` did not appear verbatim in /memories/f.",
    );
    expect(await replace("/memories/f", "b", "y")).toBe(
      "No replacement was performed. Multiple occurrences of old_str `b` in lines: 2, 5. Please ensure it is unique",
    );
    expect(await replace("/memories/none", "b", "y")).toBe(
      "Error: The path /memories/none does not exist. Please provide a valid path.",
    );
  });

  test("inserts lines", async () => {
    const memory = fresh();
    const insert = (path: string, insert_line: number, insert_text: string) =>
      memory.insert({ command: "insert", path, insert_line, insert_text });
    await create(memory, "/memories/f", "one\nthree");
    expect(await insert("/memories/f", 1, "two\n")).toBe("The file /memories/f has been edited.");
    await insert("/memories/f", 0, "zero");
    await insert("/memories/f", 4, "four");
    expect(await view(memory, "/memories/f")).toContain(
      "     1\tzero\n     2\tone\n     3\ttwo\n     4\tthree\n     5\tfour",
    );
    expect(await insert("/memories/f", 9, "x")).toBe(
      "Error: Invalid `insert_line` parameter: 9. It should be within the range of lines of the file: [0, 5]",
    );
    expect(await insert("/memories/none", 0, "x")).toBe(
      "Error: The path /memories/none does not exist",
    );
  });

  test("deletes and renames files and folders", async () => {
    const memory = fresh();
    const rename = (old_path: string, new_path: string) =>
      memory.rename({ command: "rename", old_path, new_path });
    const remove = (path: string) => memory.delete({ command: "delete", path });
    for (const path of ["a/1", "a/b/2", "c"]) await create(memory, `/memories/${path}`, path);
    expect(await rename("/memories/a", "/memories/z/y")).toBe(
      "Successfully renamed /memories/a to /memories/z/y",
    );
    expect(await view(memory, "/memories/z/y/b/2")).toContain("\ta/b/2");
    expect(await view(memory, "/memories/a")).toContain("does not exist");
    expect(await rename("/memories/c", "/memories/z/y/1")).toBe(
      "Error: The destination /memories/z/y/1 already exists",
    );
    expect(await rename("/memories/none", "/memories/n")).toBe(
      "Error: The path /memories/none does not exist",
    );
    expect(await remove("/memories/z")).toBe("Successfully deleted /memories/z");
    expect(await remove("/memories/z")).toBe("Error: The path /memories/z does not exist");
    expect(await remove("/memories")).toBe(
      "Error: The directory /memories itself cannot be deleted",
    );
    expect((await view(memory, "/memories")).split("\n").slice(1)).toEqual([
      "1B\t/memories",
      "1B\t/memories/c",
    ]);
  });

  test.each([
    "/etc/passwd",
    "memories/x",
    "/memoriesx",
    "/memories/../etc",
    "/memories/a/../../etc",
    "/memories/%2e%2e/etc",
    "/memories/%252e%252e/etc",
    "/memories/..%2fetc",
    "/memories/..\\etc",
    "/memories/a//b",
    "/memories/a\nb",
    "/memories/%ff",
  ])("refuses the path %j in every command", async (path) => {
    const memory = fresh();
    await create(memory, "/memories/here");
    const commands = [
      { command: "view", path },
      { command: "create", path, file_text: "x" },
      { command: "str_replace", path, old_str: "x", new_str: "y" },
      { command: "insert", path, insert_line: 0, insert_text: "y" },
      { command: "delete", path },
      { command: "rename", old_path: path, new_path: "/memories/new" },
      { command: "rename", old_path: "/memories/here", new_path: path },
    ];
    for (const command of commands) {
      expect(await memory.execute(command)).toMatch(
        /^Error: The path .* (would escape the|must start with) \/memories/s,
      );
    }
    expect((await view(memory, "/memories")).split("\n").slice(1)).toEqual([
      "1B\t/memories",
      "1B\t/memories/here",
    ]);
  });

  test("answers any input of a model with text", async () => {
    const memory = fresh();
    for (const input of [null, {}, { command: "toString" }, { command: "view", path: 5 }]) {
      expect(await memory.execute(input)).toMatch(/^Error: /);
    }
    const large = { command: "create", path: "/memories/l", file_text: "x".repeat(300 * 1024) };
    expect(await memory.execute(large)).toMatch(/^Error: \/memories\/l would have 307200 bytes/);
  });

  test("keeps earlier versions, and finds current ones", async () => {
    const memory = fresh(2);
    await create(memory, "/memories/pets", "a capybara");
    for (const [old_str, new_str] of [
      ["a capybara", "a tapir"],
      ["a tapir", "an okapi"],
      ["an okapi", "a quokka"],
    ] as const) {
      const path = "/memories/pets";
      await memory.str_replace({ command: "str_replace", path, old_str, new_str });
    }
    const contents = async () =>
      (await memory.history("/memories/pets")).map(({ content }) => content);
    expect(await contents()).toEqual(["an okapi", "a tapir"]);
    expect(await memory.search("quokka")).toMatchObject([
      { path: "/memories/pets", content: "a quokka" },
    ]);
    expect(await memory.search("okapi")).toEqual([]);
    await memory.delete({ command: "delete", path: "/memories/pets" });
    expect(await contents()).toEqual(["a quokka", "an okapi"]);
    expect(await memory.search("quokka")).toEqual([]);
  });

  test("concurrent changes of one file are all applied", async () => {
    const memory = fresh();
    await create(memory, "/memories/f", "start");
    await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        memory.insert({
          command: "insert",
          path: "/memories/f",
          insert_line: 1,
          insert_text: `${i}`,
        }),
      ),
    );
    const lines = (await view(memory, "/memories/f")).split("\n").slice(2);
    expect(lines.map((line) => line.split("\t")[1]).sort()).toEqual([..."01234567"]);
  });

  test("another tenant has files of its own", async () => {
    const memory = fresh();
    await create(memory, "/memories/secret");
    const other = anthropicMemory(engine.forTenant("other"), { namespace: `m${count}` });
    expect(await view(other, "/memories/secret")).toContain("does not exist");
  });
});
