/** What a fork writes: the entries of a path under new ids, planned like any other append. */

import { getRandomValues } from "node:crypto";
import { createUlids } from "../model/ids.ts";
import { decodeContent } from "../transcript/content.ts";
import { remapIds } from "../transcript/remap.ts";
import type { EntryRecord, NewEntry } from "./records.ts";

/**
 * The copies of the entries of a whole path, in the order in which the originals were written: an
 * entry refers only to older ones, so that what it names has its copy by then, and the latest label
 * stays the latest. Aborted messages stay behind, and so do labels of what is not copied.
 */
export function copyEntries(path: readonly EntryRecord[], now: number): NewEntry[] {
  const nextId = createUlids({ now: () => now, random: (bytes) => getRandomValues(bytes) });
  const copies = new Map<string, string>();
  return path
    .filter((entry) => entry.status === "committed")
    .sort((a, b) => a.sequence - b.sequence)
    .flatMap((entry) => {
      const content = entry.content ?? "[]";
      if (entry.kind === "label" && !copies.has(labelTarget(content))) return [];
      const id = nextId();
      copies.set(entry.id, id);
      return {
        id,
        kind: entry.kind,
        role: entry.role,
        actor: entry.actor,
        content: entry.kind === "message" ? content : remapIds(content, copies),
        // The payloads are there already: the store makes the copy hold them.
        payloads: [],
        contentBytes: entry.contentBytes,
        usage: null,
        model: entry.model,
        adapter: entry.adapter,
        metadata: entry.metadata,
        createdAt: entry.createdAt,
        interaction: entry.role === "user",
        parentId: entry.parentId === null ? null : (copies.get(entry.parentId) ?? null),
        copiedFrom: entry.id,
      };
    });
}

function labelTarget(content: string): string {
  const { data } = decodeContent(content, () => undefined);
  return String((data as { targetId?: string } | null)?.targetId);
}
