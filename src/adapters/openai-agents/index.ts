/** The public names of `backscroll/openai-agents`. */

export {
  AgentsSession,
  type AgentsSessionOptions,
  agentsSession,
  type FitHistoryOptions,
  fitHistory,
} from "./agents-session.ts";
export type { AgentItem, HistoryMutation, HistoryTransactionArgs } from "./items.ts";
