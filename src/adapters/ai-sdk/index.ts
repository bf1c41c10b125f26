/** The public names of `backscroll/ai`. */

export type { AnyUIMessage, SaveOptions, UIMessageLike } from "./chat-message.ts";
export type { ChatRequest } from "./chat-request.ts";
export {
  type ChatList,
  type ChatListInput,
  type ChatStore,
  type ChatStoreOptions,
  chatStore,
  type ListedChat,
  type MessageVersion,
} from "./chat-store.ts";
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
