/**
 * Valid only for the state it was computed from; otherwise the change has `contextTokens: null`.
 */
export interface ContextEstimate {
  readonly tokens: number;
  /** The active leaf that the whole request is appended to. */
  readonly after: string | null;
}
