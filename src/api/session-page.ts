/** A page of a list of sessions on the wire. */

import type { SessionListPage } from "../engine/sessions/list-sessions.ts";
import type { Outcome } from "../engine/sessions/outcome.ts";
import { OUTCOME } from "../model/answers/context.ts";
import { NESTED } from "../model/answers/store.ts";
import { fromWireSession, toWireSession, type WireSession } from "./session.ts";
import { fromWire, toWire, type WireOf } from "./shape.ts";

type WireListedSession = WireSession & {
  readonly cost_microusd?: number;
  readonly outcome?: WireOf<typeof OUTCOME> | null;
} & Partial<WireOf<typeof NESTED>>;

/** A page of a list. A session has its cost and its outcome if the caller asked for them. */
export interface WireSessionPage {
  readonly sessions: readonly WireListedSession[];
  /** Of an empty page: what its filters may have meant. */
  readonly notes: readonly string[];
  readonly next_cursor: string | null;
}

export function toWireSessionPage({
  sessions,
  costs,
  outcomes,
  nested,
  notes = [],
  nextCursor,
}: SessionListPage): WireSessionPage {
  const asked = (id: string) => ({
    ...(costs && { cost_microusd: costs.get(id) ?? 0 }),
    ...(outcomes && { outcome: toWireOutcome(outcomes.get(id)) }),
    ...(nested && toWire(NESTED, nested.get(id) ?? { subAgents: 0, repeats: [] })),
  });
  return {
    sessions: sessions.map((session) => ({ ...toWireSession(session), ...asked(session.id) })),
    notes,
    next_cursor: nextCursor ?? null,
  };
}

export function fromWireSessionPage(page: WireSessionPage): SessionListPage {
  // An older server has no notes.
  const { sessions, notes = [], next_cursor: nextCursor } = page;
  const costs = sessions.flatMap(({ id, cost_microusd: cost }) =>
    cost === undefined ? [] : [[id, cost] as const],
  );
  const outcomes = sessions.flatMap(({ id, outcome }) =>
    outcome ? [[id, fromWire(OUTCOME, outcome)] as const] : [],
  );
  const nested = sessions.flatMap(({ id, sub_agents, repeats }) =>
    sub_agents === undefined || repeats === undefined
      ? []
      : [[id, fromWire(NESTED, { sub_agents, repeats })] as const],
  );
  return {
    sessions: sessions.map(fromWireSession),
    ...(costs.length === 0 ? {} : { costs: new Map(costs) }),
    ...(outcomes.length === 0 ? {} : { outcomes: new Map(outcomes) }),
    ...(nested.length === 0 ? {} : { nested: new Map(nested) }),
    ...(notes.length === 0 ? {} : { notes }),
    ...(nextCursor === null ? {} : { nextCursor }),
  };
}

function toWireOutcome(outcome: Outcome | undefined): WireOf<typeof OUTCOME> | null {
  return outcome === undefined ? null : toWire(OUTCOME, outcome);
}
