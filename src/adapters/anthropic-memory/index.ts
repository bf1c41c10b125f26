/** The public names of `backscroll/anthropic-memory`. */

export type { MemoryFile, MemoryFileVersion } from "./files.ts";
export {
  type AnthropicMemory,
  anthropicMemory,
  type CreateCommand,
  type DeleteCommand,
  type InsertCommand,
  type MemoryCommand,
  type MemoryToolOptions,
  type RenameCommand,
  type StrReplaceCommand,
  type ViewCommand,
} from "./memory-tool.ts";
