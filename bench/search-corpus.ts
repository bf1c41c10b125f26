/**
 * A corpus for search of any size, deterministic by seed.
 *
 * Words follow Zipf's law over 200,000, the commonest of them English; a message has 60 on average.
 * A third of a session's words come from its own 200, so that sessions differ as real ones do.
 * Questions follow the same law.
 */

import { randomNumbers } from "./synthetic.ts";

const VOCABULARY = 200_000;
const OWN_WORDS = 200;
const COMMON =
  "the of and to a in is it you that he was for on are with as I his they be at one have this from or had by hot but some what there we can out other were all your when up use word how said an each she which do their time if will way about many then them would write like so these her long make thing see him two has look more day could go come did my sound no most number who over know water than call first people may down side been now find any new work part take get place made live where after back little only".split(
    " ",
  );
const SYLLABLES =
  "ba be bi bo bu da de di do du fa fe ka ke ki ko la le li lo ma me mi mo na ne ni no pa pe ra re ri ro sa se si so ta te ti to va ve vi zo".split(
    " ",
  );

export interface CorpusMessage {
  readonly session: number;
  readonly role: "user" | "assistant";
  readonly text: string;
}

export type QueryClass = "rare" | "mid" | "question";

export class SearchCorpus {
  readonly #random: () => number;
  readonly #cumulative: Float64Array;

  constructor(seed: number) {
    this.#random = randomNumbers(seed);
    this.#cumulative = new Float64Array(VOCABULARY);
    let sum = 0;
    for (let rank = 0; rank < VOCABULARY; rank++) this.#cumulative[rank] = sum += 1 / (rank + 1);
  }

  /** `count` messages, in sessions of 1 to 100, one session after another. */
  *messages(count: number): Generator<CorpusMessage> {
    let session = 0;
    let left = 0;
    let own: string[] = [];
    for (let i = 0; i < count; i++) {
      if (left === 0) {
        session++;
        left = 1 + this.below(100);
        own = Array.from({ length: OWN_WORDS }, () => this.word());
      }
      left--;
      const role = i % 2 === 0 ? "user" : "assistant";
      yield { session, role, text: this.#text(10 + this.below(101), own) };
    }
  }

  query(kind: QueryClass): string {
    switch (kind) {
      case "rare":
        return [this.#ranked(20_000, 150_000), this.#ranked(20_000, 150_000)].join(" ");
      case "mid":
        return Array.from({ length: 3 }, () => this.#ranked(200, 2_200)).join(" ");
      case "question":
        return Array.from({ length: 10 }, () => this.word()).join(" ");
    }
  }

  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  word(): string {
    const total = this.#cumulative[VOCABULARY - 1] as number;
    const point = this.#random() * total;
    let low = 0;
    let high = VOCABULARY - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#cumulative[middle] as number) < point) low = middle + 1;
      else high = middle;
    }
    return wordOfRank(low);
  }

  #ranked(from: number, to: number): string {
    return wordOfRank(from + this.below(to - from));
  }

  #text(words: number, own: readonly string[]): string {
    const chosen = Array.from({ length: words }, () =>
      this.#random() < 1 / 3 ? own[this.below(OWN_WORDS)] : this.word(),
    );
    return `${chosen.join(" ")}.`;
  }
}

const words = new Map<number, string>();

/** Rarer words are longer, as they are in a language. */
export function wordOfRank(rank: number): string {
  const common = COMMON[rank];
  if (common !== undefined) return common;
  let word = words.get(rank);
  if (word === undefined) {
    word = "";
    let rest = rank;
    do {
      word += SYLLABLES[rest % SYLLABLES.length];
      rest = Math.floor(rest / SYLLABLES.length);
    } while (rest > 0);
    words.set(rank, word);
  }
  return word;
}
