/** The steps that repair turns for a provider. */

import { sha256 } from "../../transcript/hash.ts";
import type { IdRule, ImageRules } from "./rules.ts";
import {
  type AssistantTurn,
  callsOf,
  type SentCall,
  type SentImage,
  type SentResult,
  type Turn,
} from "./turn.ts";

// Inserts an assistant message between a tool result and a user message.
//
// A user message follows a tool result directly after an interruption, or when an image was lifted
// out of the result. Mistral refuses that order; a short assistant message makes it valid.

export const BRIDGE_TEXT = "(Received.)";

export function bridgeTools(turns: readonly Turn[]): Turn[] {
  return turns.flatMap((turn, i): Turn[] => {
    if (turn.role !== "user" || turns[i - 1]?.role !== "tool") return [turn];
    const bridge: Turn = {
      role: "assistant",
      blocks: [{ type: "text", text: BRIDGE_TEXT }],
      aborted: false,
    };
    return [bridge, turn];
  });
}

// Adds a leading user turn, for providers that require one.

export const LEADING_TEXT = "(The conversation continues.)";

/** Puts a minimal user turn before `turns` if they begin with an assistant. */
export function leadingUser(turns: readonly Turn[]): Turn[] {
  if (turns.length === 0 || turns[0]?.role === "user") return [...turns];
  return [{ role: "user", blocks: [{ type: "text", text: LEADING_TEXT }] }, ...turns];
}

/**
 * Moves images out of tool results, for providers whose results are text.
 *
 * The image goes to a user turn right after the result, and a note replaces it.
 */
export function liftImages(turns: readonly Turn[], inResults: ImageRules["inResults"]): Turn[] {
  if (inResults === "all") return [...turns];
  return turns.flatMap((turn): Turn[] => {
    if (turn.role !== "tool") return [turn];
    const lifted: SentImage[] = [];
    const results = turn.results.map((result) => lift(result, inResults, lifted));
    if (lifted.length === 0) return [turn];
    return [
      { role: "tool", results },
      { role: "user", blocks: [{ type: "text", text: LIFTED_TEXT }, ...lifted] },
    ];
  });
}

export const LIFTED_TEXT = "[images of the tool results above, in order]";
export const LIFTED_IMAGE_TEXT = "[image: see the next message]";

function lift(result: SentResult, inResults: "data" | "none", lifted: SentImage[]): SentResult {
  const output = result.output.map((part) => {
    if (part.type === "text" || (inResults === "data" && "data" in part)) return part;
    lifted.push(part);
    return { type: "text" as const, text: LIFTED_IMAGE_TEXT };
  });
  return { ...result, output };
}

// Completes pairs of tool calls and results.
//
// Providers refuse a request with an incomplete pair, and keep refusing it, because the history
// stays. Sessions that were interrupted, cut, merged or written by two processes have such pairs.
// Results match the nearest earlier call by id, as in `transcript/tool-pairs.ts`.

/**
 * Puts results directly after their assistant turn, in the order of its calls, and calls last in
 * their turn. A call without a result gets an error result, unless its turn was aborted: then the
 * call is dropped. Second results and results without a call are dropped. No turn is left empty.
 */
export function repairPairs(turns: readonly Turn[]): Turn[] {
  const answers = matchResults(turns);
  return turns.flatMap((turn): Turn[] => {
    if (turn.role === "user") return [turn];
    if (turn.role === "tool") return [];
    const calls = callsOf(turn).filter((call) => answers.has(call) || !turn.aborted);
    const results = calls.map((call) => resultOf(call, answers.get(call)));
    const said = turn.blocks.filter((block) => block.type !== "tool_use");
    const blocks: AssistantTurn["blocks"] = [...said, ...calls];
    return [
      ...(blocks.length > 0 ? [{ ...turn, blocks }] : []),
      ...(results.length > 0 ? [{ role: "tool" as const, results }] : []),
    ];
  });
}

