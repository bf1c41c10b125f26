import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { COMMANDS } from "./commands/index.ts";
import { completionScript, SHELLS } from "./completions.ts";

/** What bash would offer for the last of `words`. */
function offered(...words: string[]): string[] {
  const list = words.map((word) => `'${word}'`).join(" ");
  const line = `COMP_WORDS=(backscroll ${list}); COMP_CWORD=${words.length}; _backscroll; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const script = `${completionScript("bash", COMMANDS)}\n${line}`;
  return execFileSync("bash", ["-c", script], { encoding: "utf8" }).split("\n").filter(Boolean);
}

test("bash completes commands, their second words and their options", () => {
  expect(offered("sea")).toEqual(["search"]);
  expect(offered("memory", "p")).toEqual(["put"]);
  expect(offered("memory", "put", "--me")).toEqual(["--metadata"]);
  expect(offered("search", "lock", "--proj")).toEqual(["--project"]);
  expect(offered("list", "--ten")).toEqual(["--tenant"]);
});

test.each(SHELLS)("%s knows every command and every option", (shell) => {
  const script = completionScript(shell, COMMANDS);
  for (const { name, options } of COMMANDS) {
    for (const word of name.split(" ")) expect(script).toContain(word);
    for (const option of Object.keys(options)) expect(script).toContain(option);
  }
});
