/** Puts messages with a run in front of the other hits of their sessions. */

import { CHUNK_DOCUMENTS } from "../../index/layout.ts";
import type { View } from "../../snapshot.ts";
import type { RunGain } from "../lines.ts";
import type { Placed } from "../rank.ts";
import type { Run } from "../runs.ts";
import type { ScoredSpot } from "./session-scores.ts";

/** A session that excluded words left without a hit, until its line is found. */
const UNRANKED: Omit<Placed, "session" | "spot"> = {
  score: 0,
  parts: { message: 0, neighbours: 0, session: 0, boost: 0, coverage: 0 },
  depth: 0,
  covered: 0,
};

/**
 * A message with a run takes the score of its session's best one: their session is the same, and
 * words beside the run say nothing more. At most `perSession` of each session.
 */
export function placeRuns(
  placed: readonly Placed[],
  gains: readonly RunGain[],
  views: readonly View[],
  perSession: number,
): readonly Placed[] {
  if (gains.length === 0) return placed;
  const sessions = Map.groupBy(placed, ({ session }) => session);
  for (const { run, gain, isHit, isLine } of gains) {
    const own = sessions.get(run.session) ?? [];
    if (own.length === 0 && !isLine) continue;
    if (!isHit) {
      sessions.set(
        run.session,
        own.map((each) => ({ ...each, run: { gain, isLine } })),
      );
      continue;
    }
    const spot = spotOf(run, views);
    const { shown: _, other: __, ...best } = own[0] ?? (UNRANKED as Partial<Placed>);
    const first = { ...UNRANKED, ...best, session: run.session, spot, run: { gain, isLine } };
    const rest = own.filter((each) => each.spot !== null && !isSame(each.spot, spot));
    sessions.set(run.session, [first, ...rest].slice(0, perSession));
  }
  return [...sessions.values()].flat();
}

/** The columns are those that the session was scored by. */
function spotOf({ view, document }: Run, views: readonly View[]): ScoredSpot {
  const columns = views[view]?.source.columns(Math.floor(document / CHUNK_DOCUMENTS));
  const at = document % CHUNK_DOCUMENTS;
  const [role = 0, length = 0] = [columns?.roles[at], columns?.lengths[at]];
  return { view, document, role, length, score: 0 };
}

function isSame(a: ScoredSpot, b: ScoredSpot): boolean {
  return a.view === b.view && a.document === b.document;
}
