/** The library's public names. Other names may change without notice. */

export {
  type BackupReport,
  backup,
  type CopyOptions,
  type CopyReport,
  restore,
  verifyBackup,
} from "./backup.ts";
export type { CompactionPlan } from "./compaction/plan.ts";
export type { KeepStrategy } from "./compaction/plan-input.ts";
export type {
  Summarizer,
  SummaryAnswer,
  SummaryRequest,
  SummaryStructure,
} from "./compaction/summary.ts";
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
export type {
  CreatedShare,
  CreateShareInput,
  OpenedShare,
  Share,
} from "./engine/access/shares.ts";
export type { CreatedToken, CreateTokenInput, ListTokensInput } from "./engine/access/tokens.ts";
export {
  appendCommit,
  appendMessage,
  appendOpen,
  ConversationResource,
  newSession,
} from "./engine/aliases.ts";
export type { AppendOptions } from "./engine/append.ts";
export type { UsageInput } from "./engine/check.ts";
export type { CompactionResult } from "./engine/compaction/compact.ts";
export type {
  ClawPreset,
  CompactInput,
  CompactionHook,
  HookAnswer,
  KeepInput,
} from "./engine/compaction/compact-options.ts";
export type { CompactionData } from "./engine/compaction/compaction-entry.ts";
export type { SummarizeOptions, Summary } from "./engine/compaction/summarize.ts";
export type { BuiltContext } from "./engine/context/build-context.ts";
export type { BuildContextInput } from "./engine/context/context-options.ts";
export type { Recalled, RecallOptions, RecallScope } from "./engine/context/recall.ts";
export type { ContextUsage } from "./engine/context/usage.ts";
export type { DeleteTenantOptions, TenantDeletion } from "./engine/delete-tenant.ts";
export type { RetryOptions } from "./engine/embeddings/follow-embeddings.ts";
export {
  type EmbeddingProgress,
  type FollowEmbeddingsInput,
  followEmbeddings,
} from "./engine/embeddings/follow-embeddings.ts";
export { Engine, type EngineOptions } from "./engine/engine.ts";
export type { ExtractedPart, ExtractFactsOptions } from "./engine/facts/extract-facts-options.ts";
export type { FactInput, ListFactsInput } from "./engine/facts/facts.ts";
export type { DeleteOptions, Derived, Tombstone } from "./engine/forget.ts";
export type { ForkInput } from "./engine/fork.ts";
export type { ImportResult } from "./engine/import/import-session.ts";
export type { ImportOptions } from "./engine/import/import-subject.ts";
export type { HoldLeaseOptions, LeasedWork } from "./engine/leases/hold-lease.ts";
export type { IndexTask, MaintainOptions } from "./engine/maintain-index.ts";
export type { ListMemoriesInput, MemoryInput } from "./engine/memories.ts";
export type { MessageInput, MessageWithResults, PlainMessage } from "./engine/message-input.ts";
export { MessageStream, type OpenMessageInput } from "./engine/message-stream.ts";
export type { OwnedItem } from "./engine/owned/each-owned.ts";
export type { ForgetOwnerOptions, Owned, OwnerDeletion } from "./engine/owned/forget-owner.ts";
export type {
  Branch,
  EntryListPage,
  HistoryInput,
  ListEntriesInput,
  ListMessagesInput,
  MessagePage,
} from "./engine/read.ts";
export type {
  CompareAndSetInput,
  DeleteRecordOptions,
  PutRecordInput,
  RecordCheck,
  RecordDelete,
  RecordOperation,
  RecordPut,
} from "./engine/records/record-input.ts";
export type {
  ListRecordsInput,
  RecordPage,
  Records,
  RecordsApi,
  SearchRecordsInput,
} from "./engine/records/records.ts";
export type { RoutePatch } from "./engine/routes/route-fields.ts";
export type {
  ListRoutesInput,
  PatchRouteOptions,
  PutRouteInput,
  RouteHistoryInput,
  Routes,
} from "./engine/routes/routes.ts";
export type { AcceptRuleInput, AddRuleInput, ListRulesInput } from "./engine/rules/rules.ts";
export type {
  SearchFactsInput,
  SearchInput,
  SearchMemoryInput,
  SearchNotesInput,
  SearchResult,
} from "./engine/search.ts";
export { SessionHandle } from "./engine/session-handle.ts";
export type { CreateSessionInput, UpdateSessionInput } from "./engine/session-input.ts";
export type { FacetCount, Facets, FacetsInput } from "./engine/sessions/facets.ts";
export type { ListSessionsInput, SessionListPage } from "./engine/sessions/list-sessions.ts";
export type { EnsureSessionInput } from "./engine/sessions/resolve-session.ts";
export type { Stats, StatsInput, Sum } from "./engine/sessions/stats.ts";
export type { ChangeListPage, ListChangesInput, SubscribeInput } from "./engine/subscribe.ts";
export type { SweepReport } from "./engine/sweep.ts";
export { TenantEngine } from "./engine/tenant-engine.ts";
export type { Problem, VerifyOptions, VerifyReport } from "./engine/verify/verify.ts";
export type { AppendEntriesOptions } from "./engine/writing/append-entries.ts";
export type { CommitInput } from "./engine/writing/commit-input.ts";
export type {
  BranchInput,
  CustomEntryInput,
  CustomMessageEntryInput,
  CustomMessageInput,
  EditInput,
  EntryInput,
  MessageEntryInput,
} from "./engine/writing/entry-input.ts";
export type { ReplaceSuffixInput } from "./engine/writing/replace-suffix.ts";
export type {
  FactAnswer,
  FactExtractor,
  FactRequest,
  ProposedFact,
} from "./facts/fact-extractor.ts";
export type { FactHook } from "./facts/prepare-facts.ts";
export type { Line } from "./ingest/lines.ts";
export type { ImportProblem, ImportProblemCode, ProblemLog } from "./ingest/problems.ts";
export { type ReadTranscriptInput, readTranscript } from "./ingest/read-transcript.ts";
export type {
  ImportedEntry,
  ImportedSession,
  ImportedTranscript,
  TranscriptSource,
} from "./ingest/source.ts";
export type { Access, AccessScope, AccessToken } from "./model/access.ts";
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
  type KindRules,
  type Role,
  type Usage,
} from "./model/entry.ts";
export { BackscrollError, ERROR_CODES, type ErrorCode, type ErrorDetails } from "./model/errors.ts";
export type { JsonObject, JsonValue } from "./model/json.ts";
export type {
  Embedder,
  EmbedderUse,
  StoredVector,
  TextAnswer,
  TextModel,
  TextRequest,
  Vector,
  VectorStore,
  VectorTarget,
} from "./model/models.ts";
export type { Fact, Memory, Rule, RuleList } from "./model/note.ts";
export { LIST_PRICES, type ModelPrice, type PriceTable } from "./model/prices.ts";
export type {
  RecordHit,
  RecordInfo,
  RecordType,
  RecordValue,
  StoredRecord,
} from "./model/record.ts";
export type { FileUse, Review, SessionReview, ToolUse } from "./model/review.ts";
export type { RouteFields, RouteSession, SessionRoute } from "./model/route.ts";
export type { IngestFigures, Origin, Retention, Session } from "./model/session.ts";
export type { StoreLoss } from "./model/store-loss.ts";
export { type OpenOptions, open, type Telemetry } from "./open.ts";
export type { LanguageModelOptions } from "./providers/call-options.ts";
export type { EmbedderOptions } from "./providers/embedding/compatible-embedder.ts";
export {
  type CompatibleEmbedderOptions,
  compatibleEmbedder,
} from "./providers/embedding/compatible-embedder.ts";
export { type LocalEmbedderOptions, localEmbedder } from "./providers/embedding/local-embedder.ts";
export { type AiSdkEmbeddingModel, embeddingModel } from "./providers/embedding/to-embedder.ts";
export type { FullModel } from "./providers/language-model.ts";
export {
  type AiSdkModel,
  type CompatibleModelOptions,
  compatibleModel,
  languageModel,
} from "./providers/language-model.ts";
export {
  type Recap,
  type RecapCommand,
  type RecapFile,
  type RecapInput,
  type RecapLine,
  recapSessions,
  type SessionRecap,
} from "./recap/recap.ts";
export { type Related, type RelatedInput, relatedSessions } from "./recap/related.ts";
export { type ReviewInput, reviewSessions } from "./recap/review.ts";
export {
  type Trace,
  type TracedSession,
  type TraceInput,
  type TraceOptions,
  traceWork,
} from "./recap/trace.ts";
export type { Clearing, Finding } from "./recap/trace-session.ts";
export type { SearchExplanation, SearchHit, WindowItem } from "./search/request.ts";
export type { RankingProfile } from "./search/score/profile.ts";
export type { IndexStatus } from "./store/index/index-status.ts";
export type { IndexingOptions } from "./store/index/indexing-options.ts";
export type { IndexSetting } from "./store/index/stored-indexing.ts";
export type { IngestedFile } from "./store/ingested-file.ts";
export type {
  Quota,
  SessionSize,
  StoreStatus,
  TenantStatus,
} from "./store/records.ts";
export type { SweepResult } from "./store/requests.ts";
export type { Durability, StoreOptions } from "./store/store.ts";
export type { ContentInput, ToolCallInput, ToolResultInput } from "./transcript/normalize.ts";
