import { expect, test } from "vitest";
import { cpuMs } from "../../../test/support/cpu-time.ts";
import { changedLines } from "./changed-lines.ts";

function changes(tool: string, input: unknown) {
  return changedLines(tool, typeof input === "string" ? input : JSON.stringify(input)).changes;
}

test.each<[string, string, unknown]>([
  ["Claude Code", "Edit", { file_path: "a.ts", old_string: "one\ntwo", new_string: "one\nthree" }],
  [
    "several edits of Claude Code",
    "MultiEdit",
    { file_path: "a.ts", edits: [{ old_string: "one\ntwo", new_string: "one\nthree" }] },
  ],
  ["Gemini CLI", "replace", { file_path: "a.ts", old_string: "two", new_string: "three" }],
  [
    "str_replace_editor",
    "str_replace_based_edit_tool",
    { command: "str_replace", path: "a.ts", old_str: "two", new_str: "three" },
  ],
  ["opencode", "edit", { filePath: "a.ts", oldString: "two", newString: "three" }],
  [
    "Codex",
    "apply_patch",
    { input: "*** Begin Patch\n*** Update File: a.ts\n@@\n one\n-two\n+three\n*** End Patch" },
  ],
  [
    "a patch in a command of Codex",
    "shell",
    {
      command: [
        "bash",
        "-lc",
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.ts\n-two\n+three\n*** End Patch\nEOF",
      ],
    },
  ],
  [
    "Cline",
    "replace_in_file",
    { path: "a.ts", diff: "<<<<<<< SEARCH\ntwo\n=======\nthree\n>>>>>>> REPLACE" },
  ],
  [
    "a unified difference",
    "apply_diff",
    { diff: "--- a/a.ts\n+++ b/a.ts\n@@ -2 +2 @@\n-two\n+three" },
  ],
])("of an edit by %s, the lines that only one side has are changed", (_, tool, input) => {
  expect(changes(tool, input)).toEqual([{ path: "a.ts", added: ["three"], removed: ["two"] }]);
});

test("all lines of a written file are added, also those of a here-document", () => {
  const written = [{ path: "a.ts", added: ["one", "two"], removed: [] }];
  expect(changes("Write", { file_path: "a.ts", content: "one\ntwo" })).toEqual(written);
  expect(changes("Bash", { command: "cat > a.ts <<'EOF'\none\ntwo\nEOF\nnpm test" })).toEqual(
    written,
  );
  expect(changes("Bash", { command: "tee -a a.ts << EOF\none\ntwo\nEOF" })).toEqual(written);
});

test.each([
  ["git commit -m 'Cut the tax'", ["Cut the tax"]],
  [
    'cd shop && git add -A && git commit -am "Cut the \\"tax\\"\n\nWhy." && git push',
    ['Cut the "tax"'],
  ],
  ["git commit -m \"$(cat <<'EOF'\nCut the tax\n\nWhy.\nEOF\n)\"", ["Cut the tax"]],
  ["git commit --amend --no-edit", []],
  ["git log -m", []],
])("the subjects of %j are %j", (command, subjects) => {
  expect(changedLines("Bash", JSON.stringify({ command })).subjects).toEqual(subjects);
});

test("a tool that reads, and arguments that are no JSON, change nothing", () => {
  expect(changes("Read", { file_path: "a.ts" })).toEqual([]);
  expect(changes("Edit", '{"file_path": "a.ts", "new_')).toEqual([]);
});

test("a command of many here-documents is read in linear time", () => {
  const command = "cat > a.ts <<E\none\nE\n".repeat(20_000);
  let found = 0;
  expect(cpuMs(() => (found = changes("Bash", { command }).length))).toBeLessThan(2_000);
  expect(found).toBe(20_000);
});
