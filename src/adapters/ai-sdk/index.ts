/** The public names of `backscroll/ai`. */

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
