/**
 * pi's session files, version 3: a header, and the tree of records.
 *
 * In pi an annotation, such as a model change, affects later records of the path, so it is written
 * between its entry and the entry's next child. pi takes the last line for the leaf: where that is
 * wrong, a final record of ours points to it.
 */

import { textOf } from "../model/block.ts";
import { defined } from "../model/defined.ts";
import { type Entry, kindRules } from "../model/entry.ts";
import { isPlainObject, type JsonObject, type JsonValue } from "../model/json.ts";
import { isMarkData } from "../model/mark.ts";
import type { Session } from "../model/session.ts";
import {
  hasOwnMetadata,
  LEAF_MARK,
  type SourceFields,
  SYSTEM_MARK,
  sourceFieldsOf,
} from "../transcript/source-fields.ts";
import { givenTitle } from "../transcript/title/title-text.ts";
import type { ExportFormat, LossLog } from "./format.ts";
import { stamped, toContent, toPiMessages } from "./pi-message.ts";

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

/** The records of an entry, without id, parent and time. `idOf` maps our ids to pi's. */
function toPiRecords(
  entry: Entry,
  source: SourceFields | undefined,
  idOf: (id: string) => string | undefined,
  losses: LossLog,
): JsonObject[] {
  const data = isPlainObject(entry.data) ? (entry.data as JsonObject) : {};
  const reference = (name: string): JsonValue | undefined => {
    const original = source?.fields?.[name];
    const ours = data[name];
    return original ?? (typeof ours === "string" ? idOf(ours) : undefined);
  };
  const records = (): object[] => {
    switch (entry.kind) {
      case "message":
        return messageRecords(entry, source, losses);
      case "compaction":
        if (source === undefined && data["structure"] !== undefined) {
          losses.add("parts of compactions beside their text");
        }
        return [
          {
            type: "compaction",
            summary: textOf(entry.blocks),
            ...defined({
              firstKeptEntryId: reference("firstKeptEntryId") ?? (source ? undefined : ""),
            }),
            ...defined({ tokensBefore: data["tokensBefore"] ?? (source ? undefined : 0) }),
            ...defined({ details: data["details"], fromHook: data["fromHook"] }),
          },
        ];
      case "branch_summary":
        return [
          {
            type: "branch_summary",
            fromId: reference("fromId") ?? "root",
            summary: textOf(entry.blocks),
            ...defined({ details: data["details"], fromHook: data["fromHook"] }),
          },
        ];
      case "custom_message":
        return [customMessage(entry, data, source, losses)];
      case "custom":
        return [customRecord(entry, data, source)];
      case "label": {
        if (isMarkData(data)) {
          losses.add("marks");
          return [];
        }
        const targetId = reference("targetId");
        if (targetId === undefined) {
          losses.add("labels of entries that are not written");
          return [];
        }
        return [{ type: "label", targetId, ...defined({ label: data["label"] ?? undefined }) }];
      }
      case "model_change":
      case "thinking_level_change":
      case "session_info":
        return [{ type: entry.kind, ...data }];
      default:
        losses.add("summaries beside the conversation");
        return [];
    }
  };
  const extra = source?.fields?.["entry"];
  const more = isPlainObject(extra) ? extra : {};
  return records().map((record) => ({ ...record, ...more }) as JsonObject);
}

function messageRecords(entry: Entry, source: SourceFields | undefined, losses: LossLog): object[] {
  if (entry.status !== "committed") {
    losses.add("aborted messages");
    return [];
  }
  if (entry.role === "system") {
    // pi's sessions have no system message: it stores this record and shows it to no model.
    losses.add("system messages written as custom entries");
    return [{ type: "custom", customType: SYSTEM_MARK, data: { blocks: entry.blocks } }];
  }
  if (source === undefined) {
    if (entry.actor !== null && entry.role !== "tool") losses.add("actors of messages");
    if (hasOwnMetadata(entry.metadata)) losses.add("metadata of messages");
  }
  if (entry.pinned) losses.add("pins");
  return toPiMessages(entry, source, losses).map((message) => ({ type: "message", message }));
}

function customMessage(
  entry: Entry,
  data: JsonObject,
  source: SourceFields | undefined,
  losses: LossLog,
): object {
  const kept = source?.fields?.["message"];
  const { type = "", display = true, details } = data;
  if (type === "bashExecution")
    return { type: "message", message: shellMessage(entry, data, source) };
  const content = toContent(entry.blocks, source, losses);
  const fields = { customType: type, content, display, ...defined({ details }) };
  if (!isPlainObject(kept)) return { type: "custom_message", ...fields };
  return { type: "message", message: { role: "custom", ...fields, ...(kept as JsonObject) } };
}

function customRecord(entry: Entry, data: JsonObject, source: SourceFields | undefined): object {
  const { type = "", data: inner } = data;
  if (type === "bashExecution")
    return { type: "message", message: shellMessage(entry, data, source) };
  const unknown = /^pi:(.*)$/s.exec(String(type));
  if (unknown !== null && source !== undefined) {
    return { type: unknown[1], ...(isPlainObject(inner) ? inner : {}) };
  }
  return { type: "custom", customType: type, ...defined({ data: inner }) };
}

/** A shell command of the user: the first block has the command, the second its output. */
function shellMessage(entry: Entry, data: JsonObject, source: SourceFields | undefined): object {
  const { type: _type, display: _display, source: _source, ...fields } = data;
  const [, output] = entry.blocks;
  const kept = source?.fields?.["message"];
  return {
    role: "bashExecution",
    ...fields,
    output: output?.type === "text" ? output.text : "",
    ...stamped(entry, isPlainObject(kept) ? (kept as JsonObject) : {}, source),
  };
}
