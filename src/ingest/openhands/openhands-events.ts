/** Events of OpenHands by kind: messages, the agent's actions, and observations. */

import type { Block } from "../../model/block.ts";
import type { Usage } from "../../model/entry.ts";
import { isPlainObject } from "../../model/json.ts";
import { resultBlock, toPromptUsage } from "../block-fields.ts";
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
  textField,
  timeField,
} from "../fields.ts";
import type { ProblemLog } from "../problems.ts";
import type { ImportedEntry } from "../source.ts";
import { isLegacy, toLegacyDraft } from "./openhands-legacy.ts";

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
export interface AnswerMetrics {
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
    return { type: "thinking", text, ...(signature === undefined ? {} : { signature }) };
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
