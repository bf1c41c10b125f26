/** The public names of `backscroll/ai`. */

export type { UIMessageLike } from "./chat-store.ts";
export { type ChatStore, type ChatStoreOptions, chatStore } from "./chat-store.ts";
export type { InputSchema } from "./memory-tools.ts";
export {
  type MemoryScope,
  type MemoryTool,
  type MemoryTools,
  type MemoryToolsOptions,
  memoryTools,
  type RememberToolInput,
  type SearchMemoryToolInput,
  type SearchSessionsToolInput,
} from "./memory-tools.ts";
export type { StreamProducer } from "./resumable-streams.ts";
export {
  type ResumableStreams,
  type ResumableStreamsOptions,
  resumableStreams,
} from "./resumable-streams.ts";
export type { ChunkLike } from "./stream-records.ts";
