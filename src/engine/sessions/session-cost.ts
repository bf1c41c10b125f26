/** What the calls of sessions cost, by a table of prices. */

import { isPlainObject } from "../../model/json.ts";
import { costOf, type PriceTable, priceOf } from "../../model/prices.ts";
import { HOUR_CACHE_KEY, type Session } from "../../model/session.ts";
import { totalTokens } from "../../model/usage.ts";
import type { UsageSum } from "../../store/records.ts";
import type { EngineContext } from "../engine-context.ts";

export interface PricedSum extends UsageSum {
  readonly costMicroUsd: number;
  /** Whether the model has a name and tokens, but no price. */
  readonly isUnknown: boolean;
}

function priceUsage(
  { metadata }: Pick<Session, "metadata">,
  sums: readonly UsageSum[],
  prices: PriceTable,
): readonly PricedSum[] {
  const hours = metadata[HOUR_CACHE_KEY];
  const written = new Map<string | null, number>();
  for (const { model, usage } of sums) {
    written.set(model, (written.get(model) ?? 0) + usage.cacheCreationTokens);
  }
  return sums.map((sum) => {
    const { model, usage } = sum;
    const name = model ?? "";
    const price = priceOf(name, prices);
    const hour = isPlainObject(hours) && Object.hasOwn(hours, name) ? Number(hours[name]) : 0;
    // The session knows the sum of each model: its share is the same at all times.
    const share = hour > 0 ? Math.min(1, hour / (written.get(model) || 1)) : 0;
    const costMicroUsd =
      price === undefined ? 0 : costOf(usage, price, usage.cacheCreationTokens * share);
    const isUnknown = price === undefined && name !== "" && totalTokens(usage) > 0;
    return { ...sum, costMicroUsd, isUnknown };
  });
}

/** The usage of several sessions with its cost, by the session's id. */
export async function readPricedUsage(
  { store, tenant }: EngineContext,
  sessions: readonly Session[],
  prices: PriceTable,
): Promise<ReadonlyMap<string, readonly PricedSum[]>> {
  const ids = sessions.map(({ id }) => id);
  const sums = Map.groupBy(await store.readUsage(tenant, ids), ({ sessionId }) => sessionId);
  const priced = sessions.map(
    (session) => [session.id, priceUsage(session, sums.get(session.id) ?? [], prices)] as const,
  );
  return new Map(priced);
}
