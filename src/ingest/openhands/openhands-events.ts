/** Events of OpenHands by kind: messages, the agent's actions, and observations. */

import type { Block } from "../../model/block.ts";
import type { Usage } from "../../model/entry.ts";
import { isPlainObject } from "../../model/json.ts";
import {
  type EntryDraft,
  KnownIds,
  toContentBlocks,
  toCustomEntry,
  toImportedEntry,
} from "../drafts.ts";
import {
  countField,
  type Fields,
  nameOf,
  objectField,
  objectsIn,
  otherFields,
  resultBlock,
  textField,
  thinkingBlock,
  timeField,
  toPromptUsage,
} from "../fields.ts";
import type { ProblemLog } from "../problems.ts";
import type { ImportedEntry } from "../source.ts";

export const FORMAT = "openhands";

/** Program states, and copies of other events; the instructions are always the same. */
const IGNORED: readonly unknown[] = [
  "SystemPromptEvent",
  "SystemPromptUpdateEvent",
  "ConversationStateUpdateEvent",
  "CondensationRequest",
  "PauseEvent",
  "InterruptEvent",
  "TokenEvent",
  "LLMCompletionLogEvent",
  "StreamingDeltaEvent",
  "HookExecutionEvent",
];

/** Usage and cost of one answer. */
interface AnswerMetrics {
  readonly usage: Usage;
  readonly model: string | null;
}

export class OpenHandsEvents {
  readonly #problems: ProblemLog;
  readonly #ids: KnownIds;
  readonly #metrics: ReadonlyMap<string, AnswerMetrics>;
  readonly #model: string | null;

  constructor(state: Fields, problems: ProblemLog) {
    this.#problems = problems;
    this.#ids = new KnownIds(problems);
    this.#metrics = readMetrics(state);
    this.#model = modelOf(state) ?? null;
  }

  *read(event: Fields, number: number): Generator<ImportedEntry> {
    const { kind } = event;
    if (IGNORED.includes(kind)) {
      this.#problems.ignore(nameOf(kind));
      return;
    }
    const legacy = isLegacy(event) ? toLegacyDraft(event, FORMAT) : undefined;
    if (legacy === null) {
      this.#problems.ignore(nameOf(event["action"] ?? event["observation"]));
      return;
    }
    const own = countField(event, "id") ?? number;
    const sourceId = textField(event, "id") ?? `event-${own}`;
    if (!this.#ids.isNew(sourceId, event, number)) return;
    const createdAt = timeField(event, "timestamp");
    const draft = legacy ?? this.#draft(event);
    if (draft !== undefined) {
      yield toImportedEntry(FORMAT, { sourceId, createdAt, ...draft });
      return;
    }
    const name = nameOf(kind ?? event["action"]);
    this.#problems.add("unexpected", `an event of the kind ${name} is custom data`, number);
    const data = otherFields(event, ["id", "timestamp", "kind"]);
    yield toCustomEntry(FORMAT, sourceId, name, data, createdAt);
  }

  #draft(event: Fields): Omit<EntryDraft, "sourceId"> | undefined {
    switch (event["kind"]) {
      case "MessageEvent":
        return this.#message(event);
      case "ActionEvent":
        return this.#action(event);
      case "ObservationEvent":
      case "UserRejectObservation":
      case "AgentErrorEvent":
        return toResult(event);
      case "Condensation": {
        const text = textField(event, "summary") ?? "";
        const data = { firstKeptEntryId: null, tokensBefore: null };
        const blocks: Block[] = text === "" ? [] : [{ type: "text", text }];
        if (text === "") return { kind: "custom", data: { type: `${FORMAT}:Condensation` } };
        return { kind: "compaction", blocks, data };
      }
      default:
        return undefined;
    }
  }

  #message(event: Fields): Omit<EntryDraft, "sourceId"> | undefined {
    const message = event["llm_message"];
    if (!isPlainObject(message)) return undefined;
    const { source } = event;
    const fields = otherFields(event, [...KNOWN, "llm_message", "llm_response_id"]);
    const said = toSaid(message["content"], message);
    if (source === "agent") {
      const calls = objectsIn(message["tool_calls"]).map(toCall);
      const blocks = [...toThoughts(message), ...said, ...calls];
      return { ...this.#answer(event), blocks, fields };
    }
    const marks = source === "environment" ? { marks: { injected: true } } : {};
    return { kind: "message", role: "user", blocks: said, fields, ...marks };
  }

  #action(event: Fields): Omit<EntryDraft, "sourceId"> {
    const { tool_call: call, action } = event;
    const id = textField(event, "tool_call_id") ?? "";
    const name = nameOf(event["tool_name"] ?? "");
    const own = isPlainObject(call) ? textField(call, "arguments") : undefined;
    const input = own ?? JSON.stringify(action ?? {}) ?? "{}";
    const blocks = [...toThoughts(event), ...toSaid(event["thought"], event)];
    const known = ["thought", "reasoning_content", "thinking_blocks", "action", "tool_call"];
    return {
      ...this.#answer(event),
      blocks: [...blocks, { type: "tool_use", id, name, input }],
      fields: otherFields(event, [...KNOWN, ...known, "responses_reasoning_item"]),
    };
  }

  /** Parallel calls are separate events, which share the answer's id. */
  #answer(event: Fields): Omit<EntryDraft, "sourceId"> {
    const answer = textField(event, "llm_response_id");
    const metrics = answer === undefined ? undefined : this.#metrics.get(answer);
    return {
      kind: "message",
      role: "assistant",
      actor: FORMAT,
      ...(answer === undefined ? {} : { answer }),
      usage: metrics?.usage ?? null,
      model: metrics?.model ?? this.#model,
    };
  }
}

