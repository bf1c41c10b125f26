/** The re-rank: scores each session of the first pass as a whole. */

import type { Blobs } from "../../index/blobs.ts";
import type { SansIo } from "../../port.ts";
import type { TermQuery } from "../../query/query.ts";
import type { TenantCache } from "../../search-cache.ts";
import { bestSessions, SAID, withCoverage } from "../coverage.ts";
import { weighRuns } from "../lines.ts";
import type { MessagePass } from "../message-pass.ts";
import { bestOf, type Placed, type Ranked, type Ranking, rankSession } from "../rank.ts";
import type { Run } from "../runs.ts";
import { findPairs } from "../word-pairs.ts";
import { withDepth } from "./depth.ts";
import { placeRuns } from "./place-runs.ts";
import { SessionScorer } from "./session-scores.ts";

interface Bounds {
  readonly limit: number;
  readonly blobs: Blobs;
  /** Whether the deadline has passed, after this many sessions. */
  readonly isOver: (scored: number) => boolean;
}

/** The query as a run of words, and the sessions that have it. */
export interface Pasted {
  readonly runs: ReadonlyMap<number, readonly Run[]>;
  readonly query: TermQuery;
  readonly cache: TenantCache;
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
  pasted: Pasted,
  { limit, blobs, isOver }: Bounds,
): SansIo<Ranked[] | undefined> {
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
  const { views } = pass;
  const { runs, query, cache } = pasted;
  const search = { query, profile: ranking.profile, views, blobs, cache };
  const gains = yield* weighRuns(bySession(runs, placed), search);
  const shown = placeRuns(placed, gains, views, ranking.perSession);
  const best = bestSessions(shown);
  const pairs = yield* findPairs([...best], ranking, pass, blobs);
  const covered = withCoverage(shown, best, coverage, pairs);
  return yield* blobs.complete(() =>
    bestOf(covered, limit, ({ view, document }) => pass.views[view]?.source.facts(document)),
  );
}

/** The runs of each session, the best session first. */
function bySession(
  runs: ReadonlyMap<number, readonly Run[]>,
  placed: readonly Placed[],
): readonly (readonly Run[])[] {
  const scores = new Map<number, number>();
  for (const { session, score } of placed) {
    scores.set(session, Math.max(score, scores.get(session) ?? 0));
  }
  const scoreOf = ([session]: readonly [number, unknown]) => scores.get(session) ?? 0;
  return [...runs].sort((a, b) => scoreOf(b) - scoreOf(a)).map(([, own]) => own);
}
