/**
 * Handles lines that changed after they were stored: a known id with different content.
 *
 * Entries are immutable. The new text becomes a sibling that supersedes the old one. If the line
 * was the session's last, the leaf moves to the sibling; otherwise the sibling stays aside and is
 * counted, because later entries answer the old text.
 */

import type { ProblemLog } from "../../ingest/problems.ts";
import type { ImportedEntry } from "../../ingest/source.ts";
import { isPlainObject } from "../../model/json.ts";
import type { EntryRecord, NewEntry } from "../../store/records.ts";
import { sha256, toHex } from "../../transcript/hash.ts";
import type { EngineContext } from "../engine-context.ts";
import { draftImported } from "./import-draft.ts";
import type { ImportedIds } from "./imported-id.ts";

/** A file rewritten by another program may have all lines changed. */
const MAX_EDITS = 1_000;

interface Known {
  readonly entry: ImportedEntry;
  readonly id: string;
}

export class ImportEdits {
  readonly #engine: EngineContext;
  readonly #problems: ProblemLog;
  readonly #edits: NewEntry[] = [];

  constructor(engine: EngineContext, problems: ProblemLog) {
    this.#engine = engine;
    this.#problems = problems;
  }

  /** Compares stored entries with the read ones. */
  async note(known: readonly Known[], ids: ImportedIds, createdAt: number): Promise<void> {
    const spoken = known.filter(({ entry }) => isSpoken(entry));
    if (spoken.length === 0 || this.#edits.length >= MAX_EDITS) return;
    const { store, tenant } = this.#engine;
    const found = await store.findEntries(
      tenant,
      spoken.map(({ id }) => id),
      false,
    );
    const records = new Map(found.entries.map((record) => [record.id, record]));
    for (const { entry, id } of spoken) {
      const record = records.get(id);
      const draft = record === undefined ? undefined : this.#draft(entry, record, ids, createdAt);
      if (draft !== undefined) this.#edits.push(draft);
    }
  }

  /** Stores the new texts after everything else. Gives the leaf, and their number. */
  async write(
    sessionId: string,
    leaf: string | null,
  ): Promise<{ readonly leaf: string | null; readonly stored: number }> {
    const { store, tenant } = this.#engine;
    let tip = leaf;
    let stored = 0;
    const known = await store.findUsage(
      tenant,
      this.#edits.map(({ id }) => id),
    );
    for (const edit of this.#edits) {
      if (known.some(({ id }) => id === edit.id)) continue;
      const now = this.#engine.now();
      const request = { sessionId, entries: [edit], now, isHistory: true };
      const { leaf: moved } = await store.append(tenant, request);
      stored++;
      if (edit.supersedes === tip) {
        tip = moved;
        continue;
      }
      await store.moveLeaf(tenant, { sessionId, leaf: tip, now });
      const message = `entry ${edit.supersedes ?? ""} has changed since it was stored; the new text was stored as its sibling, off the active path`;
      this.#problems.add("changed_entry", message);
    }
    return { leaf: tip, stored };
  }

  /** Undefined if the entry equals the stored one. */
  #draft(
    entry: ImportedEntry,
    record: EntryRecord,
    ids: ImportedIds,
    createdAt: number,
  ): NewEntry | undefined {
    if (record.content === null || record.supersededBy !== null) return undefined;
    const place = { createdAt, idOf: (id: string) => ids.of(id), problems: this.#problems };
    const own = draftImported(entry, { ...place, id: record.id });
    const said = saidIn(own.content);
    const before = saidIn(record.content);
    if (said === undefined || before === undefined || said === before || said === "[]") {
      return undefined;
    }
    const id = ids.of(`${entry.sourceId}~${toHex(sha256(Buffer.from(said))).slice(0, 12)}`);
    return { ...own, id, usage: null, parentId: record.parentId, supersedes: record.id };
  }
}

function isSpoken({ kind, role, blocks }: ImportedEntry): boolean {
  if (kind !== "message" || (role !== "user" && role !== "assistant")) return false;
  return blocks.some(({ type }) => type === "text");
}

/** The texts of stored content, with hashes for long ones; undefined if all of it is one hash. */
function saidIn(content: string): string | undefined {
  const parsed: unknown = JSON.parse(content);
  const blocks = isPlainObject(parsed) ? parsed["blocks"] : parsed;
  if (!Array.isArray(blocks)) return undefined;
  const texts = blocks.filter((block) => isPlainObject(block) && block["type"] === "text");
  return JSON.stringify(texts.map((block) => (block as { readonly text?: unknown }).text));
}
