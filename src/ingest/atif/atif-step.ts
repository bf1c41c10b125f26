/** Steps of a trajectory: a message, and for an agent its calls and their results. */

import type { Block } from "../../model/block.ts";
import type { Usage } from "../../model/entry.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { resultBlock, toPromptUsage } from "../block-fields.ts";
import { type EntryDraft, toContentBlocks } from "../drafts.ts";
import {
  costField,
  countField,
  type Fields,
  nameOf,
  objectField,
  objectsIn,
  otherFields,
  textField,
  timeField,
} from "../fields.ts";

export const FORMAT = "atif";

/** The key of `extra` for fields that only our own exports write. */
export const OWN = "backscroll";

/** Undefined if it is not a step. `model` is the trajectory's. */
export function toDrafts(
  step: Fields,
  sourceId: string,
  model: string | null,
  agent: string,
): EntryDraft[] | undefined {
  const { source } = step;
  const said = toBlocks(step["message"]);
  const createdAt = timeField(step, "timestamp");
  const base = { sourceId, createdAt, fields: stepFields(step, createdAt) };
  const results = toResults(step, sourceId, createdAt);
  if (source === "agent") return [toAnswer(step, base, said, model, agent), ...results];
  if (source === "user") return [{ ...base, kind: "message", role: "user", blocks: said }];
  if (source !== "system") return undefined;
  if (ownExtra(step)["kind"] === "compaction") {
    const data = { firstKeptEntryId: null, tokensBefore: null };
    return [{ ...base, kind: "compaction", blocks: said, data }];
  }
  const marks = { injected: true };
  return [{ ...base, kind: "message", role: "system", blocks: said, marks }, ...results];
}

const KNOWN = [
  "step_id",
  "source",
  "message",
  "reasoning_content",
  "tool_calls",
  "observation",
  "model_name",
  "timestamp",
  "metrics",
];

/**
 * Fields without a place here, kept for export, including times that we would format differently.
 */
function stepFields(step: Fields, createdAt: number | null): JsonObject {
  const { timestamp, message, metrics } = step;
  const isOwnTime = createdAt !== null && timestamp === new Date(createdAt).toISOString();
  const others = isPlainObject(metrics) ? otherFields(metrics, COUNTS) : {};
  const extra = isPlainObject(others["extra"]) ? otherFields(others["extra"], [CREATION]) : {};
  const kept = { ...others, extra };
  if (Object.keys(extra).length === 0) Reflect.deleteProperty(kept, "extra");
  return {
    ...otherFields(step, KNOWN),
    ...(timestamp === undefined || isOwnTime ? {} : { timestamp: timestamp as string }),
    ...(Array.isArray(message) ? { parts: true } : {}),
    ...(Object.keys(kept).length === 0 ? {} : { metrics: kept }),
  };
}

const CREATION = "cache_creation_input_tokens";
const COUNTS = ["prompt_tokens", "completion_tokens", "cached_tokens"];

function toAnswer(
  step: Fields,
  base: Pick<EntryDraft, "sourceId" | "fields"> & { readonly createdAt: number | null },
  said: readonly Block[],
  model: string | null,
  agent: string,
): EntryDraft {
  const thought = textField(step, "reasoning_content");
  const thinking: Block[] = thought === undefined ? [] : [{ type: "thinking", text: thought }];
  const calls = objectsIn(step["tool_calls"]).map((call): Block => {
    const { arguments: input } = call;
    const text = typeof input === "string" ? input : JSON.stringify(input ?? {});
    const id = textField(call, "tool_call_id") ?? "";
    return { type: "tool_use", id, name: nameOf(call["function_name"] ?? ""), input: text ?? "{}" };
  });
  const metrics = objectField(step, "metrics");
  const own = textField(step, "model_name");
  const named = own === undefined ? {} : { model_name: own };
  return {
    ...base,
    kind: "message",
    role: "assistant",
    actor: agent,
    blocks: [...thinking, ...said, ...calls],
    usage: toUsage(metrics),
    model: own ?? model,
    fields: { ...base.fields, ...named },
    ...costField(metrics, "cost_usd"),
  };
}

/** `prompt_tokens` includes cache reads and writes. */
function toUsage(metrics: Fields): Usage | null {
  const input = countField(metrics, "prompt_tokens");
  const output = countField(metrics, "completion_tokens");
  if (input === undefined && output === undefined) return null;
  const extra = objectField(metrics, "extra");
  const read = countField(metrics, "cached_tokens") ?? 0;
  return toPromptUsage(input ?? 0, output ?? 0, read, countField(extra, CREATION) ?? 0);
}

function toResults(step: Fields, sourceId: string, createdAt: number | null): EntryDraft[] {
  const observation = objectField(step, "observation");
  const results = objectsIn(observation["results"]);
  if (results.length === 0) return [];
  const calls = objectsIn(step["tool_calls"]);
  const errors = ownExtra(step)["errors"];
  const failed: readonly unknown[] = Array.isArray(errors) ? errors : [];
  const blocks = results.map((result): Block => {
    const toolUseId = textField(result, "source_call_id") ?? "";
    const call = calls.find((each) => each["tool_call_id"] === toolUseId);
    const toolName = call === undefined ? undefined : nameOf(call["function_name"] ?? "");
    const { content } = result;
    const extra = objectField(result, "extra");
    const isError = failed.includes(toolUseId) || extra["is_error"] === true;
    const output = typeof content === "string" ? content : toBlocks(content);
    const more = otherFields(result, ["source_call_id", "content"]);
    return resultBlock(toolUseId, toolName, output, isError, more);
  });
  const named = blocks.find(
    (block) => block.type === "tool_result" && block.toolName !== undefined,
  );
  const actor = named?.type === "tool_result" ? (named.toolName ?? null) : null;
  const id = { sourceId: `${sourceId}/results`, id: null };
  const at = timeField(ownExtra(step), "observed_at") ?? createdAt;
  return [{ ...id, kind: "message", role: "tool", actor, blocks, createdAt: at }];
}

export function ownExtra(of: Fields): Fields {
  const extra = objectField(of, "extra");
  return isPlainObject(extra[OWN]) ? extra[OWN] : {};
}

/** Text, or since version 1.6 a list of texts and images. */
function toBlocks(message: unknown): Block[] {
  return toContentBlocks(FORMAT, message, (part) => {
    const source = objectField(part, "source");
    const [url, mediaType] = [textField(source, "path"), textField(source, "media_type")];
    if (url === undefined || mediaType === undefined) return undefined;
    return { type: "image", mediaType, url };
  });
}
