/** The port of a language model: text in, text out. */

export interface TextRequest {
  readonly system: string;
  readonly prompt: string;
  readonly maxOutputTokens?: number;
  readonly signal?: AbortSignal;
}

export interface TextAnswer {
  readonly text: string;
  /** The AI SDK's reason: `stop`, `length`, `content-filter`, `error` … */
  readonly finishReason: string;
}

/** Throws if there is no answer, possibly after retries. */
export interface TextModel {
  /** Recorded as the writer of a summary. */
  readonly name: string;
  /** Its input limit in tokens. Default: 100,000. */
  readonly maxInputTokens?: number;
  generate(request: TextRequest): Promise<TextAnswer>;
}
