import type { Language } from "../../search/analysis/analyze.ts";
import type { ToolIndexing } from "../../search/document/indexable-text.ts";

/** Options of the index. */
export interface IndexingOptions {
  /**
   * The stemmer. Default `english`. This and `tools` apply to a new store; `setIndexing` changes an
   * existing one's setting.
   */
  readonly language?: Language;
  /** The indexed part of tool traffic beside tool names. Default `all`. */
  readonly tools?: ToolIndexing;
  /**
   * The size of a process's index cache in bytes. Default: 64 MB; on PostgreSQL a sixteenth of the
   * machine's memory, if that is more.
   */
  readonly cacheBytes?: number;
  /**
   * Maintenance starts at this many unindexed changes. Default 1,024. At ten times as many, writes
   * wait for it (back-pressure). 0: only `maintain` flushes.
   */
  readonly flushAt?: number;
  /**
   * The CPU share of merges, from 0.05 to 1. Default 1. Less leaves more to concurrent searches and
   * appends.
   */
  readonly mergeShare?: number;
  /** The duration of the index lease: how long a dead process blocks maintenance. Default 30 s. */
  readonly leaseMs?: number;
}

/** Those of a store under the suite of the store kit. */
export interface SuiteIndexing extends IndexingOptions {
  /** The URL of a module that exports another `indexCode`. */
  readonly module?: string;
}
