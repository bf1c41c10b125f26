/**
 * Parses what Claude Code stores of a command that a person typed, a slash command or `!` with a
 * shell command, and of its output: elements instead of the typed line.
 */

export interface TypedCommand {
  /** As typed: `/review src`, `! ls`; empty for an output alone. */
  readonly command: string;
  readonly output: string;
}

const START =
  /\s*<(command-name|command-message|command-args|bash-input|bash-stdout|bash-stderr|local-command-stdout|local-command-stderr)>/y;
const OUTPUTS = ["bash-stdout", "bash-stderr", "local-command-stdout", "local-command-stderr"];

/** Undefined if the text has anything else, or elements of two commands. */
export function typedCommand(text: string): TypedCommand | undefined {
  const inputs = new Map<string, string>();
  const outputs: string[] = [];
  const end = text.trimEnd().length;
  // Each element starts where the one before it ends, so the text is read once.
  for (let at = 0; at < end; ) {
    START.lastIndex = at;
    const [start = "", name = ""] = START.exec(text) ?? [];
    const close = start === "" ? -1 : text.indexOf(`</${name}>`, at + start.length);
    if (close < 0 || inputs.has(name)) return undefined;
    const content = text.slice(at + start.length, close).trim();
    if (OUTPUTS.includes(name)) outputs.push(content);
    else inputs.set(name, content);
    at = close + name.length + "</>".length;
  }
  const [name = "", args = "", shell] = ["command-name", "command-args", "bash-input"].map((each) =>
    inputs.get(each),
  );
  const typed = `${name} ${args}`.trim();
  const isCommand = typed === "" ? shell !== undefined || outputs.length > 0 : shell === undefined;
  if (!isCommand) return undefined;
  return {
    command: shell === undefined || shell === "" ? typed : `! ${shell}`,
    output: outputs.filter((content) => content !== "").join("\n"),
  };
}
