/**
 * Events of OpenHands before version 1.0: an action has a name and arguments, an observation its
 * cause. The model's request and response are beside the action.
 */

import type { Block } from "../../model/block.ts";
import type { Usage } from "../../model/entry.ts";
import { resultBlock, toPromptUsage } from "../block-fields.ts";
import type { EntryDraft } from "../drafts.ts";
import {
  countField,
  type Fields,
  nameOf,
  objectField,
  objectsIn,
  otherFields,
  textField,
} from "../fields.ts";

type Draft = Omit<EntryDraft, "sourceId">;

/** Program states, and the instructions, which are always the same. */
const IGNORED: readonly unknown[] = [
  "system",
  "recall",
  "change_agent_state",
  "agent_state_changed",
  "null",
  "condensation_request",
];

export function isLegacy(event: Fields): boolean {
  return typeof event["action"] === "string" || typeof event["observation"] === "string";
}

/** Null if it is outside the conversation; undefined if unknown. */
export function toLegacyDraft(event: Fields, format: string): Draft | null | undefined {
  const { action, observation } = event;
  if (IGNORED.includes(action ?? observation)) return null;
  if (typeof observation === "string") return toResult(event);
  const args = objectField(event, "args");
  const { source } = event;
  if (action === "condensation") {
    const text = textField(args, "summary") ?? "";
    const data = { firstKeptEntryId: null, tokensBefore: null };
    return text === "" ? null : { kind: "compaction", blocks: [{ type: "text", text }], data };
  }
  if (source === "user" && action === "message") {
    return { kind: "message", role: "user", blocks: toText(textField(args, "content")) };
  }
  if (source !== "agent") return undefined;
  return { ...toAnswer(event, format), blocks: toBlocks(event, args) };
}

function toBlocks(event: Fields, args: Fields): Block[] {
  const { action } = event;
  if (action === "message") return toText(textField(args, "content"));
  if (action === "finish") {
    const said = textField(args, "final_thought") || textField(args, "thought");
    return toText(said || textField(event, "message"));
  }
  const metadata = objectField(event, "tool_call_metadata");
  const id = callOf(event, event["id"]);
  const [choice] = objectsIn(objectField(metadata, "model_response")["choices"]);
  const calls = objectsIn(objectField(choice ?? {}, "message")["tool_calls"]);
  const called = objectField(calls.find((call) => call["id"] === id) ?? {}, "function");
  const own = textField(called, "arguments");
  const input = own ?? JSON.stringify(otherFields(args, ["thought"]));
  const name = textField(metadata, "function_name") ?? nameOf(action);
  return [...toText(textField(args, "thought")), { type: "tool_use", id, name, input }];
}

function toText(text: string | undefined): Block[] {
  return text === undefined || text === "" ? [] : [{ type: "text", text }];
}

/** An action without a function call is identified by its own number. */
function callOf(event: Fields, number: unknown): string {
  const metadata = objectField(event, "tool_call_metadata");
  return textField(metadata, "tool_call_id") ?? `call-${nameOf(number)}`;
}

function toResult(event: Fields): Draft {
  const extras = objectField(event, "extras");
  const code = extras["exit_code"] ?? objectField(extras, "metadata")["exit_code"];
  const toolName = textField(objectField(event, "tool_call_metadata"), "function_name");
  const isError = event["observation"] === "error" || (typeof code === "number" && code > 0);
  const output = textField(event, "content") ?? "";
  const block = resultBlock(callOf(event, event["cause"]), toolName, output, isError);
  return { kind: "message", role: "tool", actor: toolName ?? null, blocks: [block] };
}

/** Parallel calls share the model's response. */
function toAnswer(event: Fields, actor: string): Draft {
  const response = objectField(objectField(event, "tool_call_metadata"), "model_response");
  const answer = textField(response, "id");
  return {
    kind: "message",
    role: "assistant",
    actor,
    usage: toUsage(objectField(response, "usage")),
    ...(answer === undefined ? {} : { answer }),
    model: textField(response, "model") ?? null,
  };
}

/** The format counts cache reads and writes as input. */
function toUsage(usage: Fields): Usage | null {
  const input = countField(usage, "prompt_tokens");
  if (input === undefined) return null;
  const count = (name: string) => countField(usage, name) ?? 0;
  const cached = [count("cache_read_input_tokens"), count("cache_creation_input_tokens")] as const;
  return toPromptUsage(input, count("completion_tokens"), ...cached);
}
