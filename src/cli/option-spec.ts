/** The description of a command's option, for the parser, the help and the reference. */

export interface OptionSpec {
  readonly type: "string" | "boolean";
  /** One letter, as in `-B`. */
  readonly short?: string;
  /** The placeholder of a string option's value in the usage. */
  readonly value?: string;
  readonly help: string;
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;
