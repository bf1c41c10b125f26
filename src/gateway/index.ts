/** The public names of `backscroll/gateway`: policies over the engine, each usable alone. */

export type {
  ChatEnd,
  ChatModel,
  ChatPart,
  ChatRequest,
  ChatTool,
  ReasoningEffort,
  ToolCallPart,
} from "../context/chat-model.ts";
export type { FailureKind } from "../providers/model-failure.ts";
export type {
  DueReset,
  ResetMode,
  ResetPolicy,
  ResetSettings,
  StaleReason,
} from "../routing/resets.ts";
export {
  type ChatType,
  DEFAULT_DM_SCOPE,
  DM_SCOPES,
  type DmScope,
  type IdentityLinks,
  type KeySettings,
  type Origin,
  resolveSessionKey,
} from "../routing/resolve-key.ts";
export {
  type AliasKey,
  type ConversationPlace,
  formatSessionKey,
  type KeyBranch,
  type PlaceKey,
  parseSessionKey,
  type SessionKey,
} from "../routing/session-key.ts";
export {
  type AfterTurn,
  type AutoCompaction,
  type AutoCompactionOptions,
  autoCompaction,
  type TurnContext,
} from "./after-turn/auto-compaction.ts";
export {
  type AutoPolicy,
  type AutoPolicyName,
  type ClawPolicy,
  clawPolicy,
  type NonePolicy,
  nonePolicy,
  type PiPolicy,
  type PolicyGuards,
  piPolicy,
  type TurnsPolicy,
  turnsPolicy,
} from "./compaction/auto-policy.ts";
export {
  type CompactionDecision,
  type CompactionFigures,
  type DecisionReason,
  decide,
} from "./compaction/decide.ts";
export type { EventListener, FlushReason, GatewayEvent } from "./compaction/events.ts";
export type { TurnUsage } from "./compaction/read-figures.ts";
export { effectiveReserve, type ReserveSettings } from "./compaction/reserve.ts";
export { type AutoState, readAutoState } from "./compaction/session-state.ts";
export type { GatewayConfig, GatewayConfigInput } from "./config/gateway-config.ts";
export { type LoadedConfig, loadConfig } from "./config/load-config.ts";
export { type ReadConfig, type ReadSetting, readConfig } from "./config/read-config.ts";
export {
  decideFlush,
  type FlushDecision,
  type FlushFigures,
  type FlushSettings,
  softThreshold,
} from "./flush/decide-flush.ts";
export type { MemoryFlushOptions } from "./flush/flush-options.ts";
export type { FlushResult } from "./flush/run-flush.ts";
export { Gateway, type GatewayOptions, openGateway } from "./gateway.ts";
export { type GenerateStream, generate, generateStream } from "./generate/generate.ts";
export type {
  GenerateInput,
  GeneratePart,
  GenerateResult,
  GenerateTool,
  ToolExecution,
} from "./generate/generate-input.ts";
export { type GenerateTitleOptions, generateTitle } from "./generate/generate-title.ts";
export { isOverflow } from "./generate/is-overflow.ts";
export type { InboundKind, InboundMessage } from "./inbound-message.ts";
export type {
  InboundAction,
  InboundAnswer,
  InboundReason,
  InboundResult,
  InboundTurn,
} from "./inbound-result.ts";
export {
  type MaintainOptions,
  type MaintenanceReport,
  maintainSessions,
} from "./maintenance/maintain.ts";
export type { MaintenancePlan, PlannedDeletion } from "./maintenance/plan-maintenance.ts";
export {
  isSilent,
  SILENT_TOKEN,
  type SilenceFilter,
  type SilenceMode,
  silenceFilter,
} from "./silence/silence.ts";
export { type SessionStatus, sessionStatus } from "./status/session-status.ts";
export type {
  GatewayAfterTurn,
  GatewayAnswer,
  GatewayGenerateInput,
  GatewayTools,
  GatewayTurnContext,
} from "./turns/answer-turn.ts";
export type { AnyModel, GatewayModel, ModelChoice } from "./turns/choose-model.ts";
export {
  type CompactionSetup,
  type ConfiguredCompaction,
  compactionOf,
} from "./turns/compaction-of.ts";
export type { GatewayReply, ReplyOptions, ReplyReason } from "./turns/reply.ts";
export type { WithMemoryOptions } from "./with-memory/memory-turn.ts";
export { withMemory } from "./with-memory/with-memory.ts";
