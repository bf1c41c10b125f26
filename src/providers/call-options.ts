/** Call options of a model, in a file without the AI SDK's types, which stay out of the package's types. */

export interface CallOptions {
  /** The timeout of an answer, including retries. Default 120 s. */
  readonly timeoutMs?: number;
  /** The limit of retries of an unanswered call. Default 2. */
  readonly maxRetries?: number;
}

export interface LanguageModelOptions extends CallOptions {
  /** The writer's name in summaries. Default: the model's id. */
  readonly name?: string;
  /** The model's input limit, in tokens. Default: 100,000. */
  readonly maxInputTokens?: number;
}
