/** Messages of crabtalk, and its compaction markers. */

import type { Block } from "../../model/block.ts";
import { ROLES } from "../../model/entry.ts";
import { isPlainObject } from "../../model/json.ts";
import type { RecentMap } from "../../model/recent-map.ts";
import type { EntryDraft } from "../drafts.ts";
import { type Fields, objectField, otherFields, textField, timeField } from "../fields.ts";

export const FORMAT = "crabtalk";

/** Undefined if the line is neither. `names` maps calls to tool names. */
export function toMessage(
  record: Fields,
  names: RecentMap<string, string>,
  agent: string | undefined,
): Omit<EntryDraft, "sourceId"> | undefined {
  const archive = textField(record, "compact") ?? textField(record, "archive");
  const role = ROLES.find((known) => known === record["role"]);
  if (role === undefined) {
    // The marker names the summary; its text is in the agent's memory.
    return archive === undefined ? undefined : toCompaction(archive, record);
  }
  const content = textField(record, "content") ?? "";
  const thought = textField(record, "reasoning_content") ?? "";
  const calls = Array.isArray(record["tool_calls"]) ? record["tool_calls"] : [];
  const known = [
    "role",
    "content",
    "reasoning_content",
    "tool_calls",
    "tool_call_id",
    "timestamp",
    "created_at",
    "sender",
  ];
  const base = {
    kind: "message",
    createdAt: timeField(record, "timestamp") ?? timeField(record, "created_at"),
    fields: otherFields(record, known),
  } as const;
  if (role === "tool") {
    const toolUseId = textField(record, "tool_call_id") ?? "";
    const name = textField(record, "name") ?? names.get(toolUseId);
    names.delete(toolUseId);
    const toolName = name === undefined ? {} : { toolName: name };
    const block: Block = {
      type: "tool_result",
      toolUseId,
      ...toolName,
      output: content,
      isError: false,
    };
    return { ...base, role, actor: name ?? null, blocks: [block] };
  }
  const blocks: Block[] = [
    ...(thought === "" ? [] : [{ type: "thinking" as const, text: thought }]),
    ...(content === "" ? [] : [{ type: "text" as const, text: content }]),
    ...calls.flatMap((call) => toCall(call, names)),
  ];
  const sender = textField(record, "sender") || null;
  return { ...base, role, actor: role === "assistant" ? (agent ?? FORMAT) : sender, blocks };
}

function toCompaction(archive: string, record: Fields): Omit<EntryDraft, "sourceId"> {
  return {
    kind: "compaction",
    blocks: [{ type: "text", text: `[archived context: ${archive}]` }],
    data: { firstKeptEntryId: null, tokensBefore: null, archive },
    createdAt: timeField(record, "timestamp"),
    fields: otherFields(record, ["compact", "archive", "timestamp"]),
  };
}

function toCall(call: unknown, names: RecentMap<string, string>): Block[] {
  const fields: Fields = isPlainObject(call) ? call : {};
  const inner = objectField(fields, "function");
  const id = textField(fields, "id");
  const name = textField(inner, "name");
  if (id === undefined || name === undefined) {
    return [{ type: "opaque", provider: FORMAT, json: JSON.stringify(call) }];
  }
  names.set(id, name);
  const input = inner["arguments"];
  return [
    {
      type: "tool_use",
      id,
      name,
      input: typeof input === "string" ? input : JSON.stringify(input ?? {}),
    },
  ];
}
