/**
 * Parses a command line into a command, its arguments and its options.
 *
 * Strict: an unknown option is an error, not an ignored word.
 */

import { parseArgs } from "node:util";
import { didYouMean } from "../model/suggest.ts";
import { type ArgumentValue, type Command, usageError } from "./command.ts";
import type { OptionSpecs } from "./context.ts";
import { GLOBAL_OPTIONS } from "./context.ts";

export interface Invocation {
  readonly command: Command;
  readonly args: Readonly<Record<string, ArgumentValue>>;
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
}

/** The words of the command, and everything else in order. */
export interface Split {
  readonly words: readonly string[];
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Finds the command's start: options before it must be global ones. */
export function splitCommand(argv: readonly string[]): Split {
  const options: OptionSpecs = GLOBAL_OPTIONS;
  let i = 0;
  for (; i < argv.length; i++) {
    const word = argv[i] ?? "";
    if (!word.startsWith("-")) break;
    const short = Object.entries(options).find(([, spec]) => word === `-${spec.short}`)?.[0];
    const name = short ?? word.replace(/^--/, "").replace(/=.*$/s, "");
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    if (option === undefined) {
      throw usageError(
        `unknown option ${word}${didYouMean(name, Object.keys(options).map(dashed))}; options of a command come after its name`,
      );
    }
    if (option.type === "string" && !word.includes("=")) i++;
  }
  const words = argv.slice(i, i + 2).filter((word) => !word.startsWith("-"));
  return { words, before: argv.slice(0, i), after: argv.slice(i) };
}

/** The command that `words` name, of one word or two. */
export function findCommand(
  words: readonly string[],
  commands: readonly Command[],
): { readonly command: Command; readonly length: number } {
  const [first = "", second] = words;
  const named = (name: string) =>
    commands.find((command) => command.name === name || command.aliases.includes(name));
  const pair = second === undefined ? undefined : named(`${first} ${second}`);
  if (pair !== undefined) return { command: pair, length: 2 };
  const single = named(first);
  if (single !== undefined) return { command: single, length: 1 };

  const group = commands.filter((command) => command.name.startsWith(`${first} `));
  if (group.length > 0) {
    const verbs = group.map((command) => command.name.slice(first.length + 1));
    const wrong = second === undefined ? "" : `, not ${second}${didYouMean(second, verbs)}`;
    throw usageError(`${first} needs one of ${verbs.join(", ")}${wrong}`, "command");
  }
  const names = [...new Set(commands.map((command) => command.name.split(" ")[0] ?? ""))];
  const suggestion = didYouMean(first, names) || "; backscroll --help lists the commands";
  throw usageError(`unknown command ${first}${suggestion}`, "command");
}

/** Reads the words and options of `command`. */
export function parseInvocation(command: Command, words: readonly string[]): Invocation {
  const specs: OptionSpecs = { ...GLOBAL_OPTIONS, ...command.options };
  const { tokens } = parseArgs({
    args: [...words],
    options: Object.fromEntries(
      Object.entries(specs).map(([name, { type, short }]) => [
        name,
        short === undefined ? { type } : { type, short },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const options: Record<string, string | boolean> = {};
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind === "option") options[token.name] = checkOption(command, specs, token);
  }
  const args = options["help"] === true ? {} : nameArguments(command, positionals);
  return { command, args, options };
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

function checkOption(command: Command, specs: OptionSpecs, token: OptionToken): string | boolean {
  const { name, rawName, value, inlineValue } = token;
  const spec = Object.hasOwn(specs, name) ? specs[name] : undefined;
  if (spec === undefined) {
    const takesText = command.arguments.at(-1)?.rest === true;
    const suggestion =
      takesText && !rawName.startsWith("--")
        ? "; put an excluded word into the quotes of the query: 'lock -file'"
        : didYouMean(rawName, Object.keys(specs).map(dashed));
    throw usageError(
      `${command.name} has no option ${rawName}${suggestion || `; see backscroll ${command.name} --help`}`,
      rawName,
    );
  }
  if (spec.type === "boolean") {
    if (value === undefined) return true;
    throw usageError(`${rawName} takes no value`, rawName);
  }
  if (value === undefined) throw usageError(`${rawName} needs a value: ${spec.value}`, rawName);
  if (!inlineValue && /^-./.test(value)) {
    throw usageError(
      `${rawName} needs a value: ${spec.value}; one that starts with a dash is written ${rawName}=${value}`,
      rawName,
    );
  }
  return value;
}

function nameArguments(command: Command, words: readonly string[]): Record<string, ArgumentValue> {
  const positionals = joinRest(command, words);
  const missing = command.arguments.find((arg, i) => !arg.optional && positionals[i] === undefined);
  if (missing !== undefined) {
    throw usageError(
      `${command.name} needs ${missing.name}; see backscroll ${command.name} --help`,
      missing.name,
    );
  }
  const extra = positionals[command.arguments.length];
  if (extra !== undefined && !command.arguments.at(-1)?.many) {
    throw usageError(`${command.name} takes no argument "${extra}"; quote a text of several words`);
  }
  return Object.fromEntries(
    command.arguments.map((arg, i) => [arg.name, arg.many ? positionals.slice(i) : positionals[i]]),
  );
}

/** Joins the rest of the line into one argument. */
function joinRest(command: Command, words: readonly string[]): readonly string[] {
  const before = command.arguments.length - 1;
  if (!command.arguments.at(-1)?.rest || words.length <= before) return words;
  return [...words.slice(0, before), words.slice(before).join(" ")];
}

function dashed(name: string): string {
  return `--${name}`;
}
