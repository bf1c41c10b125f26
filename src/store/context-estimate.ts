/**
 * An optimistic estimate: recorded only if the leaf is still `after`, otherwise the change has
 * `contextTokens: null`.
 */
export interface ContextEstimate {
  readonly tokens: number;
  /** The active leaf that the whole request is appended to. */
  readonly after: string | null;
}
