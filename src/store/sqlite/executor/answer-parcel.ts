/**
 * Columnar serialisation of a search's answer between threads, with a dictionary of names.
 *
 * Twenty hits have about two hundred messages in their windows. The structured clone of objects
 * takes 0.6 ms, half of it on the host's thread; of a flat list of values 0.2; with numbers in a
 * typed array, and each agent, role and actor once, 0.1.
 */

import { defined } from "../../../model/defined.ts";
import type { FoundHit, IndexAnswer, SearchAnswer, WindowItem } from "../../../search/request.ts";

export type AnswerParcel =
  | { readonly other: Exclude<IndexAnswer, SearchAnswer> }
  | {
      /** The answer without its hits. */
      readonly answer: SearchAnswer;
      readonly packed: PackedHits;
    };

/** `HIT_TEXTS` and `HIT_NUMBERS` of each hit, then those of each message of its window. */
interface PackedHits {
  readonly texts: readonly (string | null)[];
  readonly numbers: Float64Array;
  /** The dictionary: repeated texts, which `numbers` refer to by index. */
  readonly names: readonly (string | null)[];
  /** Score parts of each hit that has them. */
  readonly parts: readonly Parts[];
  /** By the number of the hit; most hits have none. */
  readonly remarks: ReadonlyMap<number, Remarks>;
}

/** What holds in place of a hit, what a person said of it, and what it answers. */
type Remarks = Pick<FoundHit, "supersededBy" | "mark" | "onlyAsked" | "exchange">;

const HIT_NUMBERS = 12;
const HIT_TEXTS = 4;
const ITEM_NUMBERS = 8;
const ITEM_TEXTS = 2;
/** A missing number. */
const NONE = -1;

export function packAnswer(answer: IndexAnswer): AnswerParcel {
  if (!("hits" in answer)) return { other: answer };
  return { answer: { ...answer, hits: [] }, packed: packHits(answer.hits) };
}

export function unpackAnswer(parcel: AnswerParcel): IndexAnswer {
  if ("other" in parcel) return parcel.other;
  return { ...parcel.answer, hits: unpackHits(parcel.packed) };
}

function packHits(hits: readonly FoundHit[]): PackedHits {
  const texts: (string | null)[] = [];
  const numbers = new Float64Array(hits.reduce((size, { window }) => size + sizeOf(window), 0));
  const names = new Map<string | null, number>();
  const nameOf = (text: string | null) => {
    const known = names.get(text);
    if (known !== undefined) return known;
    names.set(text, names.size);
    return names.size - 1;
  };
  const parts: Parts[] = [];
  const remarks = new Map<number, Remarks>();
  let at = 0;
  for (const [i, hit] of hits.entries()) {
    const { meta, window, supersededBy, mark, onlyAsked, exchange } = hit;
    if (supersededBy ?? mark ?? onlyAsked ?? exchange) {
      remarks.set(i, defined({ supersededBy, mark, onlyAsked, exchange }));
    }
    texts.push(hit.sessionId, hit.entryId, hit.leaf, hit.shortId);
    if (hit.parts !== undefined) parts.push(hit.parts);
    numbers[at] = nameOf(meta.title);
    numbers[at + 1] = nameOf(meta.agent);
    numbers[at + 2] = meta.createdAt;
    numbers[at + 3] = meta.updatedAt;
    numbers[at + 4] = meta.messageCount;
    numbers[at + 5] = hit.index ?? NONE;
    numbers[at + 6] = hit.score;
    numbers[at + 7] = hit.parts === undefined ? 0 : 1;
    numbers[at + 8] = window.length;
    numbers[at + 9] = meta.lateBranches;
    numbers[at + 10] = nameOf(hit.branch);
    // A cosine may be -1, so NaN means none.
    numbers[at + 11] = hit.similarity ?? Number.NaN;
    at += HIT_NUMBERS;
    for (const item of window) {
      const { matches } = item;
      texts.push(item.entryId, item.snippet);
      numbers[at] = item.index;
      numbers[at + 1] = nameOf(item.role);
      numbers[at + 2] = nameOf(item.actor);
      numbers[at + 3] = item.createdAt;
      numbers[at + 4] = nameOf(item.toolName);
      numbers[at + 5] = item.truncated ? 1 : 0;
      numbers[at + 6] = item.found ? 1 : 0;
      numbers[at + 7] = matches.length;
      at += ITEM_NUMBERS;
      for (let i = 0; i < matches.length; i++) {
        numbers[at++] = matches[i]?.start as number;
        numbers[at++] = matches[i]?.end as number;
      }
    }
  }
  return { texts, numbers, names: [...names.keys()], parts, remarks };
}

function sizeOf(window: readonly WindowItem[]): number {
  let size = HIT_NUMBERS + ITEM_NUMBERS * window.length;
  for (let i = 0; i < window.length; i++) size += 2 * (window[i]?.matches.length ?? 0);
  return size;
}

function unpackHits({ texts, numbers, names, parts, remarks }: PackedHits): FoundHit[] {
  const hits: FoundHit[] = [];
  let text = 0;
  let part = 0;
  for (let at = 0; at < numbers.length; ) {
    const window: WindowItem[] = [];
    const similarity = numbers[at + 11] as number;
    const hit = {
      sessionId: texts[text],
      shortId: texts[text + 3],
      meta: {
        title: names[numbers[at] as number],
        agent: names[numbers[at + 1] as number],
        createdAt: numbers[at + 2],
        updatedAt: numbers[at + 3],
        messageCount: numbers[at + 4],
        lateBranches: numbers[at + 9],
      },
      entryId: texts[text + 1],
      index: numbers[at + 5] === NONE ? null : numbers[at + 5],
      leaf: texts[text + 2],
      branch: names[numbers[at + 10] as number],
      score: numbers[at + 6],
      ...(Number.isNaN(similarity) ? {} : { similarity }),
      ...remarks.get(hits.length),
      window,
    } as FoundHit;
    const hasParts = numbers[at + 7] === 1;
    hits.push(hasParts ? { ...hit, parts: parts[part++] as NonNullable<Parts> } : hit);
    const count = numbers[at + 8] as number;
    at += HIT_NUMBERS;
    text += HIT_TEXTS;
    for (let i = 0; i < count; i++) {
      const matched = numbers[at + 7] as number;
      window.push({
        entryId: texts[text],
        index: numbers[at],
        role: names[numbers[at + 1] as number],
        actor: names[numbers[at + 2] as number],
        createdAt: numbers[at + 3],
        snippet: texts[text + 1],
        truncated: numbers[at + 5] === 1,
        toolName: names[numbers[at + 4] as number],
        matches: matched === 0 ? [] : matchesAt(numbers, at + ITEM_NUMBERS, matched),
        found: numbers[at + 6] === 1,
      } as WindowItem);
      at += ITEM_NUMBERS + 2 * matched;
      text += ITEM_TEXTS;
    }
  }
  return hits;
}

type Parts = FoundHit["parts"];

function matchesAt(numbers: Float64Array, at: number, count: number): WindowItem["matches"] {
  return Array.from({ length: count }, (_, i) => ({
    start: numbers[at + 2 * i] as number,
    end: numbers[at + 2 * i + 1] as number,
  }));
}
