/** What came of a session: committed, unfinished, a failed test, answered. */

import type { Act, Call } from "../../recap/read-acts.ts";
import { isLookup } from "../../recap/recap.ts";
import { pathParts } from "../../recap/trace-session.ts";

const COMMITS = /\bgit (?:-C \S+ )?commit\b/;
/** `[main 4be1c20] subject`. */
const COMMITTED = /^\[[^\]\n]{1,200} ([0-9a-f]{7,40})\]/m;
const TESTS =
  /\b(?:go test|cargo (?:test|nextest)|pytest|vitest|jest|mocha|rspec|phpunit|ctest|tox|(?:npm|pnpm|yarn|bun|mise|make|just|deno|gradle|mvn|dotnet|mix|swift|rake)(?: run)? (?:[\w:-]*test[\w:-]*|check|lint[\w:-]*))\b/;
const MAX_FILES = 4;

export function outcomeOf(acts: readonly Act[], calls: readonly Call[]): string | undefined {
  const commit = calls.findLast(
    ({ effects, result }) =>
      result?.failed === false && effects.commands.some((command) => COMMITS.test(command)),
  );
  const after = commit === undefined ? calls : calls.slice(calls.indexOf(commit) + 1);
  const changed = new Set(
    after
      .filter(({ result }) => result?.failed !== true)
      .flatMap(({ effects }) => effects.changed.map((path) => pathParts(path).at(-1) ?? path)),
  );
  const test = after.findLast(({ effects }) => effects.commands.some((each) => TESTS.test(each)));
  const [hash] = COMMITTED.exec(commit?.result?.output ?? "")?.slice(1) ?? [];
  const done =
    hash === undefined ? (commit === undefined ? "" : "Committed.") : `Committed ${hash}.`;
  if (changed.size === 0) {
    if (done !== "") return done;
    const last = acts.at(-1);
    const isAnswered = last?.type === "said" && last.role === "assistant";
    const didMore = calls.some(({ effects }) => effects.commands.some((each) => !isLookup(each)));
    return isAnswered
      ? "Answered; no file changed."
      : didMore
        ? "Ended without an answer."
        : undefined;
  }
  const names = [...changed].slice(0, MAX_FILES).join(", ");
  const more = changed.size > MAX_FILES ? ` and ${changed.size - MAX_FILES} more` : "";
  const tested =
    test?.result === undefined
      ? ""
      : test.result.failed
        ? " The last test run failed."
        : " Tests passed.";
  return `${done === "" ? "" : `${done} `}Unfinished: changed ${names}${more}, not committed.${tested}`;
}
