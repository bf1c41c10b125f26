/**
 * What was learned about a model's window from its refusals, as a record of the tenant.
 *
 * A record, so that every process and node that answers with the model knows it. It expires: a
 * provider may enlarge a window, and a local server may be started with another one.
 */

import type { TenantEngine } from "../../engine/tenant-engine.ts";
import { isPlainObject } from "../../model/json.ts";

/** Sizes of whole requests in tokens, by the store's own count. */
export interface LearnedWindow {
  /** The largest request that was accepted after a refusal. */
  readonly accepted: number;
  /** The smallest request that was refused. */
  readonly refused: number;
}

/** The namespace of the records; the key is the model's name. */
export const WINDOWS_NAMESPACE = "backscroll.windows";

/** A week in seconds: then one refusal teaches it again. */
const LEARNED_SECONDS = 7 * 24 * 3_600;

export async function readLearned(
  memory: TenantEngine,
  model: string,
): Promise<LearnedWindow | undefined> {
  const found = await memory.records.find(WINDOWS_NAMESPACE, model);
  const value = found?.value;
  if (!isPlainObject(value)) return undefined;
  const { accepted, refused } = value as Record<string, unknown>;
  const isSize = (size: unknown) => Number.isSafeInteger(size) && (size as number) > 0;
  if (!isSize(accepted) || !isSize(refused)) return undefined;
  return { accepted: accepted as number, refused: refused as number };
}

/** A failure is ignored: the answer is there, and the next refusal teaches the same. */
export async function keepLearned(
  memory: TenantEngine,
  model: string,
  learned: LearnedWindow,
): Promise<void> {
  const place = { namespace: WINDOWS_NAMESPACE, key: model };
  await memory.records
    .put({ ...place, value: { ...learned }, ttl: LEARNED_SECONDS })
    .catch(() => undefined);
}

export async function forgetLearned(memory: TenantEngine, model: string): Promise<void> {
  await memory.records.delete(WINDOWS_NAMESPACE, model).catch(() => undefined);
}
