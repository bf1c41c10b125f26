/** What the page and the worker that colours code say to each other. */

export interface CodeQuestion {
  readonly id: number;
  readonly code: string;
  readonly language: string;
}

/** A scope such as `keyword`, or none, and the text that has it. */
export type Token = readonly [scope: string, text: string];

export interface CodeAnswer {
  readonly id: number;
  /** Empty if the language is not known. */
  readonly tokens: readonly Token[];
}
