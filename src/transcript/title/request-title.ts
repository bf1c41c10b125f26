/**
 * Derives a title from a request: its first meaningful line.
 *
 * It skips preambles of agents, templates and terminals: slash commands, shell prompts, fenced
 * code, tags, template openings ("Implement the following plan:"), common headings ("Context"), and
 * sentences that only assign a role ("You are an expert reviewer.").
 */

import { gradeTitle, shortenTitle, type TitleGrade, toOneLine } from "./title-text.ts";

export interface MadeTitle {
  readonly title: string;
  readonly grade: TitleGrade;
}

/** The part of a request that is read: it may hold a whole file. */
const MAX_SOURCE = 20_000;
const MAX_LINES = 200;

/** A line this short, or one that announces the next, is joined with the next. */
const SHORT_LINE = 24;

/** The best line of `request`; undefined if none is meaningful. */
export function titleOfRequest(request: string): MadeTitle | undefined {
  const text = request.slice(0, MAX_SOURCE).trim();
  const command = COMMAND.exec(text);
  if (command !== null) return titleOfCommand(command[1] ?? "", command[2] ?? "");
  return titleOfText(text);
}

/** `/name` or `/group:name` at the very start, not a path. */
const COMMAND = /^\/([\p{L}][\p{L}\p{N}_:.-]*)(?![\p{L}\p{N}_:./-])([\s\S]*)$/u;

/** Meaningful arguments are the title; others ("167") need the command's name. */
function titleOfCommand(name: string, rest: string): MadeTitle | undefined {
  const made = titleOfText(rest.trim());
  if (made !== undefined && made.grade >= 2) return made;
  const args = toOneLine(rest);
  if (args === "" || /^\[.*\]$/.test(args)) return undefined;
  return { title: shortenTitle(`${name} ${args}`), grade: /[\p{L}\p{N}]/u.test(args) ? 3 : 1 };
}

function titleOfText(text: string): MadeTitle | undefined {
  const lines = spokenLines(text);
  let best: MadeTitle | undefined;
  for (const [i, line] of lines.entries()) {
    const whole = needsMore(line) ? joinNext(lines, i) : line;
    const made = { title: shortenTitle(whole), grade: gradeTitle(whole) };
    if (made.grade === 3) return made;
    if (made.grade > (best?.grade ?? 0)) best = made;
  }
  return best ?? titleOfPaste(text);
}

function needsMore(line: string): boolean {
  return line.length < SHORT_LINE || (line.length < 60 && line.endsWith(":"));
}

/** A line with the next one; a heading gets a colon before its sentence. */
function joinNext(lines: readonly string[], i: number): string {
  const line = lines[i] ?? "";
  const next = lines[i + 1];
  if (next === undefined || (gradeTitle(line) === 3 && !line.endsWith(":"))) return line;
  return /^\p{Lu}/u.test(next) && /[\p{L}\p{N}]$/u.test(line)
    ? `${line}: ${next}`
    : `${line} ${next}`;
}

/** Possible prose lines, without list and heading marks. */
function spokenLines(text: string): string[] {
  const lines: string[] = [];
  let fence: string | undefined;
  for (const raw of text.split(/\r\n?|\n/, MAX_LINES)) {
    const mark = /^\s*(```|~~~)/.exec(raw)?.[1];
    if (mark !== undefined) {
      fence = fence === undefined ? mark : fence === mark ? undefined : fence;
      continue;
    }
    if (fence !== undefined) continue;
    const line = spokenPart(raw);
    if (line !== "") lines.push(line);
  }
  return lines;
}

function spokenPart(raw: string): string {
  if (SHELL_PROMPT.test(raw) || MACHINE_LINE.test(raw)) return "";
  const line = toOneLine(raw.replace(TAGS, " ").replace(MARKERS, " ").replace(BOX, " "))
    .replace(LEADING_MARKS, "")
    .replace(/^(\*\*|__|\*|_|`)(.+)\1$/, "$2")
    .replace(TEMPLATE_PREFIX, "")
    .trim();
  if (TEMPLATE_LINE.test(line) || COMMON_HEADING.test(line)) return "";
  return withoutRole(line);
}

