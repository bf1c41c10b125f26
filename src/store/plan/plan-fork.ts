/** Plans a fork: the entries of a path under new ids, as an append. */

import { getRandomValues } from "node:crypto";
import { createUlids } from "../../model/ids.ts";
import type { JsonValue } from "../../model/json.ts";
import { blobsOf, decodeContent, encodeContent } from "../../transcript/content.ts";
import type { EntryRecord, NewEntry } from "../records.ts";

/**
 * Copies the entries of a path in the order of the originals: an entry refers only to older ones,
 * whose copies exist by then, and the latest label stays the latest. Aborted messages, and labels
 * of entries that are not copied or of the whole session, are left out.
 */
export function copyEntries(
  path: readonly EntryRecord[],
  payloads: ReadonlyMap<string, Uint8Array>,
  now: number,
): CopiedEntries {
  const nextId = createUlids({ now: () => now, random: (bytes) => getRandomValues(bytes) });
  const copies = new Map<string, string>();
  const pinned: string[] = [];
  const entries = path
    .filter((entry) => entry.status === "committed")
    .sort((a, b) => a.sequence - b.sequence)
    .flatMap((entry): NewEntry[] => {
      const content = entry.content ?? "[]";
      if (entry.kind === "label" && !copies.has(labelTarget(content))) return [];
      const id = nextId();
      copies.set(entry.id, id);
      if (entry.pinned) pinned.push(id);
      return [
        {
          id,
          kind: entry.kind,
          role: entry.role,
          actor: entry.actor,
          ...copyContent(entry, content, copies, payloads),
          usage: null,
          model: entry.model,
          adapter: entry.adapter,
          metadata: entry.metadata,
          createdAt: entry.createdAt,
          interaction: entry.role === "user",
          parentId: entry.parentId === null ? null : (copies.get(entry.parentId) ?? null),
          copiedFrom: entry.id,
        },
      ];
    });
  return { entries, pinned };
}

export interface CopiedEntries {
  readonly entries: readonly NewEntry[];
  /** The copies of pinned entries. */
  readonly pinned: readonly string[];
}

/** Entries whose ids cannot be renamed without reading their payloads. */
export function needsPayloads(path: readonly EntryRecord[]): string[] {
  return path
    .filter(({ kind, content }) => kind !== "message" && blobsOf(content ?? "[]").length > 0)
    .map(({ id }) => id);
}

function copyContent(
  { kind, contentBytes }: EntryRecord,
  content: string,
  copies: ReadonlyMap<string, string>,
  payloads: ReadonlyMap<string, Uint8Array>,
): Pick<NewEntry, "content" | "payloads" | "contentBytes"> {
  // The payloads exist: the copy references them.
  if (kind === "message") return { content, payloads: [], contentBytes };
  if (blobsOf(content).length === 0) {
    return { content: remapIds(content, copies), payloads: [], contentBytes };
  }
  const { blocks, data, externalId, raw } = decodeContent(content, (hash) => payloads.get(hash));
  const renamed = JSON.parse(remapIds(JSON.stringify(data), copies)) as JsonValue;
  const encoded = encodeContent({ blocks, data: renamed, externalId, raw });
  return { content: encoded.text, payloads: encoded.payloads, contentBytes: encoded.bytes };
}

function labelTarget(content: string): string {
  const { data } = decodeContent(content, () => undefined);
  return String((data as { targetId?: string } | null)?.targetId);
}

/**
 * Renames entry ids inside an entry's data: a label's target, a compaction's first kept entry.
 *
 * A fork copies entries under new ids, so references to copied entries must name the copies.
 */

/** A quoted ULID, as in JSON. */
const QUOTED_ID = /"([0-9A-HJKMNP-TV-Z]{26})"/g;

/** Replaces the ids in JSON text that have a copy in `copies`. */
export function remapIds(content: string, copies: ReadonlyMap<string, string>): string {
  return content.replace(QUOTED_ID, (whole, id: string) => {
    const copy = copies.get(id);
    return copy === undefined ? whole : `"${copy}"`;
  });
}
