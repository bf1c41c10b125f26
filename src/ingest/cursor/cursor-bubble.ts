/** Maps messages of Cursor's editor. */

import type { Block } from "../../model/block.ts";
import type { Usage } from "../../model/entry.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import type { EntryDraft } from "../drafts.ts";
import {
  countField,
  type Fields,
  nameOf,
  objectField,
  otherFields,
  textField,
  timeField,
} from "../fields.ts";
import { FORMAT } from "./cursor-query.ts";

const USER = 1;

/** An empty bubble, which is frequent, gives no entry. */
export function toBubbleDrafts(bubble: Fields, id: string): EntryDraft[] {
  const isUser = bubble["type"] === USER;
  const tool = objectField(bubble, "toolFormerData");
  const text = textField(bubble, "text") ?? "";
  const blocks: Block[] = [
    ...toThought(bubble["thinking"]),
    ...(text === "" ? [] : [{ type: "text" as const, text }]),
    ...toCall(tool, id),
  ];
  if (blocks.length === 0) return [];
  const createdAt = timeField(bubble, "createdAt");
  const model = objectField(bubble, "modelInfo");
  const said: EntryDraft = {
    sourceId: id,
    kind: "message",
    role: isUser ? "user" : "assistant",
    actor: isUser ? null : FORMAT,
    blocks,
    createdAt,
    model: textField(model, "modelName") ?? textField(bubble, "modelType") ?? null,
    usage: isUser ? null : toUsage(bubble["tokenCount"]),
    fields: meaningful(otherFields(bubble, KNOWN)),
  };
  return [said, ...toResult(tool, id, createdAt)];
}

/** Whether its tool's result or its text is still missing. */
export function isOpen(bubble: Fields): boolean {
  return bubble["type"] !== USER;
}

const KNOWN = [
  "bubbleId",
  "type",
  "text",
  "rawText",
  "thinking",
  "toolFormerData",
  "createdAt",
  "tokenCount",
  "modelInfo",
  "modelType",
  // The text again, in the editor's own form.
  "richText",
];

function toThought(thinking: unknown): Block[] {
  const fields: Fields = isPlainObject(thinking) ? thinking : { text: thinking };
  const text = textField(fields, "text") ?? "";
  const signature = textField(fields, "signature");
  if (text === "") return [];
  return [{ type: "thinking", text, ...(signature === undefined ? {} : { signature }) }];
}

function toCall(tool: Fields, id: string): Block[] {
  const name = textField(tool, "name");
  if (name === undefined) return [];
  const input = textField(tool, "rawArgs") ?? tool["params"] ?? {};
  return [
    {
      type: "tool_use",
      id: textField(tool, "toolCallId") ?? id,
      name,
      input: typeof input === "string" ? input : JSON.stringify(input),
    },
  ];
}

function toResult(tool: Fields, id: string, createdAt: number | null): EntryDraft[] {
  const toolName = textField(tool, "name");
  const { result, status, error } = tool;
  const isOver = ["completed", "error", "cancelled"].includes(nameOf(status));
  if (toolName === undefined || (result === undefined && !isOver)) return [];
  const content = result ?? error ?? "";
  const output = typeof content === "string" ? content : JSON.stringify(content);
  const toolUseId = textField(tool, "toolCallId") ?? id;
  const isError = status === "error" || status === "cancelled";
  const known = ["name", "rawArgs", "params", "result", "toolCallId", "status"];
  return [
    {
      sourceId: `${id}/result`,
      id: null,
      kind: "message",
      role: "tool",
      actor: toolName,
      blocks: [{ type: "tool_result", toolUseId, toolName, output, isError }],
      createdAt,
      fields: meaningful(otherFields(tool, known)),
    },
  ];
}

function toUsage(tokens: unknown): Usage | null {
  const fields: Fields = isPlainObject(tokens) ? tokens : {};
  const inputTokens = countField(fields, "inputTokens") ?? 0;
  const outputTokens = countField(fields, "outputTokens") ?? 0;
  if (inputTokens + outputTokens === 0) return null;
  return { inputTokens, outputTokens, cacheCreationTokens: 0, cacheReadTokens: 0 };
}

/** Bubbles have dozens of fields, most of them empty. */
function meaningful(fields: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) =>
        value !== null &&
        value !== false &&
        value !== "" &&
        !(typeof value === "object" && Object.keys(value).length === 0),
    ),
  );
}