/** `user@host dir %`, `~/dir $`, `PS C:\>`, `$ command`, `>>>`; not "$5 is too much". */
const SHELL_PROMPT =
  /^\s*(?:\(?[\w.-]+\)?\s+)?(?:➜\s|λ\s|[\w.-]+@[\w.-]+[^\n]{0,80}?[%$#]\s|(?:~|\/)[^\s]*\s*[%$#❯]\s|PS [A-Z]:\\[^>]*>|[A-Z]:\\[^>]*>|[$%] (?=[a-z./])|>>> |❯\s*(?:[a-z][\w.-]*\s+(?:-|[a-z]+\s*$)|\.\/))/u;

/** Program output: times, stack frames, diffs, tables, rules, JSON, paths and addresses. */
const MACHINE_LINE =
  /^\s*(?:\[?\d{4}[-/]\d{2}[-/]\d{2}[T ]\d{2}:\d{2}|\[?\d{2}:\d{2}:\d{2}|at \S+ \(|File "[^"]+", line \d+|Traceback \(most recent|@@ |diff --git|[+-]{3} [ab]\/|[│┌├└╭╰╮╯─━═┃|]|[-=*_~#]{3,}\s*$|[{}[\]()<>,;"']*$|[{[]\s*"|(?:https?|ssh|git):\/\/\S+\s*$|(?:~|\.{1,2})?\/\S+\s*$|[\w.-]+(?:\/[\w.-]+)+(?::\d+)*\s*$|On branch |import |#!)/u;

/**
 * Template tags, which are removed while their text stays: `<task>`, `[[ ## user_query ## ]]`,
 * `[Image #1]`.
 */
const TAGS = /<\/?[a-z][\w:-]*(?:\s[^<>\n]{0,200})?\/?>/giu;
const MARKERS =
  /\[\[\s{0,8}##[^\]]{0,200}##\s{0,8}\]\]|\[(?:Image|Pasted text|File)\b[^\]]{0,200}\]|<!--.{0,400}?-->/giu;

/** Box-drawing frames copied from a terminal. */
const BOX = /[\u2500-\u259f]+/gu;

/** Marks of headings, quotes and lists, pasted prompts, and "Q:". */
const LEADING_MARKS =
  /^(?:#{1,6}\s+|>+\s*|[-*+•▸►❯›⏺✻●]\s+|\d{1,2}[.)]\s+|[A-Za-z][.)]\s+|(?:Q|Question|User|Human|Me|Prompt|Task|TODO|Request|Title|Goal|Subject)\s*:\s*|"{3}|`{1,2}(?=\s))+/iu;

/** Prefixes of a plan's heading: "Plan: Versioned stanzas" is about versioned stanzas. */
const TEMPLATE_PREFIX =
  /^(?:(?:please )?(?:implement|execute|carry out|follow|apply|do|work on|review|here(?:'s| is)|use) (?:the|this|that|my|a) (?:following|attached|below)? ?(?:\w+ )?(?:plan|task|spec|request|changes|instructions|issue|ticket|prompt) ?(?:below)? ?: ?|(?:the )?(?:implementation|development|refactoring|design|action|test)? ?plan ?(?::|–|—|- ) ?)+/iu;

/** Template openings that precede a request. */
const TEMPLATE_LINE =
  /^(?:base directory for this skill|caveat:|operation stopped by hook:|critical:|the user (?:has )?(?:asked|said|says|sent|opened)|contents of |(?:(?:please )?(?:implement|execute|carry out|follow|apply|do|work on|continue(?: with)?|review|complete|perform|solve|answer|read) (?:the|this|that|these|my|a) (?:(?:following|attached|below|given) ?)?(?:\w+ )?(?:plan|task|tasks|spec|request|changes|instructions|issue|ticket|prompt|question|query|steps|todo|todos)(?: (?:below|step by step|now|please))?|note:|important:|(?:your|the) task is(?: to)?|arguments|here(?:'s| is| are) (?:the|my|a|some)? ?(?:plan|task|context|details|error|errors|output|log|logs|code|diff|feedback|request|issue)) ?[:.!…-]*$)/iu;

/** Headings of any plan, ticket or review. */
const COMMON_HEADING =
  /^(?:context|summary|overview|background|introduction|plan|implementation plan|the plan|task|tasks|goals?|objectives?|instructions?|problem|problem statement|description|details?|requirements?|notes?|scope|steps?|changes|status|issue|issues|bug|feature|request|query|user[_ ]?query|user request|input|output|prompt|question|role|persona|system|environment|acceptance criteria|root cause|approach|solution|files?|references?|(?:low|medium|high|critical) (?:severity|priority)|todos?|phase \d+|step \d+|part \d+|important|critical) ?[:.#]*$/iu;

/** Without the sentences that assign a role. */
function withoutRole(line: string): string {
  let rest = line;
  while (ROLE.test(rest)) {
    const end = /[.!?](?:\s+|$)/u.exec(rest);
    if (end === null) return "";
    rest = rest.slice(end.index + end[0].length);
  }
  return rest;
}

const ROLE =
  /^(?:you are|you're|you will act|act as|imagine you are|as an? (?:expert|senior|experienced)|your role is|assume the role)\b/iu;

/** For a request that is all paste: its first meaningful line. */
function titleOfPaste(text: string): MadeTitle | undefined {
  for (const raw of text.split(/\r\n?|\n/, MAX_LINES)) {
    const line = toOneLine(raw.replace(TAGS, " ").replace(MARKERS, " ")).replace(LEADING_MARKS, "");
    if (line.startsWith("```") || TEMPLATE_LINE.test(line) || COMMON_HEADING.test(line)) continue;
    if (gradeTitle(line) === 3) return { title: shortenTitle(line), grade: 1 };
  }
  return undefined;
}
