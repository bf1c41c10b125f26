/**
 * The description of a command: name, arguments, options, action.
 *
 * The parser, `--help` and the reference in docs/cli.md derive from it, so they cannot disagree.
 */

import { BackscrollError } from "../model/errors.ts";
import type { Context, OptionSpecs } from "./context.ts";
import { EXIT } from "./exit.ts";

export interface ArgumentSpec {
  /** In capitals, as in the usage line. */
  readonly name: string;
  readonly optional?: true;
  /** Takes all remaining words, joined by spaces. Only the last argument may. */
  readonly rest?: true;
  /** Takes all remaining words, each by itself. Only the last argument may. */
  readonly many?: true;
  readonly help: string;
}

export type ArgumentValue = string | readonly string[] | undefined;

export interface Command {
  /** One word, or two: `memory put`. */
  readonly name: string;
  /** Other systems' names for the same command. */
  readonly aliases: readonly string[];
  readonly summary: string;
  /** Details for the user, in sentences. */
  readonly details: string;
  readonly arguments: readonly ArgumentSpec[];
  readonly options: OptionSpecs;
  /** Examples, without the leading `backscroll`. */
  readonly examples: readonly string[];
  /** Gives the exit code. */
  readonly run: (
    context: Context,
    args: Readonly<Record<string, ArgumentValue>>,
    options: Readonly<Record<string, string | boolean | undefined>>,
  ) => Promise<number>;
}

type ArgumentValues<Arguments extends readonly ArgumentSpec[]> = {
  readonly [Argument in Arguments[number] as Argument["name"]]: Argument extends {
    readonly many: true;
  }
    ? readonly string[]
    : Argument extends { readonly optional: true }
      ? string | undefined
      : string;
};

/** The values of a command's options. */
export type OptionValues<Options extends OptionSpecs> = {
  readonly [Name in keyof Options]?: Options[Name]["type"] extends "boolean" ? boolean : string;
};

interface Definition<Arguments extends readonly ArgumentSpec[], Options extends OptionSpecs>
  extends Omit<Command, "run" | "arguments" | "options" | "aliases" | "details"> {
  readonly aliases?: readonly string[];
  readonly details?: string;
  readonly arguments?: Arguments;
  readonly options?: Options;
  /** Gives the exit code, if it is not `EXIT.ok`. */
  readonly run: (
    context: Context,
    args: ArgumentValues<Arguments>,
    options: OptionValues<Options>,
  ) => Promise<ExitCode>;
}

// biome-ignore lint/suspicious/noConfusingVoidType: a command that only prints has no other result.
export type ExitCode = number | void;

/** Gives `run` typed arguments and options. */
export function defineCommand<
  const Arguments extends readonly ArgumentSpec[] = readonly [],
  const Options extends OptionSpecs = Record<never, never>,
>(definition: Definition<Arguments, Options>): Command {
  const run = definition.run as unknown as (
    ...given: Parameters<Command["run"]>
  ) => Promise<ExitCode>;
  return {
    aliases: [],
    details: "",
    arguments: [],
    options: {},
    ...definition,
    run: async (...given) => (await run(...given)) ?? EXIT.ok,
  };
}

/** The argument of commands on one session. */
export const SESSION = {
  name: "SESSION",
  help: "The session's id: short, whole, or its agent's own.",
} as const;

export interface ValueOption {
  readonly type: "string";
  readonly value: string;
  readonly help: string;
}

/** An option with a value; `value` is its placeholder in the usage. */
export function option(value: string, help: string): ValueOption {
  return { type: "string", value, help };
}

/** An option without a value. */
export function flag(help: string): { readonly type: "boolean"; readonly help: string } {
  return { type: "boolean", help };
}

/** A mistake on the command line. */
export function usageError(message: string, field = "arguments"): BackscrollError {
  return new BackscrollError("invalid_input", message, { details: { field } });
}

/** Refuses options that would not be heeded; `why` follows the name. */
export function refuseOthers(options: Readonly<Record<string, unknown>>, why: string): void {
  const other = Object.entries(options).find(([, value]) => value !== undefined);
  if (other !== undefined) throw usageError(`--${other[0]} ${why}`, `--${other[0]}`);
}
