/**
 * Maps the ids of tool calls to ids that the provider accepts.
 *
 * Sessions move between providers, and each makes ids that others refuse. Some agents use an id
 * twice, which is refused as well. One map covers the whole transcript: a valid id stays at its
 * first use, and no new id collides with another.
 */

import { sha256 } from "../../transcript/hash.ts";
import type { IdRule } from "./rules.ts";
import { type AssistantTurn, callsOf, type Turn } from "./turn.ts";

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
