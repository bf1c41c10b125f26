/**
 * The public names of `backscroll`: what an application calls, and the types that it names.
 *
 * `backscroll/types` has every type, `backscroll/models` the models and embedders, `backscroll/work`
 * what is known of work, `backscroll/ingest` the readers, `backscroll/compat` the names of other
 * systems. Names that none of them has may change without notice.
 */

export {
  type BackupReport,
  backup,
  type CopyOptions,
  type CopyReport,
  restore,
  verifyBackup,
} from "./backup.ts";
export type { Omission } from "./context/build.ts";
export type { ContextMessage, ContextPart } from "./context/chat-model.ts";
export { type ContextWindow, contextWindow } from "./context/context-window.ts";
export type { PruneOptions } from "./context/prune.ts";
export {
  PROVIDERS,
  type Provider,
  type RenderedContext,
  renderContext,
} from "./context/render/render.ts";
export { TOKEN_ESTIMATE, type TokenCounter } from "./context/tokens.ts";
export type { AppendOptions } from "./engine/append.ts";
export type { CompactionResult } from "./engine/compaction/compact.ts";
export type { CompactInput } from "./engine/compaction/compact-options.ts";
export type { SummarizeOptions, Summary } from "./engine/compaction/summarize.ts";
export type { BuiltContext } from "./engine/context/build-context.ts";
export type { BuildContextInput } from "./engine/context/context-options.ts";
export type { Recalled, RecallOptions, RecallScope } from "./engine/context/recall.ts";
export { Engine, type EngineOptions } from "./engine/engine.ts";
export type { FactInput } from "./engine/facts/facts.ts";
export type { DeleteOptions, Tombstone } from "./engine/forget.ts";
export type { ForkInput } from "./engine/fork.ts";
export type { MemoryInput } from "./engine/memories.ts";
export type { MessageInput } from "./engine/message-input.ts";
export { MessageStream, type OpenMessageInput } from "./engine/message-stream.ts";
export type {
  Branch,
  EntryListPage,
  HistoryInput,
  ListEntriesInput,
  ListMessagesInput,
  MessagePage,
} from "./engine/read.ts";
export type { SearchInput, SearchResult } from "./engine/search.ts";
export { SessionHandle } from "./engine/session-handle.ts";
export type { CreateSessionInput, UpdateSessionInput } from "./engine/session-input.ts";
export type { ListSessionsInput, SessionListPage } from "./engine/sessions/list-sessions.ts";
export type { EnsureSessionInput } from "./engine/sessions/resolve-session.ts";
export type { Stats, StatsInput } from "./engine/sessions/stats.ts";
export type { ListChangesInput, SubscribeInput } from "./engine/subscribe.ts";
export { TenantEngine } from "./engine/tenant-engine.ts";
export type { CommitInput } from "./engine/writing/commit-input.ts";
export type { BranchInput, EditInput, EntryInput } from "./engine/writing/entry-input.ts";
export type { Access } from "./model/access.ts";
export {
  type Block,
  type BlockInput,
  type ImageBlock,
  inputTextOf,
  type OpaqueBlock,
  type TextBlock,
  type ThinkingBlock,
  type ToolResultBlock,
  type ToolUseBlock,
  textOf,
} from "./model/block.ts";
export { CHANGE_KINDS, type Change, type ChangeKind } from "./model/change.ts";
export {
  ENTRY_KINDS,
  type Entry,
  type EntryKind,
  type EntryStatus,
  type Role,
  type Usage,
} from "./model/entry.ts";
export { BackscrollError, ERROR_CODES, type ErrorCode, type ErrorDetails } from "./model/errors.ts";
export type { JsonObject, JsonValue } from "./model/json.ts";
export type { Embedder, TextModel } from "./model/models.ts";
export type { Fact, Memory, Rule } from "./model/note.ts";
export type { Origin, Retention, Session } from "./model/session.ts";
export { type OpenOptions, open, type Telemetry } from "./open.ts";
export type { SearchHit, WindowItem } from "./search/request.ts";
export type { IndexingOptions } from "./store/index/indexing-options.ts";
export type { StoreStatus, TenantStatus } from "./store/records.ts";
export type { Durability, StoreOptions } from "./store/store.ts";
export type { ContentInput, ToolCallInput, ToolResultInput } from "./transcript/normalize.ts";
