/** The plain ranking by brute force: the oracle for tests of the index. */

import { analyze } from "../../src/search/analysis/analyze.ts";
import { analyzeQuery } from "../../src/search/query/analyze-query.ts";
import { parseQuery } from "../../src/search/query/parse-query.ts";
import type { Condition } from "../../src/search/query/query.ts";
import type { RankingProfile } from "../../src/search/score/profile.ts";
import type { IndexModel, ModelMessage } from "./index-model.ts";

export interface BruteHit {
  readonly session: number;
  /** 0: only the session itself matches. */
  readonly sequence: number;
  readonly score: number;
}

interface Document<Key> {
  readonly key: Key;
  readonly positions: ReadonlyMap<string, readonly number[]>;
  readonly length: number;
}

/** The current state of a corpus. */
export class BruteForce {
  readonly #model: IndexModel;
  readonly #messages: readonly Document<ModelMessage>[];

  constructor(model: IndexModel) {
    this.#model = model;
    const messages = [...model.sessions.values()].flatMap((session) => session.messages);
    const documents = messages.map((message) => toDocument(message, message.text));
    this.#messages = documents.filter(({ length }) => length > 0);
  }

  /** Every matching session by its best message, best first. */
  rank(
    text: string,
    profile: RankingProfile,
    accepts: ((message: ModelMessage) => boolean) | undefined = undefined,
    inScope: (session: number) => boolean = () => true,
  ): BruteHit[] {
    const model = this.#model;
    const query = analyzeQuery(parseQuery(text, { now: Date.now() }), "english");
    const found = this.#messages;
    const messageScores = scores(found, query.scored, query.prefixes, profile);
    const isPlain =
      query.required.length === 0 && query.excluded.length === 0 && accepts === undefined;

    const boosts = new Map<number, number>();
    for (const [field, weight] of [
      ["title", profile.title],
      ["summary", profile.summary],
    ] as const) {
      const own = [...model.sessions].map(([number, session]) =>
        toDocument(number, session[field]),
      );
      const present = own.filter(({ length }) => length > 0);
      for (const [i, score] of scores(present, query.scored, query.prefixes, profile).entries()) {
        const { key } = present[i] as Document<number>;
        if (inScope(key)) boosts.set(key, (boosts.get(key) ?? 0) + weight * score);
      }
    }

    const best = new Map<number, BruteHit & { readonly time: number }>();
    for (const [i, document] of found.entries()) {
      const { session, sequence, role, time } = document.key;
      const points = messageScores[i] as number;
      const active = sequence <= (model.sessions.get(session)?.activeThrough ?? 0);
      if (points === 0 || !active || accepts?.(document.key) === false || !inScope(session))
        continue;
      if (!query.required.every((group) => group.some((one) => holds(one, document)))) continue;
      if (query.excluded.some((one) => holds(one, document))) continue;
      const score = points * profile.roles[role] + (boosts.get(session) ?? 0);
      const known = best.get(session);
      if (
        known === undefined ||
        score > known.score ||
        (score === known.score && time > known.time)
      ) {
        best.set(session, { session, sequence, score, time });
      }
    }
    for (const [session, score] of boosts) {
      if (isPlain && score > 0 && !best.has(session)) {
        best.set(session, { session, sequence: 0, score, time: 0 });
      }
    }
    return [...best.values()].sort(
      (a, b) => b.score - a.score || b.time - a.time || a.session - b.session,
    );
  }
}

function toDocument<Key>(key: Key, text: string): Document<Key> {
  const positions = new Map<string, number[]>();
  const length = analyze(text, 0, "english", (term, position) => {
    const known = positions.get(term);
    if (known === undefined) positions.set(term, [position]);
    else known.push(position);
  });
  return { key, positions, length };
}

function scores<Key>(
  documents: readonly Document<Key>[],
  scored: readonly { readonly term: string; readonly weight: number }[],
  prefixes: readonly string[],
  { bm25 }: RankingProfile,
): number[] {
  const counters = [
    ...scored.map(({ term, weight }) => ({
      weight,
      count: (document: Document<Key>) => document.positions.get(term)?.length ?? 0,
    })),
    ...prefixes.map((prefix) => ({
      weight: 1,
      count: (document: Document<Key>) =>
        [...document.positions].reduce(
          (total, [term, positions]) => total + (term.startsWith(prefix) ? positions.length : 0),
          0,
        ),
    })),
  ];
  const total = documents.reduce((sum, { length }) => sum + length, 0);
  const average = total / Math.max(1, documents.length);
  const result = documents.map(() => 0);
  for (const { weight, count } of counters) {
    const counts = documents.map((document) => Math.min(255, count(document)));
    const having = counts.filter((each) => each > 0).length;
    const idf = Math.log(1 + (documents.length - having + 0.5) / (having + 0.5));
    for (const [i, tf] of counts.entries()) {
      if (tf === 0) continue;
      const { length } = documents[i] as Document<Key>;
      const norm = bm25.k1 * (1 - bm25.b + (bm25.b * length) / average);
      result[i] = (result[i] as number) + (weight * idf * tf * (bm25.k1 + 1)) / (tf + norm);
    }
  }
  return result;
}

function holds(condition: Condition, { positions }: Document<unknown>): boolean {
  switch (condition.kind) {
    case "terms":
      return condition.terms.every((term) => positions.has(term));
    case "prefix":
      return [...positions.keys()].some((term) => term.startsWith(condition.prefix));
    case "phrase": {
      const [first] = condition.terms;
      const starts = first === null || first === undefined ? [] : (positions.get(first) ?? []);
      return starts.some((start) =>
        condition.terms.every(
          (term, i) => term === null || (positions.get(term) ?? []).includes(start + i),
        ),
      );
    }
  }
}
