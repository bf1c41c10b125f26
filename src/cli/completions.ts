/** Scripts that complete commands and options in a shell, made from the table of commands. */

import type { Command, OptionSpec } from "./command.ts";
import { GLOBAL_OPTIONS } from "./context.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

export function completionScript(shell: Shell, commands: readonly Command[]): string {
  return WRITERS[shell](commands);
}

const WRITERS: Readonly<Record<Shell, (commands: readonly Command[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** The first words, each with the summary of its only command, or with its second words. */
function firstWords(commands: readonly Command[]): ReadonlyMap<string, readonly Command[]> {
  return Map.groupBy(commands, ({ name }) => name.split(" ")[0] ?? name);
}

function secondWord({ name }: Command): string | undefined {
  return name.split(" ")[1];
}

function optionsOf(command: Command): [string, OptionSpec][] {
  return [...Object.entries(command.options), ...Object.entries(GLOBAL_OPTIONS)];
}

/** Options whose value is a path are left to the shell. */
function bashScript(commands: readonly Command[]): string {
  const names = [...firstWords(commands).keys(), "help"].join(" ");
  const cases = [...firstWords(commands)].flatMap(([first, group]) => {
    const seconds = group.flatMap((command) => secondWord(command) ?? []);
    const whole = group.map((command) => {
      const words = optionsOf(command).map(([name]) => `--${name}`);
      return `    "${command.name}") words="${words.join(" ")}" ;;`;
    });
    return seconds.length === 0
      ? whole
      : [...whole, `    "${first}") words="${seconds.join(" ")}" ;;`];
  });
  return `# backscroll completions for bash
_backscroll() {
  local current="\${COMP_WORDS[COMP_CWORD]}" first="\${COMP_WORDS[1]}" second="\${COMP_WORDS[2]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${names}" -- "$current"))
    return
  fi
  local command="$first $second"
  [ "$COMP_CWORD" -eq 2 ] && command="$first"
  _backscroll_words "$command"
  [ -z "$words" ] && _backscroll_words "$first"
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
_backscroll_words() {
  case "$1" in
${cases.join("\n")}
  esac
}
complete -o default -F _backscroll backscroll
`;
}

function zshScript(commands: readonly Command[]): string {
  const groups = [...firstWords(commands)];
  const top = groups.map(([first, group]) => `    ${quoted(`${first}:${summaryOf(group)}`)}`);
  const cases = groups.flatMap(([first, group]) => {
    const seconds = group.filter((command) => secondWord(command) !== undefined);
    const own = group.filter((command) => secondWord(command) === undefined);
    const lines = own.map(
      (command) => `    ${first}) _arguments ${zshOptions(command)} '*:file:_files' ;;`,
    );
    if (seconds.length === 0) return lines;
    const verbs = seconds.map((command) => quoted(`${secondWord(command)}:${command.summary}`));
    const inner = seconds.map(
      (command) =>
        `        ${secondWord(command)}) _arguments ${zshOptions(command)} '*:file:_files' ;;`,
    );
    return [
      `    ${first})`,
      `      if (( CURRENT == 3 )); then local -a verbs=(${verbs.join(" ")}); _describe command verbs; return; fi`,
      `      case $words[3] in`,
      ...inner,
      `      esac ;;`,
    ];
  });
  return `#compdef backscroll
# backscroll completions for zsh
_backscroll() {
  local -a commands=(
${top.join("\n")}
  )
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  case $words[2] in
${cases.join("\n")}
  esac
}
compdef _backscroll backscroll
`;
}

function zshOptions(command: Command): string {
  return optionsOf(command)
    .map(([name, { type, help, value = "TEXT" }]) => {
      const text = help
        .replace(/[[\]:\\]/g, " ")
        .replace(/\s+/g, " ")
        .trim();
      return quoted(`--${name}[${text}]${type === "string" ? `:${value}:` : ""}`);
    })
    .join(" ");
}

function fishScript(commands: readonly Command[]): string {
  const lines = ["# backscroll completions for fish"];
  for (const [first, group] of firstWords(commands)) {
    lines.push(
      `complete -c backscroll -n __fish_use_subcommand -a ${first} -d ${quoted(summaryOf(group))}`,
    );
    for (const command of group) {
      const second = secondWord(command);
      const seen = second === undefined ? "" : `; and __fish_seen_subcommand_from ${second}`;
      if (second !== undefined) {
        const others = group.flatMap((each) => secondWord(each) ?? []).join(" ");
        const when = `__fish_seen_subcommand_from ${first}; and not __fish_seen_subcommand_from ${others}`;
        lines.push(
          `complete -c backscroll -n ${quoted(when)} -a ${second} -d ${quoted(command.summary)}`,
        );
      }
      for (const [name, { type, short, help }] of Object.entries(command.options)) {
        const parts = [
          `complete -c backscroll -n ${quoted(`__fish_seen_subcommand_from ${first}${seen}`)}`,
          ...[`-l ${name}`, ...(short === undefined ? [] : [`-s ${short}`])],
          ...(type === "string" ? ["-r"] : []),
          `-d ${quoted(help)}`,
        ];
        lines.push(parts.join(" "));
      }
    }
  }
  for (const [name, { type, short, help }] of Object.entries(GLOBAL_OPTIONS)) {
    const letter = short === undefined ? "" : ` -s ${short}`;
    const needs = type === "string" ? " -r" : "";
    lines.push(`complete -c backscroll -l ${name}${letter}${needs} -d ${quoted(help)}`);
  }
  return `${lines.join("\n")}\n`;
}

function summaryOf(group: readonly Command[]): string {
  if (group.length === 1 && group[0] !== undefined) return group[0].summary;
  return group.map((command) => secondWord(command) ?? command.name).join(", ");
}

/** The three shells escape a quote differently: a typographic one needs no escape in any. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "’")}'`;
}
