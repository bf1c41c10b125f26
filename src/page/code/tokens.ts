/** The messages between the page and the highlighting worker. */

export interface CodeQuestion {
  readonly id: number;
  readonly code: string;
  readonly language: string;
}

/** A scope such as `keyword`, empty for none, and its text. */
export type Token = readonly [scope: string, text: string];

export interface CodeAnswer {
  readonly id: number;
  /** Empty if the language is not known. */
  readonly tokens: readonly Token[];
}
