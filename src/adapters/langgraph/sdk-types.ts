/**
 * Types of LangGraph's checkpointer and store, as far as they are used here, declared without the
 * package.
 */

// biome-ignore lint/suspicious/noExplicitAny: LangChain's own types must be assignable both ways.
type Any = any;

/** A `RunnableConfig`; only `configurable` is read. */
export interface GraphConfig {
  readonly configurable?: Readonly<Record<string, Any>>;
  // biome-ignore lint/suspicious/noExplicitAny: the other fields are LangChain's.
  [field: string]: any;
}

export type ChannelVersion = number | string;

export interface GraphCheckpoint {
  v: number;
  id: string;
  ts: string;
  channel_values: Record<string, Any>;
  channel_versions: Record<string, ChannelVersion>;
  versions_seen: Record<string, Record<string, ChannelVersion>>;
}

/** `source`, `step`, `parents`, and what the caller adds. */
export type GraphMetadata = Any;

export type PendingWrite = [taskId: string, channel: string, value: Any];

export interface GraphCheckpointTuple {
  config: GraphConfig;
  checkpoint: GraphCheckpoint;
  metadata?: GraphMetadata;
  parentConfig?: GraphConfig;
  pendingWrites?: PendingWrite[];
}

export interface CheckpointListOptions {
  readonly limit?: number;
  readonly before?: GraphConfig;
  readonly filter?: Readonly<Record<string, Any>>;
}

/** Turns values into bytes and back: `new MemorySaver().serde` is LangGraph's own. */
export interface Serializer {
  dumpsTyped(value: Any): Promise<[string, Uint8Array]>;
  loadsTyped(type: string, bytes: Uint8Array | string): Promise<Any>;
}

export interface StoreItem {
  value: Record<string, Any>;
  key: string;
  namespace: string[];
  createdAt: Date;
  updatedAt: Date;
}

export interface GetOperation {
  readonly namespace: string[];
  readonly key: string;
}

export interface PutOperation extends GetOperation {
  /** Null deletes the item. */
  readonly value: Record<string, Any> | null;
  /** Paths of its indexed fields; false: none. */
  readonly index?: false | string[];
}

export interface SearchOperation {
  readonly namespacePrefix: string[];
  readonly filter?: Record<string, Any>;
  readonly limit?: number;
  readonly offset?: number;
  readonly query?: string;
}

export interface MatchCondition {
  readonly matchType: "prefix" | "suffix";
  /** `*` stands for any label. */
  readonly path: string[];
}

export interface ListNamespacesOperation {
  readonly matchConditions?: MatchCondition[];
  readonly maxDepth?: number;
  readonly limit: number;
  readonly offset: number;
}

export type StoreOperation =
  | GetOperation
  | PutOperation
  | SearchOperation
  | ListNamespacesOperation;
