/** How hits are ranked: every part by a name of its own. */

import type { RoleClass } from "../index/layout.ts";
import { BM25, type Bm25 } from "./bm25.ts";

export interface RankingProfile {
  readonly bm25: Bm25;
  /** What the score of a message is multiplied by. */
  readonly roles: Readonly<Record<RoleClass, number>>;
  /** What the BM25 of a session's title, summary and surroundings count for. */
  readonly title: number;
  readonly summary: number;
  /** Its date, agent and project. */
  readonly about: number;
  /** What a word of the query counts for as the name of who wrote a message. */
  readonly actor: number;
  /** How many sessions the re-rank looks at. 0: there is none. */
  readonly candidates: number;
  /** What the messages before and after one count for. */
  readonly neighbours: number;
  /** What the session as one document counts for. */
  readonly session: number;
}

/** The formula of the first design, kept as it was. */
export const SEED_PROFILE: RankingProfile = {
  bm25: BM25,
  roles: { user: 1.5, tool: 1.3, assistant: 1, system: 1 },
  title: 2,
  summary: 3,
  about: 0,
  actor: 0,
  candidates: 0,
  neighbours: 0,
  session: 0,
};

/** What measures best on labelled conversations. */
export const DEFAULT_PROFILE: RankingProfile = {
  ...SEED_PROFILE,
  about: 1,
  actor: 1,
  candidates: 200,
  neighbours: 0.5,
  session: 1,
};

export const PROFILES: Readonly<Record<"default" | "seed", RankingProfile>> = {
  default: DEFAULT_PROFILE,
  seed: SEED_PROFILE,
};
