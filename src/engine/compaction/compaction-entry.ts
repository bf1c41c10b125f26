/** The data of a compaction entry: the contract between compaction and context building. */

import type { SummaryProfile } from "../../compaction/render.ts";
import { isStructure, type SummaryStructure } from "../../compaction/summary.ts";
import type { ResultCut } from "../../context/cut-results.ts";
import { textOf } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";
import type { SummaryStrategy } from "../../model/inputs/choices.ts";
import { isPlainObject } from "../../model/json.ts";
import type { Retention } from "../../model/session.ts";

/** The `data` of a `compaction` entry. Imported ones may have only the first field. */
export interface CompactionData {
  /** Null: no entry was kept. */
  readonly firstKeptEntryId: string | null;
  /** The first and last covered entry. */
  readonly from: string;
  readonly through: string;
  /** The summary covers up to this sequence; later entries were kept or appended. */
  readonly throughSequence: number;
  /** Messages that the summary covers, without those of earlier summaries. */
  readonly covered: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** The cut splits a turn. */
  readonly splitTurn: boolean;
  /** Pinned entries before the first kept one, which stay. */
  readonly pinned: readonly string[];
  /** Kept tool results that are shown shortened. */
  readonly cuts: readonly ResultCut[];
  readonly profile: SummaryProfile;
  /** The summarizer: `mechanical`, `model` or `hook`. */
  readonly summarizer: string;
  readonly model: string | null;
  readonly fromHook: boolean;
  /** The previous compaction, which this one builds upon. */
  readonly previous: string | null;
  readonly strategy: SummaryStrategy;
  /** Hierarchical: the summaries that the text consists of, oldest first. */
  readonly summaries: readonly string[];
  /** The session's retention at that time; unless `full`, the summary quotes no covered entry. */
  readonly retention: Retention;
  readonly structure: SummaryStructure | null;
}

export interface CompactionView {
  readonly entry: Entry;
  readonly text: string;
  readonly firstKeptEntryId: string | null;
  /** The last covered entry, if recorded. */
  readonly through: string | null;
  /** True: off the path, but the only record of entries erased there. */
  readonly isLeftBehind: boolean;
  readonly pinned: readonly string[];
  readonly cuts: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly profile: SummaryProfile;
  readonly structure: SummaryStructure | null;
  readonly summaries: readonly string[];
}

/** Lenient: the entry may be imported, or of another version. */
export function viewCompaction(entry: Entry): CompactionView {
  const data: Record<string, unknown> = isPlainObject(entry.data) ? entry.data : {};
  const first = data["firstKeptEntryId"];
  return {
    entry,
    text: textOf(entry.blocks),
    firstKeptEntryId: typeof first === "string" ? first : null,
    through: typeof data["through"] === "string" ? data["through"] : null,
    isLeftBehind: false,
    pinned: strings(data["pinned"]),
    cuts: toCuts(data["cuts"]),
    profile: data["profile"] === "claw" || data["profile"] === "seed" ? "claw" : "rich",
    structure: structureOf(data),
    summaries: strings(data["summaries"]),
  };
}

/** The structure that the next summary builds upon; null if missing or of another version. */
export function structureOf(data: unknown): SummaryStructure | null {
  if (!isPlainObject(data)) return null;
  const { structure } = data;
  return isStructure(structure) ? structure : null;
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** By entry, then by call. */
function toCuts(value: unknown): Map<string, Map<string, number>> {
  const cuts = new Map<string, Map<string, number>>();
  for (const cut of Array.isArray(value) ? value : []) {
    if (!isPlainObject(cut)) continue;
    const { entryId, toolUseId, keepTokens } = cut;
    if (typeof entryId !== "string" || typeof toolUseId !== "string") continue;
    if (typeof keepTokens !== "number") continue;
    const ofEntry = cuts.get(entryId) ?? new Map<string, number>();
    cuts.set(entryId, ofEntry.set(toolUseId, keepTokens));
  }
  return cuts;
}
