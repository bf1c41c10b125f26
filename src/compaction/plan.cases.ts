/** Random transcripts for the property tests of the planner. */

import fc from "fast-check";
import type { KeepStrategy, PlanItem } from "./plan-input.ts";

/** One event; ids come from a small pool, so that they repeat. */
type Event =
  | { readonly type: "user" | "assistant" | "system" | "note" }
  | { readonly type: "call"; readonly ids: readonly string[] }
  | { readonly type: "results"; readonly ids: readonly string[] };

const toolIds = fc.constantFrom("a", "b", "c", "d", "e");

/**
 * A call with its results: in one message or several, in any order, some missing, a user between.
 */
const toolRound: fc.Arbitrary<Event[]> = fc
  .record({
    ids: fc.uniqueArray(toolIds, { minLength: 1, maxLength: 3 }),
    answered: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
    together: fc.boolean(),
    reversed: fc.boolean(),
    interrupted: fc.constantFrom(false, false, false, true),
  })
  .map(({ ids, answered, together, reversed, interrupted }) => {
    const done = ids.filter((_, i) => answered[i]);
    if (reversed) done.reverse();
    const results: Event[] = together
      ? done.length > 0
        ? [{ type: "results", ids: done }]
        : []
      : done.map((id) => ({ type: "results", ids: [id] }));
    if (interrupted) results.splice(1, 0, { type: "user" });
    return [{ type: "call", ids }, ...results];
  });

const events: fc.Arbitrary<Event[]> = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constant<Event[]>([{ type: "user" }]) },
      { weight: 3, arbitrary: fc.constant<Event[]>([{ type: "assistant" }]) },
      { weight: 5, arbitrary: toolRound },
      { weight: 1, arbitrary: fc.constant<Event[]>([{ type: "system" }]) },
      { weight: 1, arbitrary: fc.constant<Event[]>([{ type: "note" }]) },
      { weight: 1, arbitrary: toolIds.map((id): Event[] => [{ type: "results", ids: [id] }]) },
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.flat());

const size = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 600 }) },
  { weight: 1, arbitrary: fc.integer({ min: 5_000, max: 60_000 }) },
);

/** Items with sequences from 1; `pinShare` in ten are pinned. */
export const transcripts: fc.Arbitrary<PlanItem[]> = fc
  .tuple(
    events,
    fc.infiniteStream(size),
    fc.infiniteStream(fc.nat(9)),
    fc.integer({ min: 0, max: 3 }),
  )
  .map(([list, sizes, rolls, pinShare]) =>
    list.map((event, i) => toItem(event, i, next(sizes), next(rolls) < pinShare)),
  );

export const strategies: fc.Arbitrary<KeepStrategy> = fc.oneof(
  fc.integer({ min: 0, max: 12 }).map((count): KeepStrategy => ({ keep: "messages", count })),
  fc
    .constantFrom(0, 100, 500, 2_000, 20_000, 90_000)
    .map((tokens): KeepStrategy => ({ keep: "tokens", tokens })),
  fc.constant<KeepStrategy>({ keep: "half" }),
  fc.constant<KeepStrategy>({ keep: "none" }),
);

function toItem(event: Event, i: number, tokens: number, pinned: boolean): PlanItem {
  const results = event.type === "results" ? event.ids : [];
  const roles = {
    note: "user",
    call: "assistant",
    results: i % 3 === 0 ? "user" : "tool",
  } as const;
  return {
    id: `e${i}`,
    sequence: i + 1,
    kind: event.type === "note" ? "custom_message" : "message",
    role: event.type in roles ? roles[event.type as keyof typeof roles] : (event.type as "user"),
    tokens: tokens + results.length,
    pinned,
    calls: event.type === "call" ? event.ids : [],
    results,
    resultTokens: new Map(results.map((id) => [id, Math.floor(tokens / results.length)])),
  };
}

function next<T>(stream: Iterator<T>): T {
  return stream.next().value as T;
}

/** The pairs of calls and results by a naive algorithm, as a reference. */
export function pairsOf(items: readonly PlanItem[]): [call: number, result: number][] {
  const taken = new Set<string>();
  const pairs: [number, number][] = [];
  items.forEach(({ results }, result) => {
    for (const id of results) {
      for (let call = result - 1; call >= 0; call--) {
        if (!items[call]?.calls.includes(id)) continue;
        if (!taken.has(`${call} ${id}`)) pairs.push([call, result]);
        taken.add(`${call} ${id}`);
        break;
      }
    }
  });
  return pairs;
}
