/** Builders of entries and sessions for readers: fields that a format lacks are null. */

import type { Block } from "../model/block.ts";
import { isPlainObject, type JsonObject } from "../model/json.ts";
import { RecentMap } from "../model/recent-map.ts";
import { sha256, toHex } from "../transcript/hash.ts";
import { toSourceMetadata } from "../transcript/source-fields.ts";
import { KEPT_IDS } from "./batches.ts";
import { type Fields, presentFields, textField } from "./fields.ts";
import { fingerprint } from "./fingerprint.ts";
import { ProblemLog } from "./problems.ts";
import type { ImportedEntry, ImportedSession, ImportedTranscript } from "./source.ts";

/** A draft of an entry. `fields` has the source's other fields verbatim. */
export type EntryDraft = Partial<Omit<ImportedEntry, "metadata">> &
  Pick<ImportedEntry, "sourceId" | "kind"> & {
    /** The id in the source, if it differs from `sourceId`, or is missing. */
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
 * The blocks of a text, or of a list of parts with a `text`. `other` maps other parts; those that
 * it does not map are kept unchanged.
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

/** A record outside the conversation, kept whole. */
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

/** A transcript that is always read whole. */
export function toTranscript(
  read: (problems: ProblemLog) => AsyncIterable<ImportedSession>,
): ImportedTranscript {
  const problems = new ProblemLog();
  return { sessions: read(problems), problems };
}

/** Ids of records that have none: by content and, among the recent ones, the number of its occurrences. */
export class ContentIds {
  readonly #seen = new RecentMap<string, number>(KEPT_IDS);

  next(content: string): string {
    const id = toHex(sha256(Buffer.from(content))).slice(0, 16);
    const count = (this.#seen.get(id) ?? 0) + 1;
    this.#seen.set(id, count);
    return count === 1 ? id : `${id}-${count}`;
  }
}

/**
 * Recognises records that a file repeats. A repeated id with other content, as where ids were masked,
 * is another record: the import gives it an id of its own. Only recent ids are known: a repeated older
 * one is yielded again, and found to be stored.
 */
export class KnownIds {
  /** Whether an id was repeated with other content: then only the whole file tells them apart. */
  areMasked = false;
  readonly #ids: RecentMap<string, number>;
  readonly #problems: ProblemLog;

  constructor(problems: ProblemLog, limit: number = KEPT_IDS) {
    this.#problems = problems;
    this.#ids = new RecentMap(limit);
  }

  get size(): number {
    return this.#ids.size;
  }

  /** False, with a problem, if the id is known with this content. */
  isNew(id: string, content: unknown, line?: number): boolean {
    const mark = fingerprint(content);
    const known = this.#ids.get(id);
    if (known === mark) {
      this.#problems.add("duplicate_id", `duplicate id ${id}`, line);
      return false;
    }
    if (known !== undefined) this.areMasked = true;
    this.#ids.set(id, mark);
    return true;
  }
}
