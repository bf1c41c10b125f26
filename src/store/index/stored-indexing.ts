/**
 * The analyzer setting, stored in the store: processes with different settings would rebuild each
 * other's segments.
 *
 * It is written when the store is created, from `open` or the environment, and changed only by
 * `setIndexing`.
 */

import { randomUUID } from "node:crypto";
import {
  LANGUAGES,
  type Language,
  TOOL_INDEXINGS,
  type ToolIndexing,
} from "../../model/inputs/choices.ts";
import { DEFAULT_TOOL_INDEXING } from "../../search/document/indexable-text.ts";
import type { IndexingOptions } from "./indexing-options.ts";

export interface IndexSetting {
  readonly language: Language;
  readonly tools: ToolIndexing;
}

/** The setting, and the store's own key of the hashes of lines. "": an older store, not yet written. */
export interface StoredSetting extends IndexSetting {
  readonly lineKey: string;
}

/** The key of the setting in the table `store`, as JSON. */
export const INDEXING_KEY = "indexing";

const DEFAULT: IndexSetting = { language: "english", tools: DEFAULT_TOOL_INDEXING };

/** The stored setting, with defaults for missing and unknown values. */
export function decodeSetting(stored: unknown): StoredSetting | undefined {
  if (typeof stored !== "string") return undefined;
  let value: Partial<Record<keyof StoredSetting, unknown>> | null;
  try {
    value = JSON.parse(stored) as typeof value;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  return {
    language: LANGUAGES.find((each) => each === value?.language) ?? DEFAULT.language,
    tools: TOOL_INDEXINGS.find((each) => each === value?.tools) ?? DEFAULT.tools,
    lineKey: typeof value?.lineKey === "string" ? value.lineKey : "",
  };
}

export function encodeSetting({ language, tools, lineKey }: StoredSetting): string {
  return JSON.stringify({ language, tools, lineKey });
}

/** The setting to write when a store is opened for writing; undefined if it is as it should be. */
export function settled(
  stored: StoredSetting | undefined,
  requested: Partial<IndexSetting>,
): StoredSetting | undefined {
  if (stored !== undefined && stored.lineKey !== "") return undefined;
  return { ...(stored ?? firstSetting(requested)), lineKey: randomUUID() };
}

export function publicSetting({ language, tools }: IndexSetting): IndexSetting {
  return { language, tools };
}

/** The setting of a store that has none yet. */
export function firstSetting({ language, tools }: Partial<IndexSetting>): StoredSetting {
  return { language: language ?? DEFAULT.language, tools: tools ?? DEFAULT.tools, lineKey: "" };
}

/** A sentence about options that differ from the stored setting; undefined if none. */
export function describeConflict(
  requested: IndexingOptions,
  stored: IndexSetting,
): string | undefined {
  const differences = (["language", "tools"] as const)
    .filter((name) => requested[name] !== undefined && requested[name] !== stored[name])
    .map((name) => `indexing.${name} is ${stored[name]} in the store, not ${requested[name]}`);
  if (differences.length === 0) return undefined;
  return `${differences.join(" and ")}; the store's setting is used. To change it: backscroll config --index-${differences[0]?.includes("tools") ? "tools" : "language"}`;
}

/** The default handler: Node prints the warning once, to standard error. */
export function warnOfConflict(sentence: string): void {
  process.emitWarning(sentence, { type: "BackscrollWarning", code: "BACKSCROLL_INDEXING" });
}
