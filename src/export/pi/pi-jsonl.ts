/**
 * pi's session files, version 3: a header, and the tree of records.
 *
 * In pi an annotation, such as a model change, affects later records of the path, so it is written
 * between its entry and the entry's next child. pi takes the last line for the leaf: where that is
 * wrong, a final record of ours points to it.
 */

import { type Entry, kindRules } from "../../model/entry.ts";
import type { JsonObject } from "../../model/json.ts";
import type { Session } from "../../model/session.ts";
import { LEAF_MARK, type SourceFields, sourceFieldsOf } from "../../transcript/source-fields.ts";
import { givenTitle } from "../../transcript/title/title-text.ts";
import type { ExportFormat } from "../format.ts";
import type { LossLog } from "../losses.ts";
import { toPiRecords } from "./pi-record.ts";

export const PI_JSONL: ExportFormat = {
  name: "pi-jsonl",
  selects: "tree",
  compacts: false,

  async *write(input, losses) {
    const { session } = input;
    yield line(header(session));
    const tree = new PiWriter(losses);
    /** The last line's place, and the last entry that moves the leaf. */
    let last: string | null = null;
    let lastNode: string | null = null;
    let title = "";
    for await (const entry of input.entries()) {
      for (const record of tree.records(entry)) {
        yield line(record);
        last = isNode(entry) ? entry.id : entry.parentId;
        if (isNode(entry)) lastNode = entry.id;
        if (record["type"] === "session_info") title = String(record["name"] ?? "");
      }
    }
    const { leaf } = input;
    const end = { parentId: tree.tipOf(leaf), timestamp: isoTime(session.updatedAt) };
    if (last !== leaf || lastNode !== leaf) {
      yield line({ type: "custom", id: `${session.id}.leaf`, ...end, customType: LEAF_MARK });
    }
    const given = givenTitle(session);
    if (given !== title) {
      const name = { type: "session_info", id: `${session.id}.title`, ...end, name: given };
      yield line(name);
    }
  },
};

function header(session: Session): JsonObject {
  const source = sourceFieldsOf(session, "pi");
  const { version: _, ...fields } = source?.fields ?? {};
  return {
    type: "session",
    version: 3,
    id: source?.id ?? session.id,
    timestamp: isoTime(session.startedAt),
    cwd: session.origin.projectPath ?? "",
    ...fields,
  };
}

class PiWriter {
  readonly #losses: LossLog;
  /** pi's ids of our entries, where they differ, and all written ids. */
  readonly #ids = new Map<string, string>();
  readonly #written = new Set<string>();
  /** The last annotation of an entry: the entry's next child follows it. */
  readonly #lastAnnotations = new Map<string | null, string>();

  constructor(losses: LossLog) {
    this.#losses = losses;
  }

  records(entry: Entry): JsonObject[] {
    const source = sourceFieldsOf(entry, "pi");
    const id = this.#idFor(entry, source);
    const records = toPiRecords(entry, source, (ours) => this.#idOf(ours), this.#losses);
    let parentId = this.#parentFor(entry, source);
    const timestamp = source?.fields?.["timestamp"] ?? isoTime(entry.createdAt);
    const placed = records.map((record, i) => {
      const { type, ...rest } = record;
      const own = i === 0 ? id : `${id}.${i}`;
      const made = { type, id: own, parentId, timestamp, ...rest } as JsonObject;
      parentId = own;
      this.#written.add(own);
      return made;
    });
    if (placed.length === 0) {
      // Attach its children to its own parent.
      if (kindRules(entry.kind).movesLeaf && parentId !== null) this.#ids.set(entry.id, parentId);
      return [];
    }
    const lastId = String(parentId);
    if (isNode(entry)) {
      if (lastId !== entry.id) this.#ids.set(entry.id, lastId);
    } else {
      this.#ids.set(entry.id, id);
      this.#lastAnnotations.set(entry.parentId, lastId);
    }
    return placed;
  }

  /** The record that the next child of an entry follows. */
  tipOf(node: string | null): string | null {
    return this.#lastAnnotations.get(node) ?? (node === null ? null : (this.#idOf(node) ?? null));
  }

  #idOf(ours: string): string | undefined {
    const id = this.#ids.get(ours) ?? ours;
    return this.#written.has(id) ? id : undefined;
  }

  #idFor(entry: Entry, source: SourceFields | undefined): string {
    const theirs = source?.id;
    return typeof theirs === "string" && !this.#written.has(theirs) ? theirs : entry.id;
  }

  /** The source's parent, as long as it is written too. */
  #parentFor(entry: Entry, source: SourceFields | undefined): string | null {
    if (source !== undefined && typeof source.id === "string") {
      const theirs = source.parentId;
      if (theirs === null || (theirs !== undefined && this.#written.has(theirs))) return theirs;
      if (theirs === undefined) {
        return entry.parentId === null ? null : (this.#idOf(entry.parentId) ?? null);
      }
    }
    return this.tipOf(entry.parentId);
  }
}

function isNode(entry: Entry): boolean {
  return kindRules(entry.kind).movesLeaf && entry.status === "committed";
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

function line(record: object): string {
  return `${JSON.stringify(record)}\n`;
}
