import type { Language } from "../../search/analysis/analyze.ts";
import type { ToolIndexing } from "../../search/document/indexable-text.ts";

/** How the index is made and kept. */
export interface IndexingOptions {
  /**
   * How words are brought to one form: `english` if left out. This and `tools` are for a store that is
   * created: one that is there has its own, which `setIndexing` changes.
   */
  readonly language?: Language;
  /** The part of tool traffic that is indexed beside the names of tools: `all` if left out. */
  readonly tools?: ToolIndexing;
  /** Bytes of the index cache of a process: 64 MB if left out. */
  readonly cacheBytes?: number;
  /**
   * Upkeep begins once this many changes are in no segment yet: 1,024 if left out. At four times as
   * many a write waits for it. 0: only when `maintain` is called.
   */
  readonly flushAt?: number;
  /**
   * How much of a processor joining segments may take, from 0.05 to 1: all of it if left out. Less
   * leaves more to searches and appends beside it.
   */
  readonly mergeShare?: number;
  /** How long a process that died keeps others from the upkeep: 30 s if left out. */
  readonly leaseMs?: number;
  /** The URL of a module that exports another `indexCode`. */
  readonly module?: string;
}
