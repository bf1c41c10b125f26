/** The text of `--help`, derived from the commands' descriptions. */

import type { Command } from "./command.ts";
import type { OptionSpec, OptionSpecs } from "./context.ts";
import { GLOBAL_OPTIONS } from "./context.ts";

export interface CommandGroup {
  readonly title: string;
  readonly commands: readonly Command[];
}

/** Columns of the narrowest common terminal. */
const WIDTH = 80;

/** What a person does, and the few commands for it with a word on each. */
export interface Verb {
  readonly title: string;
  readonly commands: readonly (readonly [command: Command, words: string])[];
}

/** The output of `backscroll --help`: one screen. */
export function overviewHelp(verbs: readonly Verb[]): string {
  const all = verbs.flatMap(({ commands }) => commands.map(([{ name }]) => name));
  const width = Math.max(...all.map((name) => name.length));
  return lines(
    "backscroll: the durable memory of every conversation an agent has.",
    "",
    "In a terminal, backscroll alone: type and see, Enter reads, Ctrl-R resumes.",
    ...verbs.flatMap(({ title, commands }) => [
      `${title}:`,
      ...commands.flatMap(([{ name }, words]) => hanging(name.padEnd(width), words)),
    ]),
    "",
    "backscroll COMMAND --help explains a command, with an example;",
    "backscroll help --all lists every command.",
  );
}

/** The output of `backscroll help --all`. */
export function wholeHelp(groups: readonly CommandGroup[]): string {
  const all = groups.flatMap((group) => group.commands);
  const width = Math.max(...all.map((command) => command.name.length));
  const sections = groups.flatMap(({ title, commands }) => [
    "",
    `${title}:`,
    ...commands.flatMap(({ name, summary }) => hanging(name.padEnd(width), summary)),
  ]);
  return lines(
    "backscroll: the durable memory of every conversation an agent has.",
    "",
    "Usage: backscroll [COMMAND] [ARGUMENTS] [OPTIONS]",
    ...sections,
    "",
    "Options of every command:",
    ...optionLines(GLOBAL_OPTIONS),
    "",
    "backscroll COMMAND --help explains a command, with an example.",
  );
}

/** The output of `backscroll COMMAND --help`. */
export function commandHelp(command: Command): string {
  const { arguments: args, options, aliases, details, examples } = command;
  return lines(
    `Usage: ${usage(command)}`,
    "",
    ...wrap(command.summary, ""),
    ...(details === "" ? [] : ["", ...wrap(details, "")]),
    ...(args.length === 0 ? [] : ["", "Arguments:"]),
    ...termLines(args.map(({ name, help }) => [name, help])),
    ...(Object.keys(options).length === 0 ? [] : ["", "Options:"]),
    ...optionLines(options),
    ...(aliases.length === 0 ? [] : ["", `Also called: ${aliases.join(", ")}`]),
    "",
    examples.length === 1 ? "Example:" : "Examples:",
    ...examples.map((example) => `  backscroll ${example}`),
  );
}

export function usage(command: Command): string {
  const args = command.arguments.map(({ name, optional, rest, many }) => {
    const shown = rest || many ? `${name}…` : name;
    return optional ? `[${shown}]` : shown;
  });
  const options = Object.keys(command.options).length === 0 ? [] : ["[OPTIONS]"];
  return ["backscroll", command.name, ...args, ...options].join(" ");
}

function optionLines(options: OptionSpecs): string[] {
  return termLines(optionTerms(options));
}

/** A name as it is typed, and its help. */
export type Term = readonly [name: string, help: string];

export function optionTerms(options: OptionSpecs): Term[] {
  return Object.entries(options).map(([name, option]) => [optionName(name, option), option.help]);
}

export function termLines(terms: readonly Term[]): string[] {
  const width = Math.max(0, ...terms.map(([name]) => name.length));
  return terms.flatMap(([name, help]) => hanging(name.padEnd(width), help));
}

function optionName(name: string, option: OptionSpec): string {
  const short = option.short === undefined ? "" : `-${option.short}, `;
  const value = option.type === "string" ? ` ${option.value ?? "TEXT"}` : "";
  return `${short}--${name}${value}`;
}

/** `term` with its explanation in a hanging column. */
function hanging(term: string, explanation: string): string[] {
  const indent = " ".repeat(term.length + 4);
  const [first = "", ...rest] = wrap(explanation, indent);
  return [`  ${term}  ${first.trimStart()}`, ...rest];
}

export function wrap(text: string, indent: string): string[] {
  const wrapped: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/)) {
    if (line !== "" && indent.length + line.length + word.length + 1 > WIDTH) {
      wrapped.push(indent + line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...wrapped, indent + line];
}

function lines(...all: string[]): string {
  return `${all.join("\n")}\n`;
}
