/** The public names of `backscroll/openai-agents`. */

export { AgentsSession, type AgentsSessionOptions, agentsSession } from "./agents-session.ts";
export { type FitHistoryOptions, fitHistory } from "./fit-history.ts";
export type { AgentItem, HistoryMutation, HistoryTransactionArgs } from "./sdk-types.ts";
