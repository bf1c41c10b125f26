/** Arbitrary values of gateway answers and of pruning options. */

import fc from "fast-check";
import type { PruneOptions } from "../context/prune.ts";
import type { MaintenanceReport } from "../gateway/maintenance/maintain.ts";
import type { SessionStatus } from "../gateway/status/session-status.ts";
import type { RouteSession, SessionRoute } from "../model/route.ts";
import { type Any, count, exact, flag, text, textOrNull, texts, time } from "./round-trip.cases.ts";

const timeOrNull = fc.option(time, { nil: null });

export const route: Any<SessionRoute> = fc.record(
  {
    key: text,
    sessionId: text,
    version: count,
    createdAt: time,
    updatedAt: time,
    fields: fc.dictionary(fc.string(), text, { maxKeys: 4, noNullPrototype: true }),
  },
  exact,
);

export const routeSession: Any<RouteSession> = fc.record(
  { key: text, sessionId: text, version: count, since: time, reason: text },
  exact,
);

export const sessionStatus: Any<SessionStatus> = fc.record(
  {
    sessionId: text,
    key: textOrNull,
    current: flag,
    agent: text,
    messageCount: count,
    startedAt: time,
    lastInteractionAt: time,
    contextTokens: count,
    estimated: flag,
    model: textOrNull,
    window: fc.record(
      { tokens: count, source: fc.constantFrom("catalogue", "config", "default") },
      exact,
    ),
    compactionCount: count,
    memoryFlushAt: timeOrNull,
    resetRule: text,
    nextReset: fc.option(fc.record({ at: time, reason: fc.constantFrom("daily", "idle") }, exact), {
      nil: null,
    }),
  },
  exact,
);

export const maintenance: Any<MaintenanceReport> = fc.record(
  {
    mode: fc.constantFrom("off", "warn", "enforce"),
    applied: flag,
    skipped: texts,
    deletions: fc.array(
      fc.record(
        {
          sessionId: text,
          key: textOrNull,
          lastInteractionAt: time,
          contentBytes: count,
          reason: fc.constantFrom("age", "count", "disk"),
        },
        exact,
      ),
    ),
    spared: fc.record({ running: count, shared: count, ingested: count }, exact),
    sessions: count,
    contentBytes: count,
    contentBytesAfter: count,
    overBudget: flag,
  },
  exact,
);

export const prune: Any<PruneOptions> = fc.record(
  {
    windowTokens: count,
    usedTokens: count,
    tools: fc.record({ allow: texts, deny: texts }, { ...exact, requiredKeys: [] }),
    limits: fc.record(
      {
        trimRatio: count,
        trimAbove: count,
        headCharacters: count,
        tailCharacters: count,
        clearRatio: count,
        clearAbove: count,
        protectedAssistants: count,
      },
      { ...exact, requiredKeys: [] },
    ),
  },
  { ...exact, requiredKeys: ["windowTokens"] },
);
