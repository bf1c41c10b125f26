/**
 * Texts against which a backtracking pattern takes more than linear time, derived from the pattern.
 *
 * Such a text repeats what a quantifier takes, after a beginning that leads to it, and ends with a
 * character that fails the match. The pattern is read roughly: groups and alternatives are
 * followed, look-arounds and references count as nothing.
 */

/** What is repeated whatever the pattern: white space, quotes, brackets, digits, words, numbers. */
const UNITS: readonly string[] = [
  ..." \t\n\"'`\\[](){}<>01aA_-./:=,;@#*$~",
  "\r\n",
  " \n",
  "a.",
  "a ",
  "1,",
  '\\"',
  '"a":',
  "{[",
  "é",
];

/** Ends that most patterns refuse: a control character, and a line that goes on. */
const ENDS: readonly string[] = ["\u0001", "\nx\u0001"];

/** A text: a beginning, a unit many times, and an end. */
export interface Hostile {
  readonly before: string;
  readonly unit: string;
  readonly end: string;
}

/** The beginning and the repeated unit of a text. */
type Part = Omit<Hostile, "end">;

/** The texts for any pattern. */
const COMMON: readonly Hostile[] = withEnds(UNITS.map((unit) => ({ before: "", unit })));

export function hostileTexts(pattern: RegExp): Hostile[] {
  const own = repeatedParts(pattern.source).flatMap(({ before, unit }) => {
    if (before === "") return [{ before, unit }];
    return [
      { before, unit },
      { before: "", unit: before },
      { before: "", unit: before + unit },
    ];
  });
  const unique = new Map(own.map((part) => [JSON.stringify(part), part]));
  return [...COMMON, ...withEnds([...unique.values()])];
}

function withEnds(parts: readonly Part[]): Hostile[] {
  return parts.flatMap((part) => ENDS.map((end) => ({ ...part, end })));
}

/**
 * A text of `length` characters. A long one is lengthened by the root of its unit's length, so that
 * it takes squared time as long as one of single characters does: fewer places begin a match.
 */
export function hostileText({ before, unit, end }: Hostile, length: number): string {
  const size = unit.length ** (length < 512 ? 1 : 0.5);
  return `${before}${unit.repeat(Math.ceil(length / size))}${end}`;
}

/** The parts of a pattern that a quantifier repeats, and the pattern as a whole. */
function repeatedParts(source: string): Part[] {
  const parts: Part[] = [];
  let text = "";
  /** The text before each open group, and whether the group takes none. */
  const open: { before: string; isAssertion: boolean; first: string | undefined }[] = [];
  let last: Part[] = [];
  for (const token of source.match(TOKEN) ?? []) {
    if (token.startsWith("(")) {
      open.push({ before: text, isAssertion: /^\(\?<?[=!]/.test(token), first: undefined });
      last = [];
    } else if (token === "|") {
      const group = open.at(-1);
      if (group === undefined) {
        if (text !== "") parts.push({ before: "", unit: text });
        text = "";
      } else {
        group.first ??= text;
        text = group.before;
      }
      last = [];
    } else if (token === ")") {
      const group = open.pop() ?? { before: "", isAssertion: false, first: undefined };
      const taken = [group.first ?? text, text].map((each) => each.slice(group.before.length));
      last = taken.filter(Boolean).map((unit) => ({ before: group.before, unit }));
      text = group.isAssertion ? group.before : (group.first ?? text);
    } else if (/^(?:[*+?]|\{\d+(?:,\d*)?\})\??$/.test(token)) {
      if (!/^\?|^\{(?:\d|\d+,\d)\}/.test(token)) parts.push(...last);
      const least = Number(/^\{(\d+)/.exec(token)?.[1] ?? 1);
      const unit = last[0]?.unit ?? "";
      if (unit !== "" && least > 1) text += unit.repeat(Math.min(least, 64) - 1);
      last = [];
    } else {
      const samples = samplesOf(token);
      last = samples.map((unit) => ({ before: text, unit }));
      text += samples[0] ?? "";
    }
  }
  if (text !== "") parts.push({ before: "", unit: text });
  return parts;
}

const TOKEN =
  /\(\?(?:[:=!]|<[=!]|<\w+>|[a-z-]+:)|[()|]|\[\^?(?:\\.|[^\]\\])*\]|\\(?:u\{[\da-fA-F]+\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|[pP]\{[^}]*\}|k<\w+>|.)|\{\d+(?:,\d*)?\}\??|[*+?]\??|[\s\S]/g;

/** Characters of every kind that a class may take. */
const CANDIDATES = " \t\n0Aa_-./\\\"'`:=,;@#<>()[]{}+*é\u3042%&|$~!?^";

/** Up to four different characters that an atom takes. */
function samplesOf(atom: string): string[] {
  if (/^\\[bBkdDsSwWpP]|^\[|^\.$/.test(atom)) {
    if (/^\\[bBk]/.test(atom)) return [];
    const isUnicode = /\\[pP]\{|\\u\{/.test(atom);
    const matcher = new RegExp(`^(?:${atom})$`, isUnicode ? "u" : "");
    const written = [...atom.replace(/\\./g, "")].filter((char) => matcher.test(char));
    const taken = [...CANDIDATES].filter((char) => matcher.test(char));
    return [...new Set([...taken.slice(0, 2), ...written.slice(0, 1), ...taken.slice(-1)])];
  }
  if (/^[$^]$|^\\[1-9]/.test(atom)) return [];
  if (atom.length === 1) return [atom];
  const known: Readonly<Record<string, string>> = { "\\n": "\n", "\\t": "\t", "\\r": "\r" };
  const code = /^\\(?:u\{?|x)([\da-fA-F]+)/.exec(atom)?.[1];
  if (code !== undefined) return [String.fromCodePoint(Number.parseInt(code, 16))];
  return [known[atom] ?? atom.slice(1)];
}
