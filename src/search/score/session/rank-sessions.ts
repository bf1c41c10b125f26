/** The re-rank: scores each session of the first pass as a whole. */

import type { Blobs } from "../../index/blobs.ts";
import type { Asking } from "../../port.ts";
import { bestSessions, SAID, withCoverage } from "../coverage.ts";
import type { MessagePass } from "../message-pass.ts";
import { bestOf, type Placed, type Ranked, type Ranking, rankSession } from "../rank.ts";
import { findVerbatim } from "../verbatim.ts";
import { findPairs } from "../word-pairs.ts";
import { withDepth } from "./depth.ts";
import { SessionScorer } from "./session-scores.ts";

interface Bounds {
  readonly limit: number;
  readonly blobs: Blobs;
  /** Whether the deadline has passed, after this many sessions. */
  readonly isOver: (scored: number) => boolean;
}

/** The hits in both orders, until it is known whether the query was said in messages. */
interface Orders {
  readonly all: Placed[];
  /** With outputs as echoes. */
  readonly said: Placed[];
  /** The largest share of the query in one passage of messages. */
  share: number;
}

/** Undefined if the deadline passes before all are scored. */
export function* rankSessions(
  sessions: readonly number[],
  pass: Omit<MessagePass, "maxBoost">,
  ranking: Ranking,
  { limit, blobs, isOver }: Bounds,
): Asking<Ranked[] | undefined> {
  const { coverage } = ranking.profile;
  const filter = { ...pass.filter, sessions: undefined };
  const scorer = new SessionScorer({ ...pass, filter, maxBoost: 0 }, ranking.passage);
  const mayEcho = coverage > 0 && pass.outputs.length > 0;
  let isCut = false;
  const orders = yield* blobs.complete(() => {
    const made: Orders = { all: [], said: [], share: 0 };
    for (const [i, session] of sessions.entries()) {
      isCut ||= isOver(i);
      const scored = isCut ? undefined : scorer.score(session, pass.filter.path?.(session));
      if (scored === undefined) continue;
      made.share = Math.max(made.share, scored.said);
      made.all.push(...rankSession(scored, ranking, false));
      if (mayEcho) made.said.push(...rankSession(scored, ranking, true));
    }
    return made;
  });
  if (isCut) return undefined;
  const placed = withDepth(mayEcho && orders.share >= SAID ? orders.said : orders.all);
  const best = bestSessions(placed);
  const whole = new Set(placed.filter(({ hasAll }) => hasAll).map(({ session }) => session));
  const verbatim = yield* findVerbatim(
    [...best].filter((session) => whole.has(session)),
    ranking,
    pass,
    blobs,
  );
  const pairs = yield* findPairs([...best], ranking, pass, blobs);
  const gains = new Map(
    [...best].map((each) => [each, (verbatim.get(each) ?? 0) + (pairs.get(each) ?? 0)]),
  );
  const covered = withCoverage(placed, best, coverage, gains);
  return yield* blobs.complete(() =>
    bestOf(covered, limit, ({ view, document }) => pass.views[view]?.source.facts(document)),
  );
}
