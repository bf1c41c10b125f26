/**
 * A command failed: the changed command that worked when it failed so before.
 *
 * A cure is another command of the same program that succeeded soon after, without a change to a
 * file in between. The same command that passed after edits is none: the edits were the cure.
 */

import { type Act, actsOf, bareCommand, type Call } from "../../recap/read-acts.ts";
import type { Asker, Hit } from "../asker.ts";
import { cut, dayOf } from "../frame.ts";
import type { Found, Verdict } from "../moment.ts";
import { headsOf, isSameButForNames, likeness, shownCommand } from "./command.ts";
import { errorLines, fixedPart, normalError } from "./error-line.ts";

/** Messages before a hit, which has the result, and after it. */
const BEFORE = 3;
const REACH = 30;
/** Commands after the failure among which the cure is sought. */
const MAX_TRIES = 8;
/** A less alike command does something else: of the failed one and the cure, of both failures. */
const LEAST_ALIKE = 0.4;
const LEAST_ALIKE_FAILURES = 0.3;
/** The part of the earlier failure in the likeness; the rest is that of the present one. */
const OF_FAILED = 0.35;
const MAX_ERROR_BYTES = 160;

interface Failure {
  readonly command: string;
  readonly lines: ReadonlySet<string>;
}

export async function askError(asker: Asker, command: string, error: string): Promise<Verdict> {
  const lines = errorLines(error);
  const [line] = lines;
  if (line === undefined) return { reason: "generic_error" };
  const failure = { command, lines: new Set(lines.map(normalError)) };
  const { hits, partial, degraded } = await asker.search(fixedPart(line), {
    role: ["tool", "user"],
    limit: 20,
    perSession: 4,
  });
  if (partial || degraded) return { reason: "incomplete" };
  const met = new Set<string>();
  let best: Cure | undefined;
  // Most hits are other programs' errors: what follows them is not read.
  const nears = await Promise.all(
    hits.map((hit) => asker.read(hit.sessionId, (hit.index ?? 0) - BEFORE, BEFORE + 2, false)),
  );
  for (const [i, hit] of hits.entries()) {
    const { sessionId, index: found } = hit;
    if (found === null || curesIn(actsOf(nears[i] ?? []), failure).next().done) continue;
    if (!(await asker.mayQuote(sessionId))) continue;
    const entries = await asker.read(sessionId, found - BEFORE, REACH, false);
    for (const { at, index, cure } of curesIn(actsOf(entries), failure)) {
      met.add(`${hit.sessionId}#${index}`);
      if (cure !== undefined && cure.alike > (best?.alike ?? 0)) best = { ...cure, hit, at };
    }
  }
  const figures = { met: met.size, alike: best?.alike ?? 0 };
  if (best === undefined) return { reason: met.size > 0 ? "no_cure" : "nothing_found", figures };
  if (best.hit.mark !== undefined) return { reason: "marked", figures };
  return { reason: "sure", figures, found: tell(command, line, best) };
}

interface Cure extends Tried {
  readonly hit: Hit;
  /** When the command failed so. */
  readonly at: number;
}

interface Tried {
  readonly call: Call;
  readonly text: string;
  readonly alike: number;
}

function tell(command: string, line: string, { hit, call, text, at }: Cure): Found {
  const { sessionId, shortId } = hit;
  return {
    hit: { sessionId, shortId, index: call.index },
    lines: [
      `\`${shownCommand(command)}\` gave "${cut(line, MAX_ERROR_BYTES)}" on ${dayOf(at)}, too.`,
      `Worked then: ${shownCommand(text)}  (${shortId}#${call.index})`,
    ],
    person: `this error was met on ${dayOf(at)}, too; passed on what worked (${shortId}).`,
    command: text,
  };
}

/** Every earlier time of the failure, with its cure if it has one. */
function* curesIn(
  acts: readonly Act[],
  failure: Failure,
): Generator<{ readonly at: number; readonly index: number; readonly cure: Tried | undefined }> {
  const calls = acts.filter((act) => act.type === "call");
  for (const [i, call] of calls.entries()) {
    const [failed] = call.effects.commands;
    if (failed === undefined || call.result?.failed !== true) continue;
    if (!isSameProgram(failed, failure.command)) continue;
    const met = errorLines(call.result.output).some((line) => failure.lines.has(normalError(line)));
    if (!met || likeness(failed, failure.command) < LEAST_ALIKE_FAILURES) continue;
    yield {
      at: call.at,
      index: call.index,
      cure: findCure(failed, failure.command, calls.slice(i + 1)),
    };
  }
}

function findCure(failed: string, asked: string, later: readonly Call[]): Tried | undefined {
  let best: Tried | undefined;
  let tries = 0;
  for (const call of later) {
    if (call.effects.changed.length > 0 || tries >= MAX_TRIES) break;
    const [text] = call.effects.commands;
    if (text === undefined) continue;
    tries++;
    if (call.result?.failed !== false || !isSameProgram(text, failed)) continue;
    // It passed as it was, so no other command was needed.
    if (bareCommand(text) === bareCommand(failed)) return undefined;
    if (isSameButForNames(text, failed)) continue;
    const alike = OF_FAILED * likeness(text, failed) + (1 - OF_FAILED) * likeness(text, asked);
    if (alike >= LEAST_ALIKE && alike > (best?.alike ?? 0)) best = { call, text, alike };
  }
  return best === undefined || saysNothingNew(best.text, asked) ? undefined : best;
}

function isSameProgram(a: string, b: string): boolean {
  const heads = headsOf(b);
  return [...headsOf(a)].some((head) => heads.has(head));
}

/** Whether what is shown of two commands differs in nothing but numbers. */
function saysNothingNew(text: string, asked: string): boolean {
  const [shown, own] = [text, asked].map((command) => shownCommand(bareCommand(command)));
  return isSameButForNames(shown ?? "", own ?? "");
}
