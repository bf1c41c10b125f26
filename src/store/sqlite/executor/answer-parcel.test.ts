import { expect, test } from "vitest";
import type {
  FoundHit,
  NoteSearchAnswer,
  SearchAnswer,
  WindowItem,
} from "../../../search/request.ts";
import { packAnswer, unpackAnswer } from "./answer-parcel.ts";

const item: WindowItem = {
  entryId: "e1",
  index: 3,
  role: "user",
  actor: null,
  createdAt: 7,
  snippet: "what was said",
  truncated: false,
  toolName: null,
  matches: [],
  found: false,
};

const hit: FoundHit = {
  sessionId: "s1",
  shortId: "short",
  meta: {
    title: "a title",
    agent: "ana",
    createdAt: 1,
    updatedAt: 2,
    messageCount: 9,
    lateBranches: 2,
  },
  entryId: "e2",
  index: 4,
  leaf: "e9",
  branch: "late",
  score: 1.25,
  window: [
    item,
    {
      ...item,
      entryId: "e2",
      actor: "ana",
      toolName: "grep",
      truncated: true,
      found: true,
      matches: [
        { start: 0, end: 4 },
        { start: 9, end: 13 },
      ],
    },
  ],
};

const mark: FoundHit["mark"] = {
  entryId: "e2",
  kind: "replaced",
  reason: "Fridays are off.",
  actor: null,
  createdAt: 8,
  replacedBy: "e7",
};

/** A hit with every optional field, and a hit by its title only. */
const others: readonly FoundHit[] = [
  { ...hit, parts: { message: 1, neighbours: 0.5, session: 0.25, boost: 2, coverage: 0 } },
  { ...hit, similarity: -1 },
  { ...hit, supersededBy: { sessionId: "s1", shortId: "short", entryId: "e7", index: 6 } },
  { ...hit, mark },
  { ...hit, onlyAsked: ["short2"] },
  { ...hit, exchange: hit.window[0] as NonNullable<(typeof hit.window)[0]> },
  { ...hit, entryId: null, index: null, leaf: null, branch: null, window: [] },
];

const answer: Required<SearchAnswer> = {
  hits: [hit, ...others],
  next: ["0abcdefg"],
  total: 140,
  notes: ["a note"],
  indexing: true,
  degraded: false,
  partial: true,
  unreadable: [5],
  lag: 6,
  explanation: {
    terms: [{ term: "said", documents: 2, weight: 0.5 }],
    documents: 10,
    averageLength: 3,
    segments: 1,
    candidates: 4,
  },
};

test("an answer round-trips", () => {
  expect(unpackAnswer(structuredClone(packAnswer(answer)))).toStrictEqual(answer);
  const empty: SearchAnswer = { ...answer, hits: [] };
  expect(unpackAnswer(structuredClone(packAnswer(empty)))).toStrictEqual(empty);
});

test("an answer about notes round-trips", () => {
  const notes: NoteSearchAnswer = {
    notes: [{ key: "ana\0home", score: 2 }],
    indexing: false,
    degraded: true,
    unreadable: [],
  };
  expect(unpackAnswer(structuredClone(packAnswer(notes)))).toStrictEqual(notes);
});
