/** What a fork writes: the entries of a path under new ids, planned like any other append. */

import { getRandomValues } from "node:crypto";
import { createUlids } from "../model/ids.ts";
import { remapIds } from "../transcript/remap.ts";
import type { EntryRecord, NewEntry } from "./records.ts";

/**
 * The copies of `entries`, which are one page of a path in order. `copies` grows from id to new id,
 * so that later pages can refer to earlier ones. Aborted messages stay behind.
 */
export function copyEntries(
  entries: readonly EntryRecord[],
  copies: Map<string, string>,
  now: number,
): NewEntry[] {
  const nextId = createUlids({ now: () => now, random: (bytes) => getRandomValues(bytes) });
  return entries
    .filter((entry) => entry.status === "committed")
    .map((entry) => {
      const id = nextId();
      copies.set(entry.id, id);
      const content = entry.content ?? "[]";
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
        copiedFrom: entry.id,
      };
    });
}
