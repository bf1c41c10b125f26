/** The public names of `backscroll/langgraph`. */

export {
  CheckpointSaver,
  type CheckpointSaverOptions,
  checkpointSaver,
} from "./checkpoint-saver.ts";
export { ItemStore, type ItemStoreOptions, itemStore } from "./item-store.ts";
export type { Pruned, PruneOptions } from "./prune.ts";
export type { GraphConfig, Serializer } from "./sdk-types.ts";
