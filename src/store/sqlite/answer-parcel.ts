/**
 * The answer of a search on its way from the thread that found it.
 *
 * Twenty hits have about two hundred messages in their windows. As objects their copy takes 0.6 ms,
 * half of it on the host's thread; as one flat list of values, a third of that.
 */

import type {
  IndexAnswer,
  NoteSearchAnswer,
  SearchAnswer,
  SearchHit,
  WindowItem,
} from "../../search/request.ts";

export type AnswerParcel =
  | { readonly notes: NoteSearchAnswer }
  | {
      /** The answer without its hits. */
      readonly answer: SearchAnswer;
      /** `HIT_VALUES` of each hit, then `ITEM_VALUES` of each message of its window. */
      readonly values: readonly unknown[];
    };

const HIT_VALUES = 12;
const ITEM_VALUES = 10;

export function packAnswer(answer: IndexAnswer): AnswerParcel {
  if (!("hits" in answer)) return { notes: answer };
  const values: unknown[] = [];
  for (const hit of answer.hits) packHit(hit, values);
  return { answer: { ...answer, hits: [] }, values };
}

export function unpackAnswer(parcel: AnswerParcel): IndexAnswer {
  if ("notes" in parcel) return parcel.notes;
  const { answer, values } = parcel;
  const hits: SearchHit[] = [];
  for (let at = 0; at < values.length; ) {
    const items = at + HIT_VALUES;
    const end = items + ITEM_VALUES * (values[at + 11] as number);
    hits.push(unpackHit(values, at, unpackWindow(values, items, end)));
    at = end;
  }
  return { ...answer, hits };
}

function packHit(hit: SearchHit, values: unknown[]): void {
  const { title, agent, createdAt, updatedAt, messageCount } = hit.meta;
  values.push(hit.sessionId, title, agent, createdAt, updatedAt, messageCount);
  values.push(hit.entryId, hit.index, hit.leaf, hit.score, hit.parts, hit.window.length);
  for (const item of hit.window) packItem(item, values);
}

function packItem(item: WindowItem, values: unknown[]): void {
  const { entryId, index, role, actor, createdAt, matches } = item;
  values.push(entryId, index, role, actor, createdAt, item.snippet, item.truncated, item.toolName);
  values.push(matches.length === 0 ? null : matches, item.found);
}

function unpackHit(
  values: readonly unknown[],
  at: number,
  window: readonly WindowItem[],
): SearchHit {
  const hit = {
    sessionId: values[at],
    meta: {
      title: values[at + 1],
      agent: values[at + 2],
      createdAt: values[at + 3],
      updatedAt: values[at + 4],
      messageCount: values[at + 5],
    },
    entryId: values[at + 6],
    index: values[at + 7],
    leaf: values[at + 8],
    score: values[at + 9],
    window,
  } as SearchHit;
  const parts = values[at + 10] as SearchHit["parts"];
  return parts === undefined ? hit : { ...hit, parts };
}

function unpackWindow(values: readonly unknown[], from: number, end: number): WindowItem[] {
  const window: WindowItem[] = [];
  for (let at = from; at < end; at += ITEM_VALUES) {
    window.push({
      entryId: values[at],
      index: values[at + 1],
      role: values[at + 2],
      actor: values[at + 3],
      createdAt: values[at + 4],
      snippet: values[at + 5],
      truncated: values[at + 6],
      toolName: values[at + 7],
      matches: values[at + 8] ?? [],
      found: values[at + 9],
    } as WindowItem);
  }
  return window;
}
