import { expect, test } from "vitest";
import type { Session } from "../../model/session.ts";
import type { SearchHit, WindowItem } from "../../search/request.ts";
import { showHit } from "./hit.ts";

/** The text of a hit with this message; `«»` mark its matches. */
function shown(marked: string, more: Partial<WindowItem> = {}): string {
  const matches: { start: number; end: number }[] = [];
  let snippet = "";
  for (const [i, part] of marked.split(/[«»]/).entries()) {
    if (i % 2 === 1) matches.push({ start: snippet.length, end: snippet.length + part.length });
    snippet += part;
  }
  const window = [
    { index: 3, role: "user", toolName: null, found: true, ...more, snippet, matches },
  ];
  const hit = { shortId: "s1", index: 3, branch: null, window } as unknown as SearchHit;
  const session = { id: "s1", shortId: "s1", agent: "coder", title: "t", origin: {} };
  const style = { before: 0, after: 0, now: 0, isNewest: false };
  return showHit(hit, session as unknown as Session, style)
    .split("\n")
    .slice(1)
    .join("\n");
}

test("a hit shows the line with the run, though many others match", () => {
  const lines = "the «lock» of it\n".repeat(20);
  expect(shown(`${lines}fatal: «not a lock» here\n${lines}`)).toContain("fatal: not a lock here");
});

test("a long line is cut around the run, between words", () => {
  const filler = "compiling «lock» ".repeat(30);
  const text = shown(`first\n${filler}«the lock is held» ${filler}`);
  expect(text).toMatch(/: …(compiling|lock) .*the lock is held.* (compiling|lock)…/);
});

test("a call shows the argument with the run, if its main one has none", () => {
  const call =
    'Edit({"file_path":"a.ts","old_string":"x\\n\\t«the lock is held»","new_string":"y"})';
  const more = { role: "assistant", toolName: "Edit" } as const;
  expect(shown(call, more)).toContain("the lock is held");
  expect(shown('Edit({"file_path":"«lock».ts","old_string":"x"})', more)).toContain("Edit lock.ts");
});
