/**
 * Estimates the usage of model calls without reported usage.
 *
 * Automatic compaction needs a figure for every call, or a session without usage would never be
 * compacted. Such a call gets an estimate, marked as one. The context's size is read once and then
 * updated incrementally (`ContextSizeCache`), so the cost does not grow with the session.
 */

import { countBlocks, type TokenCounter } from "../../context/tokens.ts";
import { totalTokens } from "../../model/prices.ts";
import type { EngineContext } from "../engine-context.ts";
import type { Draft } from "../message-input.ts";
import type { ContextSize } from "./context-size-cache.ts";
import { readPressure } from "./usage.ts";

/** An assistant message with a model and without usage. */
export function isUnmeasured(entry: Draft["entry"]): boolean {
  return entry.role === "assistant" && entry.model !== null && entry.usage === null;
}

/** The drafts, each unmeasured call with its estimate, and the context's tokens after them. */
export function withEstimates(
  drafts: readonly Draft[],
  size: ContextSize,
  counter: TokenCounter,
): { readonly drafts: readonly Draft[]; readonly tokens: number } {
  let { tokens } = size;
  const estimated = drafts.map((draft) => {
    const { entry, blocks } = draft;
    tokens =
      entry.usage === null ? tokens + countBlocks(blocks, counter) : totalTokens(entry.usage);
    if (!isUnmeasured(entry)) return draft;
    return { ...draft, entry: { ...entry, estimatedContext: { tokens, after: size.leaf } } };
  });
  return { drafts: estimated, tokens };
}

/** The cached size of the context that the next entry continues; only active leaves are cached. */
export function cachedContextSize(
  { contextSizes, tenant }: EngineContext,
  sessionId: string,
  parent: string | null | undefined,
): ContextSize | undefined {
  const cached = contextSizes.take(tenant, sessionId);
  return parent === undefined ? cached : undefined;
}

/** The size of the context that the next entry continues, read if it is not cached. */
export async function takeContextSize(
  engine: EngineContext,
  sessionId: string,
  parent: string | null | undefined,
): Promise<ContextSize> {
  const { store, tenant } = engine;
  const cached = cachedContextSize(engine, sessionId, parent);
  if (cached !== undefined) return cached;
  if (parent === null) return { leaf: null, tokens: 0 };
  const session = await store.findSession(tenant, sessionId);
  const leaf = parent ?? session?.leaf ?? null;
  if (leaf === null) return { leaf, tokens: 0 };
  const { contextTokens } = await readPressure(engine, sessionId, leaf);
  return { leaf, tokens: contextTokens };
}
