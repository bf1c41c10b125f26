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
export type { FlushResult, MemoryFlushOptions } from "./after-turn/run-flush.ts";
export {
  decideFlush,
  type FlushDecision,
  type FlushFigures,
  type FlushSettings,
  softThreshold,
} from "./after-turn/run-flush.ts";
export {
  type AutoPolicy,
  type AutoPolicyName,
  type ClawPolicy,
  clawPolicy,
  effectiveReserve,
  type NonePolicy,
  nonePolicy,
  type PiPolicy,
  type PolicyGuards,
  piPolicy,
  type ReserveSettings,
  type TurnsPolicy,
  turnsPolicy,
} from "./compaction/auto-policy.ts";
export type { EventListener, FlushReason, GatewayEvent } from "./compaction/decide.ts";
export {
  type CompactionDecision,
  type CompactionFigures,
  type DecisionReason,
  decide,
} from "./compaction/decide.ts";
export type { TurnUsage } from "./compaction/session-state.ts";
export { type AutoState, readAutoState } from "./compaction/session-state.ts";
export type { GatewayConfig, GatewayConfigInput } from "./config/gateway-config.ts";
export {
  type LoadedConfig,
  loadConfig,
  type ReadConfig,
  type ReadSetting,
  readConfig,
} from "./config/read-config.ts";
export { Gateway, type GatewayOptions, openGateway } from "./gateway.ts";
export { type GenerateStream, generate, generateStream, isOverflow } from "./generate/generate.ts";
export type {
  GenerateInput,
  GeneratePart,
  GenerateResult,
  GenerateTool,
  ToolExecution,
} from "./generate/generate-options.ts";
export { type GenerateTitleOptions, generateTitle } from "./generate/generate-title.ts";
export type {
  InboundAction,
  InboundAnswer,
  InboundKind,
  InboundMessage,
  InboundReason,
  InboundResult,
  InboundTurn,
} from "./inbound-message.ts";
export type { MaintenancePlan, PlannedDeletion } from "./maintain.ts";
export {
  type MaintainOptions,
  type MaintenanceReport,
  maintainSessions,
} from "./maintain.ts";
export { type SessionStatus, sessionStatus } from "./session-status.ts";
export {
  isSilent,
  SILENT_TOKEN,
  type SilenceFilter,
  type SilenceMode,
  silenceFilter,
} from "./silence.ts";
export type {
  GatewayAfterTurn,
  GatewayAnswer,
  GatewayGenerateInput,
  GatewayTools,
  GatewayTurnContext,
} from "./turns/answer-turn.ts";
export {
  type CompactionSetup,
  type ConfiguredCompaction,
  compactionOf,
} from "./turns/answer-turn.ts";
export type { AnyModel, GatewayModel, ModelChoice } from "./turns/choose-model.ts";
export type { GatewayReply, ReplyOptions, ReplyReason } from "./turns/reply.ts";
export type { WithMemoryOptions } from "./with-memory/memory-turn.ts";
export { withMemory } from "./with-memory/with-memory.ts";
