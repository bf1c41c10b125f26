/** How a model is asked. The AI SDK's own types stay out of here, and so out of the package's types. */

export interface CallOptions {
  /** How long an answer may take, attempts and the waiting between them included: 120 s if left out. */
  readonly timeoutMs?: number;
  /** How often a call that the server could not answer is made again: twice if left out. */
  readonly maxRetries?: number;
}

export interface LanguageModelOptions extends CallOptions {
  /** What summaries name as their writer; the model's own id if left out. */
  readonly name?: string;
  /** The model's input limit, in tokens. Default: 100,000. */
  readonly maxInputTokens?: number;
}
