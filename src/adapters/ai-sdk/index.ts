/** The public names of `backscroll/ai`. */

export { type ChatStore, type ChatStoreOptions, chatStore } from "./chat-store.ts";
export type { InputSchema } from "./input-schema.ts";
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
export type { StreamProducer } from "./resumable/producer.ts";
export {
  type ResumableStreams,
  type ResumableStreamsOptions,
  resumableStreams,
} from "./resumable/resumable-streams.ts";
export type { ChunkLike } from "./resumable/stream-records.ts";
export type { UIMessageLike } from "./ui-message.ts";
