/**
 * Parses what Claude Code stores of a command that a person typed, a slash command or `!` with a
 * shell command, and of its output: elements instead of the typed line.
 */

export interface TypedCommand {
  /** As typed: `/review src`, `! ls`; empty for an output alone. */
  readonly command: string;
  readonly output: string;
}

const ELEMENT =
  /<(command-name|command-message|command-args|bash-input|bash-stdout|bash-stderr|local-command-stdout|local-command-stderr)>([\s\S]*?)<\/\1>/g;
const OUTPUTS = ["bash-stdout", "bash-stderr", "local-command-stdout", "local-command-stderr"];

/** Undefined if the text has anything else. */
export function typedCommand(text: string): TypedCommand | undefined {
  if (!text.trimStart().startsWith("<") || text.replace(ELEMENT, "").trim() !== "") {
    return undefined;
  }
  const found = [...text.matchAll(ELEMENT)].map(([, name = "", content = ""]) => ({
    name,
    content: content.trim(),
  }));
  const of = (name: string) => found.find((each) => each.name === name)?.content ?? "";
  const shell = of("bash-input");
  return {
    command: shell === "" ? `${of("command-name")} ${of("command-args")}`.trim() : `! ${shell}`,
    output: found
      .filter(({ name, content }) => OUTPUTS.includes(name) && content !== "")
      .map(({ content }) => content)
      .join("\n"),
  };
}
