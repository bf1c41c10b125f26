/** How full a session's context is, and what the session has cost so far. */

import { contextPressure, type Pressure } from "../../context/pressure.ts";
import { fromEntry, sumTokens } from "../../context/sized.ts";
import type { Usage } from "../../model/entry.ts";
import { sessionNotFound } from "../../store/store-errors.ts";
import type { Scope } from "../scope.ts";
import { summaryTokens } from "./compaction-ground.ts";
import { type ContextEntries, findCompaction, idsOf, readContext } from "./read-context.ts";
import { readStanding } from "./standing.ts";

export interface ContextUsage extends Pressure {
  /** Everything that was ever reported, all branches and calls together: for billing, not for pressure. */
  readonly billed: Usage;
  /** The newest compaction on the path. */
  readonly compaction: string | null;
}

/** What the model is given at the leaf takes so many tokens. */
export async function readPressure(
  scope: Scope,
  sessionId: string,
  leaf?: string,
): Promise<Pressure> {
  const { counter } = scope;
  const context = await readContext(scope, sessionId, {
    counter,
    ...(leaf === undefined ? {} : { leaf }),
    // The first report that is met is the newest; one from before a compaction says nothing.
    isEnough: (entry, isBeforeCompaction) => entry.usage !== null && !isBeforeCompaction,
    summary: false,
  });
  const items = context.entries.map((entry) => ({
    id: entry.id,
    sequence: entry.sequence,
    usage: entry.usage,
    tokens: fromEntry(entry, "recent", counter).tokens,
  }));
  const { compaction } = context;
  const compactedAt = compaction?.entry.sequence ?? 0;
  const reported = items.some((item) => item.usage !== null && item.sequence > compactedAt);
  const standing = reported ? 0 : await standingTokens(scope, sessionId, context, leaf);
  return contextPressure(items, compactedAt, standing);
}

export async function readUsage(
  scope: Scope,
  sessionId: string,
  leaf?: string,
): Promise<ContextUsage> {
  const session = await scope.store.findSession(scope.tenant, sessionId);
  if (session === undefined) throw sessionNotFound(sessionId);
  const pressure = await readPressure(scope, sessionId, leaf);
  const compaction = await findCompaction(scope, sessionId, leaf);
  return { ...pressure, compaction: compaction?.entry.id ?? null, billed: session.tokens };
}

async function standingTokens(
  scope: Scope,
  sessionId: string,
  context: ContextEntries,
  leaf: string | undefined,
): Promise<number> {
  const pinned = await readStanding(
    scope,
    sessionId,
    context.compaction,
    idsOf(context.entries),
    leaf,
  );
  const messages = pinned.map((entry) => fromEntry(entry, "pinned", scope.counter));
  const { compaction } = context;
  if (compaction === null) return sumTokens(messages);
  return sumTokens(messages) + summaryTokens(scope, compaction.text, compaction.profile);
}
