import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { call, digest, entry, result } from "./digest.cases.ts";
import { toolEffects } from "./ledger.ts";

function check(
  name: string,
  input: unknown,
  expected: { run?: string; read?: string; changed?: string },
): void {
  const text = typeof input === "string" ? input : JSON.stringify(input);
  const { commands, read, changed } = toolEffects(name, text);
  const found = { run: commands.join(";"), read: read.join(" "), changed: changed.join(" ") };
  expect(found).toEqual({ run: "", read: "", changed: "", ...expected });
}

describe("commands", () => {
  test("are found under agents' various names", () => {
    check("Bash", { command: "npm  test 2>&1 | tail" }, { run: "npm  test 2>&1 | tail" });
    check("exec_command", { cmd: "ls" }, { run: "ls" });
    check("run_terminal_cmd", { command: "ls", is_background: false }, { run: "ls" });
    check("mcp__box__execute-command", { script: "ls" }, { run: "ls" });
    check("functions.shell", { command: ["bash", "-lc", "cd x && ls"] }, { run: "cd x && ls" });
    check(
      "local_shell",
      { action: { type: "exec", command: ["ls", "my dir"] } },
      { run: "ls 'my dir'" },
    );
    check("terminal", "ls -la", { run: "ls -la" });
    check("bash", '"ls"', { run: "ls" });
  });

  test("are absent for malformed arguments and other tools", () => {
    check("Bash", '{"command":"ls', {});
    check("Bash", {}, {});
    check("Bash", { command: 7 }, {});
    check("Bash", { command: [] }, {});
    check("Bash", { command: ["ls", 1] }, {});
    check("WebSearch", { command: "ls" }, {});
    check("Bash", { action: { action: { command: "deep" } } }, {});
    check("shell", '{"__proto__":{"command":"ls"}}', {});
  });
});

describe("files", () => {
  test("are read by tools that read", () => {
    check("Read", { file_path: "/a/b.ts", limit: 3 }, { read: "/a/b.ts" });
    check("read_many_files", { paths: ["a", "b", "a"] }, { read: "a b" });
    check("read_file", { files: [{ path: "a" }, { path: "b" }] }, { read: "a b" });
    check("str_replace_based_edit_tool", { command: "view", path: "a" }, { read: "a" });
  });

  test("are changed by tools that write", () => {
    for (const name of ["Write", "Edit", "MultiEdit", "write_file", "edit"]) {
      check(name, { filePath: "a b.ts" }, { changed: "a b.ts" });
    }
    check("NotebookEdit", { notebook_path: "n.ipynb" }, { changed: "n.ipynb" });
    check("str_replace_editor", { command: "str_replace", path: "a" }, { changed: "a" });
  });

  test("are named inside a patch", () => {
    const patch = [
      "*** Begin Patch",
      "*** Update File: src/a.ts",
      "*** Move to: src/b.ts",
      "@@",
      "-x",
      "+y",
      "*** Add File: c.md",
      "+# c",
      "*** Delete File: d",
      "*** End Patch",
    ].join("\n");
    check("apply_patch", patch, { changed: "src/a.ts src/b.ts c.md d" });
    check("apply_patch", { input: patch }, { changed: "src/a.ts src/b.ts c.md d" });
    check(
      "shell",
      { command: ["apply_patch", patch] },
      {
        run: `apply_patch '${patch}'`,
        changed: "src/a.ts src/b.ts c.md d",
      },
    );
    const diff =
      "--- a/old.ts\t2024\n+++ b/new.ts\t2024\n@@\n--- not a header\n+x\n--- a/gone\n+++ /dev/null";
    check("apply_diff", { diff }, { changed: "new.ts gone" });
    check("apply_diff", { path: "p.ts", diff: "<<<<<<< SEARCH" }, { changed: "p.ts" });
  });
});

test("any arguments parse without an exception", () => {
  const names = fc.constantFrom(
    "Bash",
    "Read",
    "Edit",
    "apply_patch",
    "str_replace_editor",
    "local_shell",
  );
  const inputs = fc.oneof(
    fc.json(),
    fc.string(),
    fc.constant("[".repeat(100_000)),
    fc.constant("null"),
  );
  fc.assert(
    fc.property(names, inputs, (name, input) => {
      const { commands, read, changed } = toolEffects(name, input);
      expect([...commands, ...read, ...changed].every((text) => typeof text === "string")).toBe(
        true,
      );
    }),
  );
});

describe("the ledger", () => {
  test("has the outcome of commands, and omits files of failed calls", () => {
    const { ledger } = digest([
      entry(
        "1",
        "assistant",
        call("a", "Bash", { command: "make" }),
        call("b", "Edit", { path: "x.ts" }),
      ),
      entry(
        "2",
        "tool",
        result("a", "boom", { error: true }),
        result("b", "no match", { error: true }),
      ),
      entry(
        "3",
        "assistant",
        call("a", "Bash", { command: "make" }),
        call("c", "Edit", { path: "x.ts" }),
      ),
      entry("4", "tool", result("c", "ok"), result("a", "ok")),
      entry(
        "5",
        "assistant",
        call("d", "Bash", { command: "sleep 9" }),
        call("e", "Read", { path: "y" }),
      ),
    ]);
    expect(ledger).toEqual({
      commands: [
        { text: "make", entryId: "1", failed: true },
        { text: "make", entryId: "3", failed: false },
        { text: "sleep 9", entryId: "5" },
      ],
      earlierCommands: 0,
      filesRead: [{ path: "y", entryId: "5", times: 1 }],
      filesChanged: [{ path: "x.ts", entryId: "3", times: 1 }],
      earlierFiles: 0,
    });
  });

  test("keeps the newest, and counts the rest", () => {
    const entries = Array.from({ length: 450 }, (_, i) => [
      entry(
        `${i}`,
        "assistant",
        call("s", "Bash", { command: `${i} ${"x".repeat(600)}` }),
        call("r", "Read", { path: `r${i}` }),
        call("w", "Write", { path: `w${i}` }),
      ),
      entry(`${i}r`, "tool", result("s", ""), result("r", ""), result("w", "")),
    ]).flat();
    const { ledger } = digest(entries);
    expect(ledger.commands.length).toBe(200);
    expect(ledger.earlierCommands).toBe(250);
    expect(ledger.commands[0]?.text).toBe(`250 ${"x".repeat(496)}…`);
    expect([ledger.filesRead.length, ledger.filesChanged.length]).toEqual([100, 200]);
    expect(ledger.earlierFiles).toBe(600);
    expect(ledger.filesChanged.at(-1)).toEqual({ path: "w449", entryId: "449", times: 1 });
  });

  test("counts how often a file was touched, and names the last entry", () => {
    const edit = (id: string) => [
      entry(id, "assistant", call("e", "Edit", { path: "a" })),
      entry(`${id}r`, "tool", result("e", "ok")),
    ];
    const first = digest([...edit("1"), ...edit("2")]);
    expect(digest(edit("3"), first).ledger.filesChanged).toEqual([
      { path: "a", entryId: "3", times: 3 },
    ]);
  });
});
