/** The public names of `backscroll/claude-agent-sdk`. */

export type {
  ClaudeEntry,
  ClaudeSessionKey,
  ClaudeSessionStore,
  ClaudeSummary,
  FoldSummary,
} from "./sdk-types.ts";
export { type ClaudeSessionStoreOptions, claudeSessionStore } from "./session-store.ts";
