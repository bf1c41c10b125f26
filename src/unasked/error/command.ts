/** Compares commands: the same program, how alike two are, and the form to show. */

/** Prefixes that are not the program: a folder to go to, variables, a wrapper. */
const GOES = /^\s*(?:cd\s+(?:"[^"]*"|'[^']*'|[^\s;&|]+)\s*(?:&&|;)\s*)/;
const SETS = /^\s*\w+=(?:"[^"]*"|'[^']*'|\S*)\s+/;
const WRAPS = /^\s*(?:sudo|time|env|command|exec|nohup|npx|bunx|pnpm exec|mise exec --)\s+/;

/** Programs whose first argument is a command of its own. */
const HAS_VERBS = new Set(
  "git gh go mise npm pnpm yarn bun cargo docker kubectl pip pip3 uv poetry brew apt apt-get make just terraform aws gcloud az helm deno dotnet rustup systemctl bundle rails composer".split(
    " ",
  ),
);

/** The program of each part of a chain: `cd x && git push` has one, `git pull && git push` two. */
export function headsOf(command: string): ReadonlySet<string> {
  const parts = withoutQuotes(command).split(/&&|\|\||[;\n]/);
  const heads = parts.map(headOf).filter((head) => head !== "" && head !== "cd");
  return new Set(heads);
}

/** `git show`, `ls`: the program, and its command if it has such. */
function headOf(command: string): string {
  let rest = command;
  for (let i = 0; i < 8; i++) {
    const shorter = rest.replace(GOES, "").replace(SETS, "").replace(WRAPS, "");
    if (shorter === rest) break;
    rest = shorter;
  }
  const words = rest.trim().split(/\s+/, 12);
  const program = (words[0] ?? "").split("/").at(-1) ?? "";
  if (!HAS_VERBS.has(program)) return program;
  const verb = words.slice(1).find((word, i, all) => isVerb(word, all[i - 1]));
  return verb === undefined ? program : `${program} ${verb}`;
}

function isVerb(word: string, before: string | undefined): boolean {
  return /^[a-z][\w:-]{0,30}$/i.test(word) && before !== "-C" && before !== "-c";
}

/** Quoted text with white space, and here-documents, are one word each. */
function withoutQuotes(command: string): string {
  const text = command.replaceAll("\\\n", " ").replace(/<<-?\s*['"]?\w+['"]?[\s\S]*/, " TEXT ");
  return mapQuoted(text, (quoted) => (/\s/.test(quoted) ? " TEXT " : quoted.slice(1, -1)));
}

/** What is between quotes, and these, is replaced. An unclosed quote is ordinary text. */
function mapQuoted(text: string, replace: (quoted: string) => string): string {
  let mapped = "";
  let at = 0;
  for (;;) {
    const start = nextQuote(text, at);
    const end = start < 0 ? -1 : endOfQuote(text, start);
    if (end < 0) return mapped + text.slice(at);
    mapped += text.slice(at, start) + replace(text.slice(start, end));
    at = end;
  }
}

function nextQuote(text: string, from: number): number {
  for (let i = from; i < text.length; i++) if (text[i] === '"' || text[i] === "'") return i;
  return -1;
}

function endOfQuote(text: string, start: number): number {
  const quote = text[start];
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === quote) return i + 1;
    if (text[i] === "\\" && quote === '"') i++;
  }
  return -1;
}

/** The parts of a command: words, flags and the parts of paths; numbers and quoted text are one. */
function shapeOf(command: string): ReadonlyMap<string, number> {
  const parts = new Map<string, number>();
  for (const part of withoutQuotes(command).split(/[\s/=|&;()<>]+/)) {
    const form = part.replace(/\b[0-9a-f]{7,64}\b/g, "#").replace(/\d+/g, "#");
    if (form !== "") parts.set(form, (parts.get(form) ?? 0) + 1);
  }
  return parts;
}

/** The share of their parts that two commands have in common, 0 to 1. */
export function likeness(a: string, b: string): number {
  const [left, right] = [shapeOf(a), shapeOf(b)];
  let [shared, all] = [0, 0];
  for (const part of new Set([...left.keys(), ...right.keys()])) {
    const [x, y] = [left.get(part) ?? 0, right.get(part) ?? 0];
    shared += Math.min(x, y);
    all += Math.max(x, y);
  }
  return all === 0 ? 0 : shared / all;
}

const MAX_SHOWN = 200;
const LONG_QUOTE = 42;

/** On one line; long quoted text and the end of a long command are left out. */
export function shownCommand(command: string): string {
  const text = command.replaceAll("\\\n", " ");
  const document = text.indexOf("$(cat <<");
  const head = document < 0 ? text : `${text.slice(0, document)}…`;
  const short = mapQuoted(head, (quoted) => (quoted.length < LONG_QUOTE ? quoted : "…"));
  const line = short.replace(/\s+/g, " ").trim();
  return line.length <= MAX_SHOWN ? line : `${line.slice(0, MAX_SHOWN - 1)}…`;
}

/** Whether two commands differ only in numbers, hashes and quoted text: the same on another thing. */
export function isSameButForNames(a: string, b: string): boolean {
  return likeness(a, b) === 1;
}
