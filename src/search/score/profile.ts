/** The parameters of the ranking, by name. */

import { BM25, type Bm25 } from "./bm25.ts";

/** Roles with weights. A message with text and a tool call is `tool`. */
export type WeighedRole = "user" | "tool" | "assistant" | "system";

/** The effect of each part, measured on labelled conversations, is in docs/decisions. */
export interface RankingProfile {
  readonly bm25: Bm25;
  /** Factors of a message's score by role. */
  readonly roles: Readonly<Record<WeighedRole, number>>;
  /** Weight of the BM25 of a message's tool outputs. */
  readonly output: number;
  /** Weights of the BM25 of a session's title, summary and surroundings. */
  readonly title: number;
  readonly summary: number;
  /** Its date, agent and project. */
  readonly about: number;
  /** The weight of a query word that matches the actor's name. */
  readonly actor: number;
  /** The weight of similarly spelt words. 0: off. */
  readonly misspelt: number;
  /** Sessions of the first pass that are re-ranked; at least `limit + 4` are. */
  readonly candidates: number;
  /**
   * The weight of a word in the message before or after, beside 1 for the message's own. 0: no
   * passages.
   */
  readonly neighbours: number;
  /**
   * BM25 parameters of a passage. Its length is a weighted mean, so the average is that of
   * messages.
   */
  readonly passage: Bm25;
  /** Weight of the session as one document. */
  readonly session: number;
  /**
   * The weight of the logarithm of all its messages' scores together: it favours a session that
   * returns to the subject over a single mention.
   */
  readonly recurrence: number;
  /**
   * Weight of the mean of the session's ten best passages, 0 for each that it lacks: a session
   * about the subject ranks before one with a single good message. Multiplied by the share of talk
   * among the best sessions.
   */
  readonly depth: number;
  /**
   * The weight of coverage, the share of the query in one passage, beside 1 for the best session's
   * score. 0: off.
   */
  readonly coverage: number;
  /**
   * The weight of a message with the query verbatim, beside 1 for the best session's score; a tenth
   * of it if only an output has it. 0: positions are not read.
   */
  readonly verbatim: number;
  /**
   * The weight of a message with every pair of neighbouring query words adjacent, beside 1 for the
   * best session's score; proportionally less for some of them. 0: positions are not read.
   */
  readonly pairs: number;
  /**
   * The weight of a message's similarity to the query, beside 1 for the best score. Of a session, its
   * nearest vector and the mean of its nearest five count one and a half times as much each. 0, or a
   * store without an embedder: words alone.
   */
  readonly meaning: number;
}

/** The baseline: BM25 of single messages, titles and summaries, with role weights. */
export const PLAIN_PROFILE: RankingProfile = {
  bm25: BM25,
  roles: { user: 1.5, tool: 1.3, assistant: 1, system: 1 },
  output: 0,
  title: 2,
  summary: 3,
  about: 0,
  actor: 0,
  misspelt: 0,
  candidates: 0,
  neighbours: 0,
  passage: BM25,
  session: 0,
  recurrence: 0,
  depth: 0,
  coverage: 0,
  verbatim: 0,
  pairs: 0,
  meaning: 0,
};

/** The profile that measures best on labelled conversations. */
export const DEFAULT_PROFILE: RankingProfile = {
  ...PLAIN_PROFILE,
  roles: { user: 1.1, tool: 1, assistant: 1, system: 1 },
  output: 0.8,
  title: 1,
  summary: 0.5,
  about: 2,
  actor: 1,
  misspelt: 0.5,
  candidates: 100,
  neighbours: 0.5,
  passage: { k1: 1.2, b: 0.6 },
  session: 0.35,
  recurrence: 0.75,
  depth: 0.75,
  coverage: 0.5,
  verbatim: 1,
  pairs: 0.25,
  meaning: 0.25,
};

export const PROFILES: Readonly<Record<"default" | "plain", RankingProfile>> = {
  default: DEFAULT_PROFILE,
  plain: PLAIN_PROFILE,
};
