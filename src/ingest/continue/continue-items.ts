/** Items of a session of Continue: a message in OpenAI's form, with its tools' results. */

import type { Block } from "../../model/block.ts";
import type { Usage } from "../../model/entry.ts";
import { isPlainObject } from "../../model/json.ts";
import { resultBlock, toPromptUsage } from "../block-fields.ts";
import { type EntryDraft, toContentBlocks } from "../drafts.ts";
import {
  countField,
  type Fields,
  nameOf,
  objectField,
  objectsIn,
  otherFields,
  textField,
  timeField,
} from "../fields.ts";

export const FORMAT = "continue";

/** Undefined if it is not a message. `answered` holds the calls with a result, and is updated. */
export function toDrafts(
  item: Fields,
  sourceId: string,
  answered: Set<string>,
): EntryDraft[] | undefined {
  const message = objectField(item, "message");
  const { role } = message;
  const content = toBlocks(message["content"]);
  const base = { sourceId, id: null, kind: "message" as const };
  const summary = textField(item, "conversationSummary");
  const compaction: EntryDraft[] =
    summary === undefined || summary === "" ? [] : [toCompaction(summary, sourceId)];
  const fields = otherFields(item, KNOWN);
  switch (role) {
    case "user":
      return [{ ...base, role, blocks: content, fields }, ...compaction];
    case "system":
      return [{ ...base, role, blocks: content, marks: { injected: true } }, ...compaction];
    case "thinking": {
      const text = textOf(message["content"]);
      const signature = textField(message, "signature");
      const thought: Block = {
        type: "thinking",
        text,
        ...(signature === undefined ? {} : { signature }),
      };
      return [{ ...base, role: "assistant", actor: FORMAT, blocks: [thought] }, ...compaction];
    }
    case "assistant": {
      const answer = { ...base, role, actor: FORMAT, fields };
      const drafts = [{ ...answer, ...toAnswer(item, message, content) }];
      return [...drafts, ...toResults(item, sourceId, answered), ...compaction];
    }
    case "tool": {
      const toolUseId = textField(message, "toolCallId") ?? "";
      // Newer versions write the result beside its call as well.
      if (answered.has(toolUseId)) return compaction;
      const output = textOf(message["content"]);
      const block: Block = { type: "tool_result", toolUseId, output, isError: false };
      return [{ ...base, role, blocks: [block], fields }, ...compaction];
    }
    default:
      return undefined;
  }
}

/** Fields shown by the editor, sent in full, or mapped to a field of ours. */
const KNOWN = [
  "message",
  "editorState",
  "promptLogs",
  "toolCallStates",
  "toolCallState",
  "reasoning",
  "conversationSummary",
];

function toCompaction(summary: string, sourceId: string): EntryDraft {
  const data = { firstKeptEntryId: null, tokensBefore: null };
  const blocks: Block[] = [{ type: "text", text: summary }];
  return { sourceId: `${sourceId}/summary`, id: null, kind: "compaction", blocks, data };
}

function toAnswer(item: Fields, message: Fields, content: readonly Block[]): Partial<EntryDraft> {
  const reasoning = objectField(item, "reasoning");
  const thought = textField(reasoning, "text") ?? "";
  const thinking: Block[] = thought === "" ? [] : [{ type: "thinking", text: thought }];
  const usage = objectField(message, "usage");
  const cents = usage["cost_cents"];
  const logs = objectsIn(item["promptLogs"]);
  return {
    blocks: [...thinking, ...content, ...objectsIn(message["toolCalls"]).map(toCall)],
    usage: toUsage(usage),
    model: textField(usage, "model") ?? textField(logs[0] ?? {}, "modelTitle") ?? null,
    createdAt: timeField(reasoning, "startAt"),
    ...(typeof cents === "number" && cents > 0 ? { cost: cents / 100 } : {}),
  };
}

function toCall(call: Fields): Block {
  const called = objectField(call, "function");
  const { arguments: input } = called;
  return {
    type: "tool_use",
    id: textField(call, "id") ?? "",
    name: nameOf(called["name"] ?? ""),
    input: typeof input === "string" ? input : (JSON.stringify(input ?? {}) ?? "{}"),
  };
}

/** Statuses of a call without output. */
const FAILED: readonly unknown[] = ["errored", "canceled", "rejected"];

function toResults(item: Fields, sourceId: string, answered: Set<string>): EntryDraft[] {
  const states = objectsIn(item["toolCallStates"] ?? [item["toolCallState"]]);
  return states.flatMap((state) => {
    const toolUseId = textField(state, "toolCallId") ?? "";
    const isError = FAILED.includes(state["status"]);
    const { output } = state;
    if ((!Array.isArray(output) && !isError) || answered.has(toolUseId)) return [];
    answered.add(toolUseId);
    const call = objectField(state, "toolCall");
    const called = objectField(call, "function");
    const toolName = textField(called, "name");
    const texts = objectsIn(output).map((part) => textField(part, "content") ?? "");
    const block = resultBlock(toolUseId, toolName, texts.join("\n"), isError);
    return [
      {
        sourceId: `${sourceId}/${toolUseId}`,
        id: toolUseId,
        kind: "message",
        role: "tool",
        actor: toolName ?? null,
        blocks: [block],
      } satisfies EntryDraft,
    ];
  });
}

/** In OpenAI's form, or the program's own, where cached tokens are input. */
function toUsage(usage: Fields): Usage | null {
  const input = countField(usage, "prompt_tokens") ?? countField(usage, "promptTokens");
  const output = countField(usage, "completion_tokens") ?? countField(usage, "completionTokens");
  if (input === undefined && output === undefined) return null;
  const own = usage["prompt_tokens_details"] ?? usage["promptTokensDetails"];
  const details: Fields = isPlainObject(own) ? own : {};
  const count = (...names: string[]) =>
    names.map((name) => countField(details, name)).find((value) => value !== undefined) ?? 0;
  const read = count("cached_tokens", "cache_read_tokens", "cachedTokens");
  const written = count("cache_write_tokens", "cacheWriteTokens");
  return toPromptUsage(input ?? 0, output ?? 0, read, written);
}

function toBlocks(content: unknown): Block[] {
  return toContentBlocks(FORMAT, content, (part) => {
    const url = textField(objectField(part, "imageUrl"), "url");
    return url === undefined ? undefined : { type: "image", url };
  });
}

function textOf(content: unknown): string {
  const texts = toBlocks(content).map((block) => (block.type === "text" ? block.text : ""));
  return texts.join("");
}
