/**
 * A prompt: the line of an earlier session that answers it, and where to read on.
 *
 * One search ranks the sessions by what agents said in them, a second one ranks messages: those of
 * the best session lead to its answer. An answer is the last message of a turn: what comes before
 * it tells of the work. `sure.ts` decides.
 */

import { textOf } from "../../model/block.ts";
import { withoutInjected } from "../../search/document/injected.ts";
import type { Asker, Hit } from "../asker.ts";
import { cut, dayOf } from "../frame.ts";
import type { Found, Verdict } from "../moment.ts";
import { bestPassage, type Passage, withoutEcho } from "./passage.ts";
import { isSure, type PromptFigures, scoreOf } from "./sure.ts";
import { termsOf, weigh } from "./words.ts";

/** A longer prompt brings what it needs: a plan, a log, a review. */
const MAX_LENGTH = 1_500;
const MIN_WORDS = 3;
const MAX_HITS = 20;
/** Sessions that the best one is compared with, and messages of which it has a share. */
const MAX_COMPARED = 15;
const MAX_SHARED = 6;
/** Messages of the best session that are looked at, and messages after one up to its turn's end. */
const MAX_ANSWERS = 6;
const TURN = 60;
const MAX_QUOTE_BYTES = 300;
/** A message that tells of the work counts less than one that ends a turn. */
const UNFINISHED = 0.6;

/** Copies of the query, such as lists of commits, are no answers: the run of its words counts 0. */
const RANKING = { verbatim: 0 } as const;
const SEARCH = { role: ["assistant"], ranking: RANKING, limit: MAX_HITS } as const;

/** A client's own words before a plan, which has all that it needs. */
const BRINGS_PLAN = /^implement the following plan:/i;
/** Names no subject. */
const SLASH_COMMAND = /^\/[\w:.-]{1,80}(?=\s|$)/;
/** An answer that shares one word with the prompt answers something else. */
const MIN_PASSAGE_WORDS = 2;

export async function askPrompt(asker: Asker, text: string): Promise<Verdict> {
  const prompt = withoutInjected(text).trim().replace(SLASH_COMMAND, "").trim();
  if (prompt.length > MAX_LENGTH || BRINGS_PLAN.test(prompt)) return { reason: "too_long" };
  if (termsOf(prompt).size < MIN_WORDS) return { reason: "too_short" };
  const found = await asker.search(prompt, { ...SEARCH, explain: true });
  const { hits, explanation, partial, degraded } = found;
  if (partial || degraded) return { reason: "incomplete" };
  if (explanation === undefined) return { reason: "too_short" };
  const weights = weigh(termsOf(prompt), explanation);
  if (weights.size < MIN_WORDS) return { reason: "too_short" };
  const [own, others] = await split(asker, hits);
  const [best] = others;
  if (best === undefined) return { reason: "nothing_found" };
  const messages = await asker.search(prompt, { ...SEARCH, perSession: MAX_ANSWERS });
  if (messages.partial || messages.degraded) return { reason: "incomplete" };
  const [, ranked] = await split(asker, messages.hits);
  const isOfBest = (hit: Hit) => hit.sessionId === best.sessionId;
  const answer = await findAnswer(asker, prompt, [best, ...ranked.filter(isOfBest)], weights);
  if (answer === undefined || answer.passage.words < MIN_PASSAGE_WORDS) {
    return { reason: "nothing_found" };
  }
  const figures: PromptFigures = {
    spread: spreadOf(others, await asker.countSessions(MAX_COMPARED + 1)),
    share: ranked.slice(0, MAX_SHARED).filter(isOfBest).length / MAX_SHARED,
    words: answer.passage.words,
    own: Math.max(0, (own?.score ?? 0) / best.score - 1),
  };
  const why = { ...figures, score: scoreOf(figures) };
  const isMarked = best.mark !== undefined || best.supersededBy !== undefined;
  const reason = isSure(figures) ? (isMarked ? "marked" : "sure") : "unsure";
  return { reason, figures: why, found: tell(best, answer) };
}

/** The best hit of the caller's own session, and those of sessions that may be quoted. */
async function split(
  asker: Asker,
  hits: readonly Hit[],
): Promise<readonly [own: Hit | undefined, others: readonly Hit[]]> {
  let own: Hit | undefined;
  const others: Hit[] = [];
  for (const hit of hits) {
    if (await asker.isOwn(hit.sessionId)) own ??= hit;
    else if (await asker.mayQuote(hit.sessionId)) others.push(hit);
  }
  return [own, others];
}

/** Of `known` sessions, those that are no hits are as far behind as can be. */
function spreadOf([best, ...others]: readonly Hit[], known: number): number {
  const top = best?.score ?? 1;
  const behind = others.slice(0, MAX_COMPARED).map(({ score }) => 1 - score / top);
  const without = Math.max(0, known - 1 - behind.length);
  return (sum(behind) + without) / MAX_COMPARED;
}

interface Answer {
  readonly index: number;
  readonly at: number;
  readonly passage: Passage;
}

async function findAnswer(
  asker: Asker,
  prompt: string,
  hits: readonly Hit[],
  weights: ReadonlyMap<string, number>,
): Promise<Answer | undefined> {
  const indexes = new Set(hits.map(({ index }) => index));
  const read = new Set<number>();
  let best: Answer | undefined;
  let most = 0;
  for (const index of indexes) {
    if (index === null) continue;
    for (const said of await readTurn(asker, hits[0]?.sessionId ?? "", index)) {
      if (read.has(said.index)) continue;
      read.add(said.index);
      const text = withoutEcho(said.text, prompt);
      const passage = bestPassage(text, weights);
      const terms = termsOf(text);
      const covered = sum([...weights].map(([term, weight]) => (terms.has(term) ? weight : 0)));
      const value = (passage.weight + 0.3 * covered) * (said.ends ? 1 : UNFINISHED);
      if (value <= most) continue;
      most = value;
      best = { index: said.index, at: said.at, passage };
    }
  }
  return best;
}

interface Said {
  readonly index: number;
  readonly at: number;
  readonly text: string;
  /** Whether it is the last message of its turn. */
  readonly ends: boolean;
}

/** A message, and the one that ends its turn. */
async function readTurn(asker: Asker, sessionId: string, index: number): Promise<readonly Said[]> {
  const entries = await asker.read(sessionId, index, TURN);
  const next = entries.findIndex(
    ({ role, blocks }, i) => i > 0 && role === "user" && textOf(blocks).trim() !== "",
  );
  const turn = next < 0 ? entries : entries.slice(0, next);
  const said = turn.filter(
    ({ role, blocks }) => role === "assistant" && textOf(blocks).trim() !== "",
  );
  // Not the end, if the page ends before the turn does.
  const ends = next >= 0 || entries.length < TURN;
  const last = said.at(-1);
  return [said[0], last].flatMap((entry) =>
    entry?.index == null
      ? []
      : [
          {
            index: entry.index,
            at: entry.createdAt,
            text: textOf(entry.blocks),
            ends: ends && entry === last,
          },
        ],
  );
}

function tell({ sessionId, shortId }: Hit, { index, at, passage }: Answer): Found {
  const day = dayOf(at);
  return {
    hit: { sessionId, shortId, index },
    lines: [
      `Said on ${day} (${shortId}#${index}): "${cut(passage.text.replaceAll("**", ""), MAX_QUOTE_BYTES)}"`,
      `Read on: ${shortId}#${index}`,
    ],
    person: `an earlier session may answer this: ${shortId} of ${day}.`,
  };
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
