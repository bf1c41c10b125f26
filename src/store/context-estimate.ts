/** An estimate holds only for what it was made of: else the change says that nobody knows. */
export interface ContextEstimate {
  readonly tokens: number;
  /** The active leaf that the whole request is appended to. */
  readonly after: string | null;
}
