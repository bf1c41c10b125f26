/** Maps records of a pi session file by type. */

import type { Block } from "../../model/block.ts";
import { type EntryKind, kindRules } from "../../model/entry.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { SYSTEM_MARK } from "../../transcript/source-fields.ts";
import {
  type Fields,
  nameOf,
  otherFields,
  presentFields,
  textField,
  timeField,
} from "../fields.ts";
import type { ImportedEntry } from "../source.ts";
import { toBlocks } from "./pi-blocks.ts";
import { presentDetails, toMessage } from "./pi-message.ts";

/** An entry without its place. */
export type MappedEntry = Omit<ImportedEntry, "sourceId" | "parentSourceId" | "metadata"> & {
  /** Fields without a place here, kept for export to pi's format. */
  readonly fields: JsonObject;
};

/** Fields that every record has. */
const BASE = ["type", "id", "parentId", "timestamp"];

/** A record of an unknown type, or without a required field, is kept as `custom`. */
export function toEntry(record: Fields): MappedEntry {
  const { type } = record;
  const map = typeof type === "string" && Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
  const mapped = map?.(record);
  if (mapped === undefined) {
    const data = { type: `pi:${nameOf(type)}`, data: otherFields(record, BASE) };
    return entry(record, { kind: "custom", data }, ["type", ...Object.keys(data.data)], {
      unknown: nameOf(type),
    });
  }
  return mapped;
}

export function movesLeaf(kind: EntryKind): boolean {
  return kindRules(kind).movesLeaf;
}

const TYPES: Readonly<Record<string, (record: Fields) => MappedEntry | undefined>> = {
  message: (record) => {
    const { message } = record;
    if (!isPlainObject(message)) return undefined;
    const mapped = toMessage(message);
    if (mapped === undefined) return undefined;
    const { fields, ...rest } = mapped;
    const made = entry(record, rest, ["message"], fields);
    return made.createdAt === null ? { ...made, createdAt: timeField(message, "timestamp") } : made;
  },

  compaction: (record) => {
    const summary = textField(record, "summary");
    if (summary === undefined) return undefined;
    const known = ["summary", "firstKeptEntryId", "tokensBefore", "details", "fromHook"];
    const { firstKeptEntryId = null, tokensBefore = null, details, fromHook } = record;
    const data = presentDetails({ firstKeptEntryId, tokensBefore } as JsonObject, details);
    return entry(
      record,
      {
        kind: "compaction",
        blocks: [{ type: "text", text: summary }],
        data: fromHook === undefined ? data : { ...data, fromHook: fromHook as boolean },
        references: ["firstKeptEntryId"],
      },
      known,
    );
  },

  branch_summary: (record) => {
    const summary = textField(record, "summary");
    if (summary === undefined) return undefined;
    const { fromId = null, details, fromHook } = record;
    const data = presentDetails({ fromId } as JsonObject, details);
    return entry(
      record,
      {
        kind: "branch_summary",
        blocks: [{ type: "text", text: summary }],
        data: fromHook === undefined ? data : { ...data, fromHook: fromHook as boolean },
        references: ["fromId"],
      },
      ["summary", "fromId", "details", "fromHook"],
    );
  },

  custom: (record) => {
    const type = textField(record, "customType");
    if (type === undefined) return undefined;
    const { data } = record;
    if (type === SYSTEM_MARK && isPlainObject(data) && Array.isArray(data["blocks"])) {
      const blocks = data["blocks"] as Block[];
      return entry(record, { kind: "message", role: "system", blocks }, ["customType", "data"]);
    }
    return entry(
      record,
      {
        kind: "custom",
        data: { type, ...(data === undefined ? {} : { data: data as JsonObject }) },
      },
      ["customType", "data"],
    );
  },

  custom_message: (record) => {
    const type = textField(record, "customType");
    const blocks = toBlocks(record["content"]);
    if (type === undefined || blocks === undefined) return undefined;
    const data = { type, display: record["display"] !== false };
    return entry(
      record,
      { kind: "custom_message", blocks, data: presentDetails(data, record["details"]) },
      ["customType", "content", "display", "details"],
      typeof record["content"] === "string" ? { plain: true } : {},
    );
  },

  label: (record) => {
    const targetId = textField(record, "targetId");
    if (targetId === undefined) return undefined;
    const data = { targetId, label: textField(record, "label") ?? null };
    return entry(record, { kind: "label", data, references: ["targetId"] }, ["targetId", "label"]);
  },

  model_change: (record) => {
    const data = presentFields({
      provider: textField(record, "provider"),
      modelId: textField(record, "modelId"),
    });
    return entry(record, { kind: "model_change", data }, Object.keys(data));
  },

  thinking_level_change: (record) => {
    const data = presentFields({ thinkingLevel: textField(record, "thinkingLevel") });
    return entry(record, { kind: "thinking_level_change", data }, Object.keys(data));
  },

  session_info: (record) => {
    const data = presentFields({ name: textField(record, "name") });
    return entry(record, { kind: "session_info", data }, Object.keys(data));
  },
};

function entry(
  record: Fields,
  mapped: Partial<MappedEntry> & Pick<MappedEntry, "kind">,
  known: readonly string[],
  fields: JsonObject = {},
): MappedEntry {
  const createdAt = timeField(record, "timestamp");
  const iso = createdAt === null ? undefined : new Date(createdAt).toISOString();
  const { timestamp } = record;
  return {
    role: null,
    actor: null,
    blocks: [],
    data: null,
    usage: null,
    model: null,
    ...mapped,
    createdAt,
    fields: {
      ...fields,
      ...presentFields({
        // A time in another format is exported in its own.
        timestamp: timestamp === iso ? undefined : (timestamp as string | undefined),
        entry: otherFields(record, [...BASE, ...known]),
      }),
    },
  };
}
