/** The lines of a failed command's output that name its error, in a form that compares. */

/** Longer lines are data. */
const MAX_LINE = 400;
const MAX_LINES = 400;
/** Of an error, the lines that are compared: the first ones say what went wrong. */
const COMPARED_LINES = 2;

/** What any failure prints: it names no error, or one that no other command would have avoided. */
const GENERIC: readonly RegExp[] = [
  /^(?:error: )?(?:process exited|command failed|exit(?:ed)?) (?:with )?(?:exit )?(?:code|status)\b/i,
  /^exit (?:code|status):? \d+/i,
  /\btask failed\b/i,
  /\bdeadline exceeded\b|\btimed? ?out\b/i,
  /\bsibling tool call errored\b/i,
  /\b(?:cancell?ed|interrupted|aborted|rejected) by (?:the )?user\b|\brequest interrupted\b|\boperation (?:was )?cancell?ed\b/i,
  /^the user doesn't want to\b|^the tool use was rejected\b/i,
  /\bautomatic merge failed\b|^conflict \(/i,
  /^(?:error|failed|failure|fatal|fail|usage|errors?:)[:.!]?$/i,
  /\bfor more (?:information|details)\b|^(?:see|run|try) ['"`]?[\w-]+ ?.{0,40}(?:--help|--verbose)/i,
  /^npm (?:err!|error) (?:code |errno |a complete log|path )/i,
  // A place in a source: edits cure it. A test's verdict, a stack frame.
  /^[^\s:]{1,200}\.\w{1,8}:\d+(?::\d+)?:? /,
  /^(?:---|===|\*\*\*|ok|FAIL|PASS|✗|✖|×|●)(?:\s|$|:)/,
  /\b\d+ (?:failed|failing|errors?|problems?|issues?)\b/i,
  /^at .+:\d+/,
];

/** What an error's line has in most programs. */
const NAMES_ERROR =
  /\berror\b|\bfatal\b|\bfail(?:ed|ure)?\b|not found|\bno such\b|\bcannot\b|\bcan't\b|\bcould not\b|couldn't|\bunable to\b|\binvalid\b|\bunknown\b|\bunrecogni[sz]ed\b|\bunexpected\b|\bdenied\b|\brefused\b|\brequires?\b|\bmissing\b|\bno matches\b|\bnot (?:a|an|allowed|supported|permitted|trusted|installed|recognized|defined)\b|\baccepts\b|\bdoes(?:n't| not)\b|\bexception\b|\bconflict\b|\bmust\b/i;

const ESCAPE = String.fromCharCode(27);
const ANSI = new RegExp(`${ESCAPE}\\[[0-9;]{0,20}[A-Za-z]`, "g");

/** The compared lines, as they stand; none: the output names no error of its own. */
export function errorLines(output: string): readonly string[] {
  const lines = output
    .slice(0, MAX_LINE * MAX_LINES)
    .replace(ANSI, "")
    .split("\n", MAX_LINES);
  const named = lines.map(bare).filter((line) => {
    if (line.length < 8 || line.length > MAX_LINE || !NAMES_ERROR.test(line)) return false;
    return !GENERIC.some((pattern) => pattern.test(line));
  });
  return [...new Set(named)].slice(0, COMPARED_LINES);
}

function bare(line: string): string {
  return line
    .replace(/<\/?[a-z_]{1,40}>/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** Such an error is about the thing that it names, and comes again only for the same one. */
const NAMES_MISSING =
  /no such file|not found|does(?:n't| not) exist|did not match|no matches|cannot find|can't find/i;
const HEX = /\b[0-9a-f]{7,64}\b/gi;
const PATH = /(?:~|\.{1,2})?(?:\/[\w.@+~-]+){1,40}\/?|\b[\w.@-]{1,64}(?:\/[\w.@+-]+){1,40}/g;

/** Without numbers, hashes and paths, which differ between two times of one error. */
export function normalError(line: string): string {
  const short = line.replace(HEX, "#").replace(/\d+/g, "#").toLowerCase();
  return NAMES_MISSING.test(line) ? short : short.replace(PATH, "/");
}

/** The longest part of a line that every other time of the error has, too, for a search. */
export function fixedPart(line: string): string {
  const parts = line.split(/\b[0-9a-f]{7,64}\b|\d+|(?:~|\.{1,2})?(?:\/[\w.@+~-]+){1,40}/i);
  return parts.reduce((a, b) => (b.trim().length > a.length ? b.trim() : a), "");
}