const KNOWN = ["id", "timestamp", "source", "kind", "tool_name", "tool_call_id"];

function toResult(event: Fields): Omit<EntryDraft, "sourceId"> {
  const { observation, kind } = event;
  const seen: Fields = isPlainObject(observation) ? observation : {};
  const toolName = textField(event, "tool_name");
  const failure = textField(event, "error") ?? textField(event, "rejection_reason");
  const content = toBlocks(seen["content"]);
  const [only] = content;
  const isText = content.length === 1 && only?.type === "text";
  const output = failure ?? (isText ? only.text : content);
  const isError = kind !== "ObservationEvent" || seen["is_error"] === true;
  const block = resultBlock(textField(event, "tool_call_id") ?? "", toolName, output, isError);
  const fields = {
    ...otherFields(event, [...KNOWN, "observation", "error", "rejection_reason"]),
    ...otherFields(seen, ["content", "is_error", "kind"]),
  };
  return { kind: "message", role: "tool", actor: toolName ?? null, blocks: [block], fields };
}

function toCall(call: Fields): Block {
  const input = textField(call, "arguments") ?? JSON.stringify(call["arguments"] ?? {}) ?? "{}";
  return {
    type: "tool_use",
    id: textField(call, "id") ?? "",
    name: nameOf(call["name"] ?? ""),
    input,
  };
}

/** The provider's signed blocks, else their text. */
function toThoughts(fields: Fields): Block[] {
  const blocks = objectsIn(fields["thinking_blocks"]).map((thought): Block => {
    const text = textField(thought, "thinking");
    const signature = textField(thought, "signature");
    if (text === undefined) {
      return { type: "opaque", provider: FORMAT, json: JSON.stringify(thought) };
    }
    return thinkingBlock(text, signature);
  });
  const text = textField(fields, "reasoning_content") ?? "";
  if (blocks.length > 0 || text === "") return blocks;
  return [{ type: "thinking", text }];
}

/** Some models repeat their thoughts in their text. */
function toSaid(content: unknown, of: Fields): Block[] {
  const blocks = toBlocks(content);
  if (toThoughts(of).length === 0) return blocks;
  return blocks.flatMap((block): Block[] => {
    if (block.type !== "text") return [block];
    const text = block.text.replace(/^\s*<think>[\s\S]*?<\/think>\s*/, "");
    return text === "" ? [] : [{ ...block, text }];
  });
}

function toBlocks(content: unknown): Block[] {
  return toContentBlocks(FORMAT, content, (part) => {
    const urls = part["image_urls"];
    if (!Array.isArray(urls)) return undefined;
    return urls.filter((url) => typeof url === "string").map((url) => ({ type: "image", url }));
  });
}

/** `stats.usage_to_metrics` has the tokens of each answer, by its id. */
function readMetrics(state: Fields): Map<string, AnswerMetrics> {
  const found = new Map<string, AnswerMetrics>();
  const stats = objectField(state, "stats");
  const all = objectField(stats, "usage_to_metrics");
  for (const metrics of Object.values(all)) {
    for (const each of objectsIn(isPlainObject(metrics) ? metrics["token_usages"] : [])) {
      const id = textField(each, "response_id") ?? "";
      if (id === "") continue;
      const count = (name: string) => countField(each, name) ?? 0;
      const [input, output] = [count("prompt_tokens"), count("completion_tokens")];
      const cached = [count("cache_read_tokens"), count("cache_write_tokens")] as const;
      const usage = toPromptUsage(input, output, ...cached);
      found.set(id, { usage, model: textField(each, "model") || null });
    }
  }
  return found;
}

export function modelOf(state: Fields): string | undefined {
  const agent = objectField(state, "agent");
  return isPlainObject(agent["llm"]) ? textField(agent["llm"], "model") : undefined;
}

// Events of OpenHands before version 1.0: an action has a name and arguments, an observation its
// cause. The model's request and response are beside the action.

type Draft = Omit<EntryDraft, "sourceId">;

/** Program states, and the instructions, which are always the same. */
const LEGACY_IGNORED: readonly unknown[] = [
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
function toLegacyDraft(event: Fields, format: string): Draft | null | undefined {
  const { action, observation } = event;
  if (LEGACY_IGNORED.includes(action ?? observation)) return null;
  if (typeof observation === "string") return toLegacyResult(event);
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
  return { ...toAnswer(event, format), blocks: toLegacyBlocks(event, args) };
}

function toLegacyBlocks(event: Fields, args: Fields): Block[] {
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

function toLegacyResult(event: Fields): Draft {
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
