/** Shows which conversation wrote a commit or lines: a row for each, then why, once for each edit. */

import { LONGEST_SECRET, maskText } from "../api/mask.ts";
import { oneLine } from "../compaction/digest/timeline.ts";
import { isSameFile } from "../recap/trace-session.ts";
import type { Blame, Blamed, BlamedSession } from "./blame.ts";

const HASH = 8;
const QUOTE = 150;
/** Of more edits, the rows alone are shown. */
const MOST_WHY = 12;
export const NOBODY = "no stored conversation wrote this";

/** Without a heading; the cells of each row, the last one open-ended. */
export function blameRows({ answers }: Blame): readonly (readonly string[])[] {
  return joined(answers).flatMap((answer) => {
    const label = labelOf(answer);
    if (answer.sessions.length === 0) {
      return [[label, "–", dayOf(answer.committedAt), "–", NOBODY]];
    }
    return answer.sessions.map((session, i) => [
      i === 0 ? label : "",
      session.shortId,
      dayOf(session.edit?.at ?? answer.committedAt),
      session.sure,
      masked(session.title, 60),
    ]);
  });
}

/** Lines next to each other that nobody wrote are one row. */
function joined(answers: readonly Blamed[]): readonly Blamed[] {
  const kept: Blamed[] = [];
  for (const answer of answers) {
    const last = kept.at(-1);
    const isNext =
      last?.lines && answer.lines && last.sessions.length + answer.sessions.length === 0;
    if (!isNext || last?.lines == null || answer.lines === null) kept.push(answer);
    else {
      const committedAt = Math.max(last.committedAt ?? 0, answer.committedAt ?? 0);
      kept[kept.length - 1] = {
        ...answer,
        committedAt,
        lines: { ...answer.lines, first: last.lines.first },
      };
    }
  }
  return kept;
}

export const BLAME_COLUMNS: Readonly<Record<"lines" | "commits", readonly string[]>> = {
  lines: ["LINES", "SESSION", "WHEN", "SURE", ""],
  commits: ["COMMIT", "SESSION", "WHEN", "SURE", ""],
};

/** Why: a paragraph for each edit, and how many more there are. */
export function blameReasons({ answers }: Blame): {
  readonly parts: readonly (readonly string[])[];
  readonly more: number;
} {
  const parts = new Map<string, readonly string[]>();
  for (const answer of answers) {
    for (const session of answer.sessions) {
      const key = `${session.id} ${session.edit?.entryId ?? answer.commit}`;
      if (!parts.has(key)) parts.set(key, why(answer, session));
    }
  }
  const all = [...parts.values()];
  return { parts: all.slice(0, MOST_WHY), more: Math.max(0, all.length - MOST_WHY) };
}

/** A text for each session of each answer, for models. */
export function blameTexts(blame: Blame): readonly {
  readonly text: string;
  readonly shortId: string;
  readonly index: number;
}[] {
  return blame.answers.flatMap((answer) =>
    answer.sessions.map((session) => {
      const { shortId, edit, asked, sure, title } = session;
      const day = dayOf(edit?.at ?? answer.committedAt);
      const subject = answer.lines === null ? answer.subject : answer.lines.path;
      const heading = `${labelOf(answer)} ${masked(subject, 80)}: ${shortId} ${day} (${sure}) ${masked(title, 80)}`;
      return {
        text: [heading, ...why(answer, session)].join("\n"),
        shortId,
        index: edit?.index ?? asked?.index ?? 0,
      };
    }),
  );
}

function why(answer: Blamed, session: BlamedSession): readonly string[] {
  const { asked, because, edit, tests, reasons, owner, agent } = session;
  const commit = answer.commit === null ? answer.subject : `commit ${answer.commit.slice(0, HASH)}`;
  const of = answer.lines === null ? `${session.shortId}  ` : `${labelOf(answer)}  `;
  const whose = owner === null || owner === agent ? agent : `${agent} for ${owner}`;
  return [
    `${of}${whose}, ${answer.lines === null ? reasons.join("; ") : commit}`,
    ...(asked === null
      ? []
      : [`  asked    #${asked.index} ${quoted(masked(asked.text, 2 * QUOTE))}`]),
    ...(because === null ? [] : [`  because  #${because.index} "${masked(because.text, QUOTE)}"`]),
    ...(edit === null
      ? []
      : [`  edit     #${edit.index}, ${standing(answer, session)}${elsewhere(answer, edit.path)}`]),
    ...(tests === null
      ? []
      : [`  tests    #${tests.index} ${outcome(tests.passed)}: ${masked(tests.command, 60)}`]),
  ];
}

/** What was followed has quotes in itself. */
export function quoted(text: string): string {
  return text.includes('"') ? text : `"${text}"`;
}

function standing({ lines }: Blamed, { edit }: BlamedSession): string {
  const { lines: count = 0, total = 0 } = edit ?? {};
  return lines === null
    ? `${count} of its ${total} lines are in the commit`
    : `${count} of its ${total} lines stand here`;
}

function elsewhere({ lines }: Blamed, path: string | null): string {
  if (path === null || (lines !== null && isSameFile(lines.path, path))) return "";
  return `, in ${masked(path.split("/").slice(-2).join("/"), 60)}`;
}

function outcome(passed: boolean | null): string {
  return passed === null ? "ran" : passed ? "passed" : "failed";
}

function labelOf({ commit, lines }: Blamed): string {
  if (lines === null) return commit?.slice(0, HASH) ?? "–";
  return lines.first === lines.last ? String(lines.first) : `${lines.first}-${lines.last}`;
}

function dayOf(at: number | null): string {
  return at === null ? "–" : new Date(at).toISOString().slice(0, 10);
}

function masked(text: string, characters: number): string {
  return oneLine(maskText(text.trim().slice(0, characters + LONGEST_SECRET)), characters);
}
