/**
 * Types of the OpenAI Agents SDK's sessions, as far as they are used here, declared without the
 * package.
 */

/**
 * An item of a conversation, such as a message, a call, a result or a thought, which is returned
 * unchanged. `any`, because the SDK's own type is a union that only the SDK names.
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
