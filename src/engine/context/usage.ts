/** A session's context size and total cost. */

import { contextPressure, type Pressure } from "../../context/context-window.ts";
import { fromEntry, sumTokens } from "../../context/sent-tokens.ts";
import type { CONTEXT_USAGE } from "../../model/answers/context.ts";
import type { FieldsOf } from "../../model/shape.ts";
import { sessionNotFound } from "../../store/store-errors.ts";
import { summaryTokens } from "../compaction/compaction-ground.ts";
import type { EngineContext } from "../engine-context.ts";
import { type ContextEntries, findCompaction, idsOf, readContext } from "./read-context.ts";
import { readStanding } from "./standing.ts";

export interface ContextUsage extends FieldsOf<typeof CONTEXT_USAGE> {}

/** The context size at the leaf. */
export async function readPressure(
  engine: EngineContext,
  sessionId: string,
  leaf?: string,
): Promise<Pressure> {
  const { counter } = engine;
  const context = await readContext(engine, sessionId, {
    counter,
    ...(leaf === undefined ? {} : { leaf }),
    // The first report found is the newest; reports from before a compaction are stale.
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
  const standing = reported ? 0 : await standingTokens(engine, sessionId, context, leaf);
  return contextPressure(items, compactedAt, standing);
}

export async function readUsage(
  engine: EngineContext,
  sessionId: string,
  leaf?: string,
): Promise<ContextUsage> {
  const session = await engine.store.findSession(engine.tenant, sessionId);
  if (session === undefined) throw sessionNotFound(sessionId);
  const pressure = await readPressure(engine, sessionId, leaf);
  const compaction = await findCompaction(engine, sessionId, leaf);
  return { ...pressure, compaction: compaction?.entry.id ?? null, billed: session.tokens };
}

async function standingTokens(
  engine: EngineContext,
  sessionId: string,
  context: ContextEntries,
  leaf: string | undefined,
): Promise<number> {
  const pinned = await readStanding(
    engine,
    sessionId,
    context.compaction,
    idsOf(context.entries),
    leaf,
  );
  const messages = pinned.map((entry) => fromEntry(entry, "pinned", engine.counter));
  const { compaction } = context;
  if (compaction === null) return sumTokens(messages);
  return sumTokens(messages) + summaryTokens(engine, compaction.text, compaction.profile);
}
