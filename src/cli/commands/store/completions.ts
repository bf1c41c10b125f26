/** Shell completion scripts, generated from the table of commands. */

import { type Command, defineCommand } from "../../command.ts";
import type { OptionSpec } from "../../context.ts";
import { GLOBAL_OPTIONS } from "../../context.ts";
import { readVersion, versions } from "../../program.ts";
import { toChoice } from "../../values.ts";

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

/** The first words, each with its command's summary, or with its second words. */
function firstWords(commands: readonly Command[]): ReadonlyMap<string, readonly Command[]> {
  return Map.groupBy(commands, ({ name }) => name.split(" ")[0] ?? name);
}

function secondWord({ name }: Command): string | undefined {
  return name.split(" ")[1];
}

function optionsOf(command: Command): [string, OptionSpec][] {
  return [...Object.entries(command.options), ...Object.entries(GLOBAL_OPTIONS)];
}

/** The index of the session among the arguments, from 0; -1 if there is none. */
function sessionPlace({ arguments: args }: Command): number {
  return args.findIndex(({ name }) => name === "SESSION");
}

function wordsIn({ name }: Command): number {
  return name.split(" ").length;
}

/** The newest sessions, one per line: short id and description. */
const NEWEST = "backscroll list --limit 50 2>/dev/null | tail -n +2";

/** Options with a path are left to the shell. */
function bashScript(commands: readonly Command[]): string {
  const names = [...firstWords(commands).keys(), "help"].join(" ");
  const places = commands.flatMap((command) => {
    const place = sessionPlace(command);
    return place < 0 ? [] : [`"${command.name} "*" :${wordsIn(command) + place + 1}"`];
  });
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
  case "$first $second  :$COMP_CWORD" in
    ${places.join("|")})
      case "$current" in
        -*) ;;
        *) COMPREPLY=($(compgen -W "$(${NEWEST} | cut -d ' ' -f 1)" -- "$current")); return ;;
      esac ;;
  esac
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
      (command) =>
        `    ${first}) shift words; (( CURRENT-- )); _arguments ${zshArguments(command)} ;;`,
    );
    if (seconds.length === 0) return lines;
    const verbs = seconds.map((command) => quoted(`${secondWord(command)}:${command.summary}`));
    const inner = seconds.map(
      (command) =>
        `        ${secondWord(command)}) shift 2 words; (( CURRENT -= 2 )); _arguments ${zshArguments(command)} ;;`,
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
_backscroll_sessions() {
  local -a sessions=("\${(@f)$(${NEWEST} | sed 's/:/\\\\:/g; s/  */:/')}")
  [[ -n $sessions ]] && _describe -V session sessions
}
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

function zshArguments(command: Command): string {
  const place = sessionPlace(command);
  const options = optionsOf(command).map(([name, { type, help, value = "TEXT" }]) => {
    const text = help
      .replace(/[[\]:\\]/g, " ")
      .replace(/\s+/g, " ")
      .trim();
    return quoted(`--${name}[${text}]${type === "string" ? `:${value}:` : ""}`);
  });
  const session = place < 0 ? [] : [quoted(`${place + 1}:session:_backscroll_sessions`)];
  return [...options, ...session, "'*:file:_files'"].join(" ");
}

/** Whether the words after `backscroll` begin so, and the number of words before the cursor. */
const FISH_FUNCTIONS = `function __backscroll_is
    set -l words (commandline -opc)
    test "$words[2]" = "$argv[1]"; or return 1
    test (count $argv) -eq 1; or test "$words[3]" = "$argv[2]"
end
function __backscroll_words
    test (count (commandline -opc)) -eq $argv[1]
end
function __backscroll_sessions
    ${NEWEST} | string replace -r ' +' \\t
end`;

function fishScript(commands: readonly Command[]): string {
  const lines = ["# backscroll completions for fish", FISH_FUNCTIONS];
  for (const [first, group] of firstWords(commands)) {
    lines.push(fishWord("__backscroll_words 1", first, summaryOf(group)));
    for (const command of group) {
      const second = secondWord(command);
      const here = `__backscroll_is ${command.name}`;
      if (second !== undefined) {
        const when = `__backscroll_is ${first}; and __backscroll_words 2`;
        lines.push(fishWord(when, second, command.summary));
      }
      const place = sessionPlace(command);
      if (place >= 0) {
        const when = `${here}; and __backscroll_words ${wordsIn(command) + place + 1}`;
        lines.push(`complete -c backscroll -f -k -n ${quoted(when)} -a '(__backscroll_sessions)'`);
      }
      for (const [name, option] of Object.entries(command.options)) {
        lines.push(fishOption(`-n ${quoted(here)} `, name, option));
      }
    }
  }
  for (const [name, option] of Object.entries(GLOBAL_OPTIONS)) {
    lines.push(fishOption("", name, option));
  }
  return `${lines.join("\n")}\n`;
}

function fishWord(when: string, word: string, summary: string): string {
  return `complete -c backscroll -f -n ${quoted(when)} -a ${word} -d ${quoted(summary)}`;
}

function fishOption(when: string, name: string, { type, short, help }: OptionSpec): string {
  const letter = short === undefined ? "" : ` -s ${short}`;
  const needs = type === "string" ? " -r" : "";
  return `complete -c backscroll ${when}-l ${name}${letter}${needs} -d ${quoted(help)}`;
}

function summaryOf(group: readonly Command[]): string {
  if (group.length === 1 && group[0] !== undefined) return group[0].summary;
  return group.map((command) => secondWord(command) ?? command.name).join(", ");
}

/** The three shells escape a quote differently; a typographic one needs no escape. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "’")}'`;
}

/** `all` gives the table of commands, which includes this one. */
export const completions = (all: () => readonly Command[]): Command =>
  defineCommand({
    name: "completions",
    summary: "Print a script that completes commands and options in a shell.",
    details:
      'For bash: eval "$(backscroll completions bash)" in ~/.bashrc. For zsh: the same with zsh in ~/.zshrc, after compinit. For fish: backscroll completions fish > ~/.config/fish/completions/backscroll.fish.',
    arguments: [{ name: "SHELL", help: `${SHELLS.join(", ")}.` }],
    examples: ["completions bash"],
    run: async ({ terminal }, args) => {
      const shell = toChoice(args.SHELL, SHELLS, "SHELL");
      if (shell !== undefined) await terminal.write(completionScript(shell, all()));
    },
  });

export const version: Command = defineCommand({
  name: "version",
  summary: "Print the version.",
  details: "With --json also those of Node and SQLite. The same as --version and -v.",
  examples: ["version"],
  run: async ({ json, terminal }) => {
    if (json) await terminal.printJson(versions());
    else await terminal.print(readVersion());
  },
});
