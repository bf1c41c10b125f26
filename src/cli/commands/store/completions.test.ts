import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callCli } from "../../../../test/support/cli.ts";
import { createFolder } from "../../../../test/support/folder.ts";
import { COMMANDS } from "../index.ts";
import { completionScript, SHELLS, type Shell } from "./completions.ts";

const folder = createFolder(afterAll);

/** The typed text, and the line after completion. */
const TYPED: readonly (readonly [string, string])[] = [
  ["sea", "search"],
  ["memory p", "memory put"],
  ["memory put --me", "memory put --metadata"],
  ["search lock --proj", "search lock --project"],
  ["list --ten", "list --tenant"],
  ["show 7a9b", "show 7a9b8c7d"],
  ["resume 7a", "resume 7a9b8c7d"],
  ["facts add 7a", "facts add 7a9b8c7d"],
];

/** A shell function in place of the program, which prints the output of `list`. */
let stub: string;

beforeAll(async () => {
  const env = { BACKSCROLL_DB: join(folder, "store.db") };
  const id = "7a9b8c7d-0d4b-4c5a-9e8f-7b6a5c4d3e2f";
  const title = "Checkout: tax's rate [1]";
  await callCli(["new", "--id", id, "--agent", "coder", "--by", "ana", "--title", title], { env });
  const { stdout } = await callCli(["list"], { env });
  expect(stdout).toMatch(/^ID .*\n7a9b8c7d .*Checkout: tax's rate \[1\]\n$/);
  const list = join(folder, "list");
  writeFileSync(list, stdout);
  stub = `cat ${list}`;
  for (const shell of SHELLS) writeFileSync(scriptOf(shell), completionScript(shell, COMMANDS));
});

function scriptOf(shell: Shell): string {
  return join(folder, `completions.${shell}`);
}

/** The output of `script`, which must succeed. */
function run(shell: Shell, args: readonly string[], script: string): string {
  const file = join(folder, `run.${shell}`);
  writeFileSync(file, script);
  const env = { PATH: process.env["PATH"], HOME: folder, TERM: "dumb", LC_ALL: "C.UTF-8" };
  const ran = spawnSync(shell, [...args, file], { encoding: "utf8", env, timeout: 60_000 });
  expect(ran.stderr).toBe("");
  expect(ran.status).toBe(0);
  return ran.stdout;
}

function isThere(shell: Shell): boolean {
  return spawnSync(shell, ["-c", "true"]).status === 0;
}

/** bash's completions for the last word of each line. */
function bash(lines: readonly string[]): string[] {
  const asked = lines.map((line) => {
    const words = line.split(" ");
    const list = words.map((word) => `'${word}'`).join(" ");
    return `COMP_WORDS=(backscroll ${list}); COMP_CWORD=${words.length}; COMPREPLY=(); _backscroll; echo "\${COMPREPLY[*]}"`;
  });
  const script = `backscroll() { ${stub}; }\nsource ${scriptOf("bash")}\n${asked.join("\n")}\n`;
  return run("bash", ["--norc"], script).trimEnd().split("\n");
}

function fish(lines: readonly string[]): string[] {
  const asked = lines.map((line) => `string join -- , (complete -C 'backscroll ${line}')`);
  const script = `function backscroll; ${stub}; end\nsource ${scriptOf("fish")}\n${asked.join("\n")}\ntrue\n`;
  return run("fish", ["--no-config"], script).trimEnd().split("\n");
}

/** The lines in an interactive zsh after pressing Tab. */
function zsh(lines: readonly string[]): string[] {
  const inner = `autoload -Uz compinit; compinit -u -D
backscroll() { ${stub}; }
source ${scriptOf("zsh")}
show-line() { print -r -- "<<$BUFFER>>"; BUFFER=; }
zle -N show-line; bindkey '^X' show-line; bindkey '^I' complete-word
setopt no_beep; LISTMAX=0; print -r -- '<<ready>>'
`;
  const file = join(folder, "inner.zsh");
  writeFileSync(file, inner);
  const asked = lines.map((line) => `ask '${`backscroll ${line}`}'`);
  return run(
    "zsh",
    ["-f"],
    `zmodload zsh/zpty
zpty shell 'PS1= zsh -f -i'
answer() { local all; zpty -r shell all '*<<*>>*'; all=\${all##*<<}; print -r -- "\${all%%>>*}"; }
ask() { zpty -w -n shell "$1"$'\\t\\x18'; answer; }
zpty -w shell 'source ${file}'
answer > /dev/null
${asked.join("\n")}
zpty -d shell
`,
  )
    .trimEnd()
    .split("\n");
}

describe("completes commands, their second words, their options and sessions", () => {
  test("in bash", () => {
    const last = TYPED.map(([, full]) => full.split(" ").at(-1));
    expect(bash(TYPED.map(([typed]) => typed))).toEqual(last);
  });

  test.skipIf(!isThere("fish"))("in fish (skipped where it is not installed)", () => {
    const offered = fish(TYPED.map(([typed]) => typed));
    expect(offered.map((line) => line.split("\t")[0])).toEqual(
      TYPED.map(([, full]) => full.split(" ").at(-1)),
    );
    expect(offered[5]).toContain("Checkout: tax's rate [1]");
    // A command's options are its own, also where another has its name as second word.
    expect(fish(["memory list --sin"])).toEqual([""]);
  });

  test.skipIf(!isThere("zsh"))("in zsh (skipped where it is not installed)", () => {
    expect(zsh(TYPED.map(([typed]) => typed)).map((line) => line.trimEnd())).toEqual(
      TYPED.map(([, full]) => `backscroll ${full}`),
    );
  });
});

test.each(SHELLS)("%s knows every command and every option", (shell) => {
  const script = completionScript(shell, COMMANDS);
  for (const { name, options } of COMMANDS) {
    for (const word of name.split(" ")) expect(script).toContain(word);
    for (const option of Object.keys(options)) expect(script).toContain(option);
  }
});
