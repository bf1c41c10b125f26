/**
 * A file was read: what was decided or rejected about it, in words, when it was changed before.
 *
 * A statement counts if a person or an agent made it in the turn of a change to the file, it names
 * the file or what the change is about, and it says what was chosen, ruled out or why.
 */

import { type Act, actsOf, type Call } from "../../recap/read-acts.ts";
import { isSameFile, pathParts } from "../../recap/trace-session.ts";
import type { Asker } from "../asker.ts";
import { cut, dayOf } from "../frame.ts";
import type { Found, Verdict } from "../moment.ts";
import { isCommonFile } from "./common-files.ts";
import { decisionsIn } from "./decisions.ts";

/** Sessions that are read, and messages around a hit. */
const MAX_SESSIONS = 3;
const BEFORE = 40;
const REACH = 80;
const MAX_QUOTE_BYTES = 240;

interface Decision {
  readonly sessionId: string;
  readonly shortId: string;
  readonly index: number;
  readonly at: number;
  readonly text: string;
  readonly isPersons: boolean;
  readonly score: number;
}

export async function askFile(asker: Asker, file: string): Promise<Verdict> {
  const name = pathParts(file).at(-1) ?? "";
  if (name === "" || isCommonFile(file)) return { reason: "generic_file" };
  const { hits, partial, degraded } = await asker.search(`"${name}"`, {
    match: "any",
    role: ["assistant"],
    limit: 12,
    perSession: 2,
  });
  if (partial || degraded) return { reason: "incomplete" };
  const later = new Set<string>();
  const found: Decision[] = [];
  for (const { sessionId, shortId, index, mark } of hits.toSorted(newestFirst)) {
    if (index === null || mark !== undefined || !(await asker.mayQuote(sessionId))) continue;
    if (later.size >= MAX_SESSIONS && !later.has(sessionId)) continue;
    const acts = actsOf(await asker.read(sessionId, index - BEFORE, REACH));
    const edits = acts.filter((act) => act.type === "call" && changes(act, file)) as Call[];
    if (edits.length === 0) continue;
    later.add(sessionId);
    for (const said of nearEdits(acts, edits)) {
      for (const { text, score } of decisionsIn(said.text, name, edits)) {
        const isPersons = said.role === "user";
        const { index: at } = said;
        found.push({ sessionId, shortId, index: at, at: said.at, text, isPersons, score });
      }
    }
  }
  const figures = { sessions: later.size, decisions: found.length };
  const best = found.sort((a, b) => b.score - a.score || b.at - a.at)[0];
  if (best === undefined) return { reason: "nothing_found", figures };
  const since = await changedSince(asker, file, best);
  return { reason: "sure", figures, found: tell(name, best, since) };
}

type Said = Extract<Act, { type: "said" }>;

/** What was said in the turns of the edits: the request, and all up to the next one. */
function nearEdits(acts: readonly Act[], edits: readonly Call[]): readonly Said[] {
  const turns: Act[][] = [];
  for (const act of acts) {
    if (turns.length === 0 || (act.type === "said" && act.role === "user")) turns.push([]);
    turns.at(-1)?.push(act);
  }
  return turns
    .filter((turn) => turn.some((act) => act.type === "call" && edits.includes(act)))
    .flatMap((turn) => turn.filter((act) => act.type === "said"));
}

function changes({ effects, result }: Call, file: string): boolean {
  return result?.failed !== true && effects.changed.some((path) => isSameFile(path, file));
}

interface ByTime {
  readonly window: readonly { readonly createdAt: number }[];
}

function newestFirst(a: ByTime, b: ByTime): number {
  return (b.window[0]?.createdAt ?? 0) - (a.window[0]?.createdAt ?? 0);
}

/** The number of later sessions that changed the file. */
async function changedSince(asker: Asker, file: string, { at, sessionId }: Decision) {
  const name = pathParts(file).at(-1) ?? "";
  const { hits } = await asker.search(`"${name}"`, {
    match: "any",
    since: at,
    limit: 10,
    tool: EDITS,
  });
  const others = new Set(hits.map((hit) => hit.sessionId));
  others.delete(sessionId);
  return others.size;
}

const EDITS = ["Edit", "Write", "MultiEdit", "apply_patch", "replace", "write_file", "edit"];

function tell(name: string, best: Decision, since: number): Found {
  const { sessionId, shortId, index, at, text, isPersons } = best;
  const who = isPersons ? "your user" : "the agent";
  const changed =
    since === 0
      ? "No later session changed the file."
      : `${since} later session${since === 1 ? "" : "s"} changed the file.`;
  return {
    hit: { sessionId, shortId, index },
    lines: [
      `${name}, ${who} on ${dayOf(at)} (${shortId}#${index}): "${cut(text, MAX_QUOTE_BYTES)}"`,
      changed,
    ],
    person: `${isPersons ? "your remark" : "a decision"} about ${name} of ${dayOf(at)} (${shortId}).`,
  };
}
