/** How an option of a command is described: for the parser, the help and the reference alike. */

export interface OptionSpec {
  readonly type: "string" | "boolean";
  /** One letter, as in `-B`. */
  readonly short?: string;
  /** The placeholder of a string option's value in the usage. */
  readonly value?: string;
  readonly help: string;
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;
