/** Entries as records of pi, by kind. */

import { textOf } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";
import { isPlainObject, type JsonObject, type JsonValue } from "../../model/json.ts";
import { hasOwnMetadata, type SourceFields, SYSTEM_MARK } from "../../transcript/source-fields.ts";
import type { LossLog } from "../losses.ts";
import { stamped, toContent, toPiMessages } from "./pi-message.ts";

/** The records of an entry, without id, parent and time. `idOf` maps our ids to pi's. */
export function toPiRecords(
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
            ...present({
              firstKeptEntryId: reference("firstKeptEntryId") ?? (source ? undefined : ""),
            }),
            ...present({ tokensBefore: data["tokensBefore"] ?? (source ? undefined : 0) }),
            ...present({ details: data["details"], fromHook: data["fromHook"] }),
          },
        ];
      case "branch_summary":
        return [
          {
            type: "branch_summary",
            fromId: reference("fromId") ?? "root",
            summary: textOf(entry.blocks),
            ...present({ details: data["details"], fromHook: data["fromHook"] }),
          },
        ];
      case "custom_message":
        return [customMessage(entry, data, source, losses)];
      case "custom":
        return [customRecord(entry, data, source)];
      case "label": {
        const targetId = reference("targetId");
        if (targetId === undefined) {
          losses.add("labels of entries that are not written");
          return [];
        }
        return [{ type: "label", targetId, ...present({ label: data["label"] ?? undefined }) }];
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
  const fields = { customType: type, content, display, ...present({ details }) };
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
  return { type: "custom", customType: type, ...present({ data: inner }) };
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

function present(fields: Record<string, JsonValue | undefined>): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as JsonObject;
}
