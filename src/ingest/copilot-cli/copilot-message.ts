/** Maps messages and tool results of Copilot's events. */

import type { Block } from "../../model/block.ts";
import type { Usage } from "../../model/entry.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import type { EntryDraft } from "../drafts.ts";
import {
  countField,
  type Fields,
  objectField,
  otherFields,
  resultBlock,
  textField,
  thinkingBlock,
} from "../fields.ts";

export const FORMAT = "copilot-cli";

/** The entry without its position; undefined if required fields are missing. */
export type MessageDraft = Omit<EntryDraft, "sourceId">;

export function toUserMessage(data: Fields): MessageDraft | undefined {
  const content = textField(data, "content");
  if (content === undefined) return undefined;
  const fields = otherFields(data, ["content"]);
  const source = textField(data, "source") ?? "";
  // A skill's text is not the user's, and search must not find it as such.
  const isInjected = source.startsWith("skill-") || content.startsWith("<skill-context");
  const blocks = toText(content);
  return isInjected
    ? { kind: "custom_message", blocks, data: { type: source || "skill", display: false }, fields }
    : { kind: "message", role: "user", blocks, fields };
}

export function toSystemMessage(data: Fields): MessageDraft | undefined {
  const content = textField(data, "content");
  if (content === undefined) return undefined;
  const fields = otherFields(data, ["content", "role"]);
  // The agent's instructions: kept out of search.
  const marks = { injected: true };
  return { kind: "message", role: "system", blocks: toText(content), fields, marks };
}

/** `thinking` comes from an earlier event of the same turn. */
export function toAssistantMessage(
  data: Fields,
  thinking: string | undefined,
): MessageDraft | undefined {
  const content = textField(data, "content") ?? "";
  const requests = Array.isArray(data["toolRequests"]) ? (data["toolRequests"] as unknown[]) : [];
  const text = textField(data, "reasoningText") ?? thinking ?? "";
  const signature = textField(data, "reasoningOpaque");
  const thought: Block[] =
    text === "" && signature === undefined ? [] : [thinkingBlock(text, signature)];
  const known = [
    "content",
    "toolRequests",
    "reasoningText",
    "reasoningOpaque",
    "model",
    "parentToolCallId",
    "outputTokens",
  ];
  return {
    kind: "message",
    role: "assistant",
    actor: FORMAT,
    blocks: [...thought, ...toText(content), ...requests.map(toCall)],
    usage: toUsage({ outputTokens: countField(data, "outputTokens") ?? 0 }),
    model: textField(data, "model") ?? null,
    fields: otherFields(data, known),
  };
}

export function toToolMessage(
  data: Fields,
  toolName: string | undefined,
): MessageDraft | undefined {
  const toolUseId = textField(data, "toolCallId");
  if (toolUseId === undefined) return undefined;
  const isError = data["success"] === false;
  const { result, error } = data;
  const failure = isPlainObject(error) ? textField(error, "message") : error;
  const content = isPlainObject(result) ? textField(result, "content") : result;
  const output = [content, failure].find((text) => typeof text === "string") as string | undefined;
  const shown = result === undefined ? "" : JSON.stringify(result);
  const name = textField(data, "toolName") ?? toolName;
  const rest = isPlainObject(result)
    ? otherFields(result, [
        "content",
        // Usually the same text again.
        ...(result["detailedContent"] === content ? ["detailedContent"] : []),
      ])
    : {};
  return {
    kind: "message",
    role: "tool",
    actor: name ?? null,
    blocks: [resultBlock(toolUseId, name, output ?? shown, isError)],
    fields: {
      ...otherFields(data, ["toolCallId", "success", "result", "model", "toolName"]),
      ...(Object.keys(rest).length === 0 ? {} : { result: rest }),
    },
  };
}

/**
 * Usage of a whole run by model, which exceeds the sum of its messages. `countedOutput` has the
 * output tokens of those, by model.
 */
export function toRunUsage(
  data: Fields,
  countedOutput: ReadonlyMap<string, number>,
): readonly { readonly model: string; readonly usage: Usage }[] {
  const metrics = objectField(data, "modelMetrics");
  return Object.entries(metrics).flatMap(([model, metric]) => {
    const told = objectField(isPlainObject(metric) ? metric : {}, "usage");
    const read = countField(told, "cacheReadTokens") ?? 0;
    const written = countField(told, "cacheWriteTokens") ?? 0;
    const output = countField(told, "outputTokens") ?? 0;
    const usage = toUsage({
      // Their input includes cache reads and writes.
      inputTokens: Math.max(0, (countField(told, "inputTokens") ?? 0) - read - written),
      outputTokens: Math.max(0, output - (countedOutput.get(model) ?? 0)),
      cacheCreationTokens: written,
      cacheReadTokens: read,
    });
    return usage === null ? [] : [{ model, usage }];
  });
}

function toCall(request: unknown): Block {
  const fields = isPlainObject(request) ? request : {};
  const id = textField(fields, "toolCallId");
  const name = textField(fields, "name");
  const input = fields["arguments"];
  if (id === undefined || name === undefined) {
    return { type: "opaque", provider: FORMAT, json: JSON.stringify(request) };
  }
  const rest = otherFields(fields, ["toolCallId", "name", "arguments", "type"]);
  return {
    ...(rest as JsonObject),
    type: "tool_use",
    id,
    name,
    input: typeof input === "string" ? input : JSON.stringify(input ?? {}),
  };
}

function toText(content: string): Block[] {
  return content === "" ? [] : [{ type: "text", text: content }];
}

/** All zeros means that no usage was reported. */
function toUsage(counts: Partial<Usage>): Usage | null {
  const zero = { inputTokens: 0, outputTokens: 0, cacheCreationTokens: 0, cacheReadTokens: 0 };
  const usage = { ...zero, ...counts };
  return Object.values(usage).some((count) => count > 0) ? usage : null;
}
