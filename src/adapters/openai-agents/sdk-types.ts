/**
 * The shapes of the OpenAI Agents SDK's sessions, in as far as we read them. Written down here so that
 * nothing of the package is needed to compile or to load this one.
 */

/**
 * An item of a conversation: a message, a call, a result, a thought. Any, because the SDK's own type is a
 * union that only the SDK names: what is handed in comes back as it was.
 */
// biome-ignore lint/suspicious/noExplicitAny: the SDK's union of items must be assignable both ways.
export type AgentItem = any;

export interface HistoryTransactionArgs {
  readonly operationId: string;
  readonly transaction:
    | { readonly type: "append_items"; readonly items: readonly AgentItem[] }
    | {
        readonly type: "replace_suffix";
        readonly expectedSuffix: readonly AgentItem[];
        readonly replacement: readonly AgentItem[];
      };
}

export interface HistoryMutation {
  readonly type: "replace_function_call";
  readonly callId: string;
  readonly replacement: AgentItem;
}
