/** A language model, as far as Backscroll needs one: text in, text out. Hosts plug one in. */

export interface TextRequest {
  readonly system: string;
  readonly prompt: string;
  readonly maxOutputTokens?: number;
  readonly signal?: AbortSignal;
}

export interface TextAnswer {
  readonly text: string;
  /** Why the model stopped, in the AI SDK's words: `stop`, `length`, `content-filter`, `error` … */
  readonly finishReason: string;
}

/** Throws when there is no answer to be had. It may try again before it does. */
export interface TextModel {
  /** For the record: which model wrote a summary. */
  readonly name: string;
  /** Its input limit in tokens. Default: 100,000. */
  readonly maxInputTokens?: number;
  generate(request: TextRequest): Promise<TextAnswer>;
}
