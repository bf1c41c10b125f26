/** The public names of `backscroll/types`: every type of the library's inputs and answers. */

export type { CompactionPlan } from "./compaction/plan.ts";
export type { KeepStrategy } from "./compaction/plan-input.ts";
export type { CreatedShare, CreateShareInput, OpenedShare, Share } from "./engine/access/shares.ts";
export type { CreatedToken, CreateTokenInput, ListTokensInput } from "./engine/access/tokens.ts";
export type { UsageInput } from "./engine/check.ts";
export type {
  ClawPreset,
  CompactionHook,
  HookAnswer,
  KeepInput,
} from "./engine/compaction/compact-options.ts";
export type { CompactionData } from "./engine/compaction/compaction-entry.ts";
export type { ContextUsage } from "./engine/context/usage.ts";
export type { DeleteTenantOptions, TenantDeletion } from "./engine/delete-tenant.ts";
export type { ExtractedPart, ExtractFactsOptions } from "./engine/facts/extract-facts-options.ts";
export type { ListFactsInput } from "./engine/facts/facts.ts";
export type { Derived } from "./engine/forget.ts";
export type { ImportResult } from "./engine/import/import-session.ts";
export type { ImportOptions } from "./engine/import/import-subject.ts";
export type { HoldLeaseOptions, LeasedWork } from "./engine/leases/hold-lease.ts";
export type { IndexTask, MaintainOptions } from "./engine/maintain-index.ts";
export type { ListMemoriesInput } from "./engine/memories.ts";
export type { MessageWithResults, PlainMessage } from "./engine/message-input.ts";
export type { OwnedItem } from "./engine/owned/each-owned.ts";
export type { ForgetOwnerOptions, Owned, OwnerDeletion } from "./engine/owned/forget-owner.ts";
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
export type { SearchFactsInput, SearchMemoryInput, SearchNotesInput } from "./engine/search.ts";
export type { FacetCount, Facets, FacetsInput } from "./engine/sessions/facets.ts";
export type { Sum } from "./engine/sessions/stats.ts";
export type { ChangeListPage } from "./engine/subscribe.ts";
export type { SweepReport } from "./engine/sweep.ts";
export type { Problem, VerifyOptions, VerifyReport } from "./engine/verify/verify.ts";
export type { AppendEntriesOptions } from "./engine/writing/append-entries.ts";
export type {
  CustomEntryInput,
  CustomMessageEntryInput,
  CustomMessageInput,
  MessageEntryInput,
} from "./engine/writing/entry-input.ts";
export type { ReplaceSuffixInput } from "./engine/writing/replace-suffix.ts";
export type { FactHook } from "./facts/prepare-facts.ts";
export type * from "./index.ts";
export type { AccessScope, AccessToken } from "./model/access.ts";
export type { KindRules } from "./model/entry.ts";
export type { RuleList } from "./model/note.ts";
export type {
  RecordHit,
  RecordInfo,
  RecordType,
  RecordValue,
  StoredRecord,
} from "./model/record.ts";
export type { RouteFields, RouteSession, SessionRoute } from "./model/route.ts";
export type { StoreLoss } from "./model/store-loss.ts";
export type * from "./models.ts";
export type { SearchExplanation } from "./search/request.ts";
export type { RankingProfile } from "./search/score/profile.ts";
export type { IndexStatus } from "./store/index/index-status.ts";
export type { IndexSetting } from "./store/index/stored-indexing.ts";
export type { Quota, SessionSize } from "./store/records.ts";
export type { SweepResult } from "./store/requests.ts";
export type * from "./work.ts";
