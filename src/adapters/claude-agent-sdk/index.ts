/** The public names of `backscroll/claude-agent-sdk`. */

export { type ClaudeSessionStoreOptions, claudeSessionStore } from "./session-store.ts";
export type {
  ClaudeEntry,
  ClaudeSessionKey,
  ClaudeSessionStore,
  ClaudeSummary,
  FoldSummary,
} from "./transcripts.ts";
