/**
 * Types of the Claude Agent SDK's session store, as far as they are used here, declared without the
 * package.
 */

/** A transcript: of a session, or of one of its sub-agents (`subpath`). */
export interface ClaudeSessionKey {
  readonly projectKey: string;
  readonly sessionId: string;
  readonly subpath?: string | undefined;
}

/** A line of a transcript. */
export interface ClaudeEntry {
  type: string;
  uuid?: string;
  timestamp?: string;
  [field: string]: unknown;
}

export interface ClaudeSummary {
  sessionId: string;
  /** Epoch milliseconds, by the clock of `listSessions`. */
  mtime: number;
  /** The SDK's own state. */
  data: Record<string, unknown>;
}

/** `foldSessionSummary` of the SDK. */
export type FoldSummary = (
  previous: ClaudeSummary | undefined,
  key: { projectKey: string; sessionId: string },
  entries: ClaudeEntry[],
  options?: { mtime?: number },
) => ClaudeSummary;

/** `SessionStore` of the SDK, with every optional method. */
export interface ClaudeSessionStore {
  append(key: ClaudeSessionKey, entries: ClaudeEntry[]): Promise<void>;
  load(key: ClaudeSessionKey): Promise<ClaudeEntry[] | null>;
  listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]>;
  listSessionSummaries(projectKey: string): Promise<ClaudeSummary[]>;
  delete(key: ClaudeSessionKey): Promise<void>;
  listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]>;
}
