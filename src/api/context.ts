/** Contexts, compactions, summaries and usage on the wire. */

import type { Omission } from "../context/build.ts";
import type { PruneOptions } from "../context/prune.ts";
import type { BuiltContext } from "../engine/context/build-context.ts";
import type { Recalled } from "../engine/context/recall.ts";
import { CONTEXT_MESSAGE, RECALLED_MESSAGE } from "../model/answers/context.ts";
import type { JsonObject } from "../model/json.ts";
import { FACT } from "../model/note.ts";
import { fromWire, toWire, type WireOf } from "./shape.ts";
import { fromWireFields, toWireFields } from "./wire.ts";

export interface WireContext {
  readonly messages: readonly (WireOf<typeof CONTEXT_MESSAGE> & { readonly aborted: boolean })[];
  readonly omitted: readonly Omission[];
  readonly tokens: number;
  /** Tool results that were shortened. */
  readonly shortened: number;
}

export type WireRecalled =
  | WireOf<typeof RECALLED_MESSAGE>
  | { readonly type: "fact"; readonly fact: WireOf<typeof FACT> };

export function toWireContext(context: BuiltContext): WireContext {
  const { messages, omitted, tokens, shortened } = context;
  const shown = messages.map((each) => {
    return { ...toWire(CONTEXT_MESSAGE, each), aborted: each.aborted ?? false };
  });
  return { messages: shown, omitted, tokens, shortened };
}

export function toWireRecalled(item: Recalled): WireRecalled {
  if (item.type === "fact") return { type: "fact", fact: toWire(FACT, item.fact) };
  return toWire(RECALLED_MESSAGE, item);
}

export function fromWireContext(context: WireContext): BuiltContext {
  const { messages, omitted, tokens, shortened } = context;
  const shown = messages.map(({ aborted, ...each }) => {
    return { ...fromWire(CONTEXT_MESSAGE, each), ...(aborted ? { aborted } : {}) };
  });
  return { messages: shown, omitted, tokens, shortened };
}

export function fromWireRecalled(item: WireRecalled): Recalled {
  if (item.type === "fact") return { type: "fact", fact: fromWire(FACT, item.fact) };
  return fromWire(RECALLED_MESSAGE, item);
}

/** The pruning options of a context on the wire. */
export interface WirePrune {
  readonly window_tokens: number;
  readonly used_tokens?: number;
  readonly tools?: NonNullable<PruneOptions["tools"]>;
  readonly limits?: JsonObject;
}

export function toWirePrune({ limits, ...prune }: PruneOptions): WirePrune {
  const fields = toWireFields(prune as unknown as JsonObject) as unknown as WirePrune;
  return limits === undefined ? fields : { ...fields, limits: toWireFields(limits as JsonObject) };
}

export function fromWirePrune({ limits, ...prune }: WirePrune): PruneOptions {
  const options: PruneOptions = fromWireFields(prune);
  if (limits === undefined) return options;
  return { ...options, limits: fromWireFields(limits) as NonNullable<PruneOptions["limits"]> };
}
