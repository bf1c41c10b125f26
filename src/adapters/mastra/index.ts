/** The public names of `backscroll/mastra`. */

export {
  type MastraMemoryOptions,
  type MemoryStorageClass,
  mastraMemory,
} from "./mastra-memory.ts";
