/** What came of a session, as sentences: committed, unfinished, a failed test, answered. */

import { type Ended, endedWith } from "../../engine/sessions/outcome.ts";
import type { Entry } from "../../model/entry.ts";
import { type Act, actsOf } from "../../recap/read-acts.ts";
import { isLookup } from "../../recap/recap.ts";
import { pathParts } from "../../recap/trace-session.ts";

const MAX_FILES = 4;

/** Undefined where nothing was done that another session could go on with. */
export function outcomeOf(entries: readonly Entry[]): string | undefined {
  const { word, commit, changed, testsPassed } = endedWith(entries);
  if (word === "committed") return commit === null ? "Committed." : `Committed ${commit}.`;
  const done = commit === null ? "" : `Committed ${commit}. `;
  if (changed.length === 0) {
    if (done !== "") return done.trim();
    if (word === "answered") return "Answered; no file changed.";
    return actsOf(entries).some(isWork) ? "Ended without an answer." : undefined;
  }
  const tested =
    testsPassed === null ? "" : testsPassed ? " Tests passed." : " The last test run failed.";
  const state = word === "unfinished" ? "Unfinished: changed" : "Changed";
  return `${done}${state} ${namesOf(changed)}, not committed.${tested}`;
}

function namesOf(changed: Ended["changed"]): string {
  const names = [...new Set(changed.map((path) => pathParts(path).at(-1) ?? path))];
  const more = names.length > MAX_FILES ? ` and ${names.length - MAX_FILES} more` : "";
  return `${names.slice(0, MAX_FILES).join(", ")}${more}`;
}

function isWork(act: Act): boolean {
  return act.type === "call" && act.effects.commands.some((each) => !isLookup(each));
}
