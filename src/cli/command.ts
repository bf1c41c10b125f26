/**
 * The description of a command: name, arguments, options, action.
 *
 * The parser, `--help` and the reference in docs/cli.md derive from it, so they cannot disagree.
 */

import { BackscrollError } from "../model/errors.ts";
import type { Context, OptionSpecs } from "./context.ts";

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

type OptionValues<Options extends OptionSpecs> = {
  readonly [Name in keyof Options]?: Options[Name]["type"] extends "boolean" ? boolean : string;
};

interface Definition<Arguments extends readonly ArgumentSpec[], Options extends OptionSpecs>
  extends Omit<Command, "run" | "arguments" | "options" | "aliases" | "details"> {
  readonly aliases?: readonly string[];
  readonly details?: string;
  readonly arguments?: Arguments;
  readonly options?: Options;
  readonly run: (
    context: Context,
    args: ArgumentValues<Arguments>,
    options: OptionValues<Options>,
  ) => Promise<number>;
}

/** Gives `run` typed arguments and options. */
export function defineCommand<
  const Arguments extends readonly ArgumentSpec[] = readonly [],
  const Options extends OptionSpecs = Record<never, never>,
>(definition: Definition<Arguments, Options>): Command {
  const run = definition.run as unknown as Command["run"];
  return {
    aliases: [],
    details: "",
    arguments: [],
    options: {},
    ...definition,
    run,
  };
}

/** A mistake on the command line. */
export function usageError(message: string, field = "arguments"): BackscrollError {
  return new BackscrollError("invalid_input", message, { details: { field } });
}