/** Maps calls to results. Calls are compared as objects, because ids may repeat. */
function matchResults(turns: readonly Turn[]): Map<SentCall, SentResult> {
  const answers = new Map<SentCall, SentResult>();
  const waiting = new Map<string, SentCall[]>();
  for (const turn of turns) {
    if (turn.role === "assistant") {
      // A later use of an id takes over; within one turn, results match the calls in order.
      for (const [id, calls] of Map.groupBy(callsOf(turn), (call) => call.id)) {
        waiting.set(id, calls);
      }
    } else if (turn.role === "tool") {
      for (const result of turn.results) {
        const call = waiting.get(result.toolUseId)?.shift();
        if (call !== undefined) answers.set(call, result);
      }
    }
  }
  return answers;
}

function resultOf(call: SentCall, result: SentResult | undefined): SentResult {
  if (result !== undefined) return { ...result, toolName: call.name };
  return {
    type: "tool_result",
    toolUseId: call.id,
    toolName: call.name,
    output: [{ type: "text", text: MISSING_RESULT }],
    isError: true,
  };
}

/** The placeholder of a missing result. */
export const MISSING_RESULT =
  "The result of this tool call is missing: it was interrupted or lost.";

// Maps the ids of tool calls to ids that the provider accepts.
//
// Sessions move between providers, and each makes ids that others refuse. Some agents use an id
// twice, which is refused as well. One map covers the whole transcript: a valid id stays at its
// first use, and no new id collides with another.

/**
 * Gives each call of `turns`, and its result, a unique id by `rule`. Pairs must be repaired:
 * results follow their turn in the order of its calls. Deterministic: later appends do not change
 * earlier ids.
 */
export function remapIds(turns: readonly Turn[], rule: IdRule): Turn[] {
  const calls = turns.filter((turn) => turn.role === "assistant").flatMap(callsOf);
  const ids = uniqueIds(
    calls.map((call) => call.id),
    rule,
  ).values();
  let current: string[] = [];
  return turns.map((turn) => {
    if (turn.role === "user") return turn;
    if (turn.role === "tool") {
      const results = turn.results.map((result, i) => ({
        ...result,
        toolUseId: current[i] ?? result.toolUseId,
      }));
      return { role: "tool", results };
    }
    current = callsOf(turn).map((call) => ids.next().value ?? call.id);
    return { ...turn, blocks: withIds(turn.blocks, current) };
  });
}

function withIds(blocks: AssistantTurn["blocks"], ids: readonly string[]): AssistantTurn["blocks"] {
  const rest = ids.values();
  return blocks.map((block) =>
    block.type === "tool_use" ? { ...block, id: rest.next().value ?? block.id } : block,
  );
}

/** An id by `rule` for each of `ids`, all distinct. */
export function uniqueIds(ids: readonly string[], rule: IdRule): string[] {
  const reserved = new Set(ids.filter((id) => isFine(id, rule)));
  const times = new Map<string, number>();
  return ids.map((id) => {
    const time = times.get(id) ?? 0;
    times.set(id, time + 1);
    if (time === 0 && reserved.has(id)) return id;
    for (let attempt = 0; ; attempt++) {
      const made = makeId(id, `${time}.${attempt}`, rule);
      if (reserved.has(made)) continue;
      reserved.add(made);
      return made;
    }
  });
}

const FINE = {
  alphanumeric: /^[a-zA-Z0-9]+$/,
  word: /^[a-zA-Z0-9_-]+$/,
  printable: /^[\u0021-\u007e]+$/,
} as const;

const REFUSED = {
  alphanumeric: /[^a-zA-Z0-9]/g,
  word: /[^a-zA-Z0-9_-]/g,
  printable: /[^\u0021-\u007e]/g,
} as const;

function isFine(id: string, rule: IdRule): boolean {
  if (!FINE[rule.characters].test(id)) return false;
  return rule.exactLength ? id.length === rule.maxLength : id.length <= rule.maxLength;
}

/** Hash characters appended to a shortened id: enough to keep a long session's ids distinct. */
const HASH_LENGTH = 10;

/** The head of `id`, for readers of logs, and a hash of the whole. */
function makeId(id: string, salt: string, rule: IdRule): string {
  const hash = sha256(Buffer.from(`${id}\0${salt}`)).toString("hex");
  if (rule.exactLength) return hash.slice(0, rule.maxLength);
  const head = id.replaceAll(REFUSED[rule.characters], "").slice(0, rule.maxLength - HASH_LENGTH);
  return head + hash.slice(0, HASH_LENGTH);
}
