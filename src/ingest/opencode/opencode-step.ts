/**
 * Steps: the output of one model call. A message of opencode has one, or all of a turn.
 *
 * A step becomes a message, followed by one per completed tool call.
 */

import type { Block } from "../../model/block.ts";
import type { Usage } from "../../model/entry.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import type { EntryDraft } from "../drafts.ts";
import {
  costField,
  countField,
  type Fields,
  objectField,
  otherFields,
  textField,
  timeField,
} from "../fields.ts";
import { copyMarkOf } from "./opencode-mark.ts";
import type { OpencodeMessage } from "./opencode-message.ts";

export const FORMAT = "opencode";

type Part = OpencodeMessage["parts"][number];

export interface Step {
  /** The message's id, and from the second step on its number too. */
  readonly id: string;
  readonly parts: readonly Part[];
}

export function splitSteps({ id, parts }: OpencodeMessage): Step[] {
  const steps: Part[][] = [[]];
  for (const part of parts) {
    if (part["type"] === "step-start" && steps.at(-1)?.length !== 0) steps.push([]);
    steps.at(-1)?.push(part);
  }
  return steps.map((list, i) => ({ id: i === 0 ? id : `${id}+${i}`, parts: list }));
}

/** It and its tools are marked as complete. */
export function isDone({ parts }: Step): boolean {
  return (
    parts.some(({ type }) => type === "step-finish") &&
    parts.every((part) => part["type"] !== "tool" || hasEnded(stateOf(part)))
  );
}

export function toStepDrafts(
  { id, data }: OpencodeMessage,
  step: Step,
  steps: number,
): EntryDraft[] {
  const { parts } = step;
  const blocks = parts.flatMap(toBlock);
  const finish = parts.find(({ type }) => type === "step-finish");
  const known = ["id", "sessionID", "role", "modelID", "tokens"];
  const isFirst = step.id === id;
  const answer: EntryDraft = {
    sourceId: step.id,
    id,
    kind: "message",
    role: "assistant",
    actor: FORMAT,
    blocks,
    model: textField(data, "modelID") ?? null,
    usage: toUsage(steps === 1 ? data["tokens"] : finish?.["tokens"]),
    ...costField(steps === 1 ? data : (finish ?? {}), "cost"),
    fields: isFirst ? { ...otherFields(data, known), ...copyMarkOf(parts) } : {},
  };
  if (data["summary"] === true) {
    const text = blocks.filter(({ type }) => type === "text");
    const summary = { firstKeptEntryId: null, tokensBefore: null };
    return [{ ...answer, kind: "compaction", role: null, blocks: text, data: summary }];
  }
  return [answer, ...parts.flatMap(toResult)];
}

function toBlock(part: Part): Block[] {
  const text = textField(part, "text");
  const rest = otherFields(part, ["type", "text", "id", "messageID", "sessionID"]);
  switch (part["type"]) {
    case "text":
      return text === undefined ? [] : [{ ...rest, type: "text", text }];
    case "reasoning":
      return text === undefined ? [] : [{ ...rest, type: "thinking", text }];
    case "tool": {
      const name = textField(part, "tool") ?? "";
      const input = stateOf(part)["input"];
      return [{ type: "tool_use", id: callOf(part), name, input: JSON.stringify(input ?? {}) }];
    }
    // Markers of steps and of the working tree, outside the conversation.
    case "step-start":
    case "step-finish":
    case "snapshot":
    case "patch":
      return [];
    default:
      return [
        { type: "opaque", provider: FORMAT, json: JSON.stringify({ ...rest, type: part["type"] }) },
      ];
  }
}

function toResult(part: Part): EntryDraft[] {
  const state = stateOf(part);
  if (part["type"] !== "tool" || !hasEnded(state)) return [];
  const name = textField(part, "tool");
  const isError = state["status"] === "error" || name === "invalid";
  const output = textField(state, "output") ?? textField(state, "error") ?? "";
  const time = objectField(state, "time");
  const toolName = name === undefined ? {} : { toolName: name };
  const known = ["status", "input", "output", "error", "time"];
  return [
    {
      sourceId: part.id,
      kind: "message",
      role: "tool",
      actor: name ?? null,
      blocks: [{ type: "tool_result", toolUseId: callOf(part), ...toolName, output, isError }],
      createdAt: timeField(time, "end"),
      fields: { ...otherFields(state, known), ...copyMarkOf([state]) },
    },
  ];
}

function stateOf(part: Fields): Fields {
  return objectField(part, "state");
}

function hasEnded(state: Fields): boolean {
  return state["status"] === "completed" || state["status"] === "error";
}

function callOf(part: Part): string {
  return textField(part, "callID") ?? part.id;
}

/** Thoughts are counted separately there. */
function toUsage(tokens: unknown): Usage | null {
  if (!isPlainObject(tokens)) return null;
  const cache: JsonObject | Fields = objectField(tokens, "cache");
  const usage = {
    inputTokens: countField(tokens, "input") ?? 0,
    outputTokens: (countField(tokens, "output") ?? 0) + (countField(tokens, "reasoning") ?? 0),
    cacheCreationTokens: countField(cache, "write") ?? 0,
    cacheReadTokens: countField(cache, "read") ?? 0,
  };
  return Object.values(usage).some((count) => count > 0) ? usage : null;
}
