/** Entries and sessions as readers make them: what a format does not say is null. */

import type { Block } from "../model/block.ts";
import { isPlainObject, type JsonObject } from "../model/json.ts";
import { toSourceMetadata } from "../transcript/source-fields.ts";
import { type Fields, presentFields, textField } from "./fields.ts";
import type { ProblemLog } from "./problems.ts";
import { KEPT_IDS, RecentMap } from "./recent-map.ts";
import type { ImportedEntry, ImportedSession } from "./source.ts";

/** A draft of an entry. `fields` has the source's other fields verbatim. */
export type EntryDraft = Partial<Omit<ImportedEntry, "metadata">> &
  Pick<ImportedEntry, "sourceId" | "kind"> & {
    /** The id in the source, if that is another than `sourceId`, or there is none. */
    readonly id?: string | null;
    readonly fields?: JsonObject;
    /** Extra metadata beside the source's. */
    readonly marks?: JsonObject;
  };

export function toImportedEntry(format: string, draft: EntryDraft): ImportedEntry {
  const { id = draft.sourceId, fields = {}, marks = {}, ...entry } = draft;
  return {
    role: null,
    actor: null,
    blocks: [],
    data: null,
    usage: null,
    model: null,
    createdAt: null,
    ...entry,
    metadata: { ...toSourceMetadata({ format, id, ...presentFields({ fields }) }), ...marks },
  };
}

/**
 * The blocks of content that is a text, or a list of parts with a `text`. `other` reads any other part;
 * what it gives nothing for is kept as it came.
 */
export function toContentBlocks(
  format: string,
  content: unknown,
  other: (part: Fields) => readonly Block[] | Block | undefined,
): Block[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return (Array.isArray(content) ? content : []).flatMap(
    (part: unknown): readonly Block[] | Block => {
      const fields: Fields = isPlainObject(part) ? part : {};
      const text = textField(fields, "text");
      if (text !== undefined) return { type: "text", text };
      const json = JSON.stringify(part) ?? "null";
      return other(fields) ?? { type: "opaque", provider: format, json };
    },
  );
}

/** A record that is no part of the conversation, kept whole. */
export function toCustomEntry(
  format: string,
  sourceId: string,
  type: string,
  data: JsonObject,
  createdAt: number | null,
): ImportedEntry {
  const content = { type: `${format}:${type}`, data };
  return toImportedEntry(format, { sourceId, kind: "custom", data: content, createdAt });
}

export type SessionDraft = Partial<
  Omit<ImportedSession, "source" | "metadata" | "problems" | "entries">
> & { readonly id: string | null; readonly fields?: JsonObject };

/** A draft of a session, without its entries. */
export function toImportedSession(
  format: string,
  draft: SessionDraft,
): Omit<ImportedSession, "entries" | "problems"> {
  const { fields = {}, ...session } = draft;
  return {
    source: format,
    agent: format,
    title: null,
    cwd: null,
    gitBranch: null,
    startedAt: null,
    parentSession: null,
    ...session,
    metadata: toSourceMetadata({ format, id: draft.id, ...presentFields({ fields }) }),
  };
}

/**
 * Ids are unique in a session. The first entry with an id counts, the others are told of. Only the last
 * ids are known: an entry whose id came up before them is given again, and is found to be stored.
 */
export class KnownIds {
  readonly #ids: RecentMap<string, true>;
  readonly #problems: ProblemLog;

  constructor(problems: ProblemLog, limit: number = KEPT_IDS) {
    this.#problems = problems;
    this.#ids = new RecentMap(limit);
  }

  get size(): number {
    return this.#ids.size;
  }

  /** False, and a problem, if the id was there before. */
  isNew(id: string, line?: number): boolean {
    if (this.#ids.has(id)) {
      this.#problems.add("duplicate_id", `the id ${id} was there before`, line);
      return false;
    }
    this.#ids.set(id, true);
    return true;
  }
}
