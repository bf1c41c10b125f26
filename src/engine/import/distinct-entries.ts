/**
 * Gives the entries of an import ids of their own.
 *
 * A source may repeat an id: because a line was written twice, or because its ids were masked. An
 * entry with the same id and the same content is one; with other content it is another entry, whose id
 * is derived from both, so that the next reading finds it. A reference to a repeated id means the last
 * entry before it.
 */

import { KEPT_IDS } from "../../ingest/batches.ts";
import { fingerprint } from "../../ingest/fingerprint.ts";
import type { ProblemLog } from "../../ingest/problems.ts";
import type { ImportedEntry } from "../../ingest/source.ts";
import { type Block, inputTextOf } from "../../model/block.ts";
import { kindRules } from "../../model/entry.ts";
import { RecentMap } from "../../model/recent-map.ts";
import type { EntryUsage } from "../../store/records.ts";
import { decodeContent } from "../../transcript/content.ts";
import { sha256, toHex } from "../../transcript/hash.ts";
import type { EngineContext } from "../engine-context.ts";
import type { PendingEntry } from "./imported-id.ts";

export class DistinctEntries {
  readonly #problems: ProblemLog;
  readonly #marks = new RecentMap<string, number>(KEPT_IDS);
  /** The id of the last entry of the conversation under each repeated id. */
  readonly #newest = new RecentMap<string, string>(KEPT_IDS);

  constructor(problems: ProblemLog) {
    this.#problems = problems;
  }

  /** Undefined if the entry was given before. */
  take(entry: ImportedEntry): ImportedEntry | undefined {
    const { sourceId } = entry;
    const mark = fingerprint([entry.kind, entry.role, entry.createdAt, entry.blocks, entry.data]);
    const placed = this.#newest.size === 0 ? entry : this.#withNewest(entry);
    const known = this.#marks.get(sourceId);
    const id = known === undefined || known === mark ? sourceId : derivedId(entry);
    if (this.#marks.has(id)) {
      const message = `entry ${sourceId} was given twice; the first counts`;
      this.#problems.add("duplicate_id", message);
      return undefined;
    }
    this.#marks.set(id, mark);
    if (id === sourceId) return placed;
    // Only such an entry can be a parent.
    if (kindRules(entry.kind).movesLeaf) this.#newest.set(sourceId, id);
    return { ...placed, sourceId: id };
  }

  /** Different entries of the conversation have the same id. */
  get hasRepeated(): boolean {
    return this.#newest.size > 0;
  }

  /** The id that a reference to `sourceId` means at the end of the import. */
  newest(sourceId: string): string {
    return this.#newest.get(sourceId) ?? sourceId;
  }

  #withNewest(entry: ImportedEntry): ImportedEntry {
    const { parentSourceId: parent, references = [], data } = entry;
    const named = references.flatMap((name) => {
      const value = data?.[name];
      return typeof value === "string" ? [[name, this.newest(value)] as const] : [];
    });
    return {
      ...entry,
      ...(typeof parent === "string" ? { parentSourceId: this.newest(parent) } : {}),
      ...(named.length === 0 ? {} : { data: { ...data, ...Object.fromEntries(named) } }),
    };
  }
}

/** The id of an entry whose own id belongs to another one. */
export function derivedId({
  sourceId,
  kind,
  role,
  createdAt,
  blocks,
  data,
}: ImportedEntry): string {
  const content = JSON.stringify([kind, role, createdAt, blocks, data]);
  return `${sourceId}~${toHex(sha256(Buffer.from(content))).slice(0, 12)}`;
}

/**
 * The entries of a batch whose id belongs to another stored entry: one of another time that says
 * something else. With the same time it is the same entry, edited.
 */
export async function findClashes(
  { store, tenant }: EngineContext,
  batch: readonly PendingEntry[],
  known: ReadonlyMap<string, EntryUsage>,
): Promise<ReadonlySet<ImportedEntry>> {
  const suspects = batch.filter(({ entry, id }) => {
    const stored = known.get(id);
    const isTimed = stored !== undefined && entry.createdAt !== null && entry.blocks.length > 0;
    return isTimed && stored.createdAt !== entry.createdAt;
  });
  if (suspects.length === 0) return new Set();
  const ids = suspects.map(({ id }) => id);
  const found = await store.findEntries(tenant, ids, true);
  const said = new Map(
    found.entries.flatMap(({ id, content }) => {
      if (content === null) return [];
      const { blocks } = decodeContent(content, (hash) => found.payloads.get(hash));
      return [[id, saidIn(blocks)] as const];
    }),
  );
  const clashing = suspects.filter(({ entry, id }) => {
    const before = said.get(id);
    return before !== undefined && before !== saidIn(entry.blocks);
  });
  return new Set(clashing.map(({ entry }) => entry));
}

/** What blocks say, without ids and fields that a reader may add later. */
export function saidIn(blocks: readonly Block[]): string {
  return JSON.stringify(
    blocks.map((block) => {
      switch (block.type) {
        case "text":
        case "thinking":
          return block.text;
        case "tool_use":
          return [block.name, inputTextOf(block)];
        case "tool_result":
          return typeof block.output === "string" ? block.output : saidIn(block.output);
        default:
          return block.type;
      }
    }),
  );
}
