import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { isUpdatedFirst, ndcg, officialFigures, Tally } from "../bench/memory-figures.ts";
import { findSets } from "../bench/memory-find.ts";
import { evidenceOf } from "../bench/memory-locomo.ts";
import type { Haystack } from "../bench/memory-set.ts";

describe("the official figures", () => {
  test("of evidence at the ranks 2 and 7", () => {
    const ranking = ["x1", "a", "x2", "x3", "x4", "x5", "b", "x6"];
    const figures = officialFigures(ranking, new Set(["a", "b"]));
    expect(figures).toEqual({
      "hit@1": 0,
      "any@5": 1,
      "any@10": 1,
      "all@5": 0,
      "all@10": 1,
      // Rank 2 counts as much as rank 1, and the ideal is both of them: 1 of 2.
      "ndcg@5": 0.5,
      // Rank 7: 1 / log2(7) = 0.3562.
      "ndcg@10": expect.closeTo((1 + 0.356207) / 2, 5),
    });
  });

  test("of more evidence than ranks", () => {
    const evidence = new Set(["a", "b", "c", "d", "e", "f"]);
    const figures = officialFigures(["a", "b", "c", "d", "e"], evidence);
    expect(figures).toMatchObject({ "any@5": 1, "all@5": 0, "all@10": 0, "ndcg@5": 1 });
    // Ranks 1 to 6 are ideal: 1 + 1 + 0.6309 + 0.5 + 0.4307 = 3.5616, and 0.3869 for the sixth.
    expect(figures["ndcg@10"]).toBeCloseTo(3.5616 / 3.9485, 3);
  });

  test("of nothing found", () => {
    const figures = Object.values(officialFigures([], new Set(["a"])));
    expect(figures).toEqual([0, 0, 0, 0, 0, 0, 0]);
  });

  test("the third rank is the first to be discounted", () => {
    expect(ndcg(["a"], new Set(["a"]), 5)).toBe(1);
    expect(ndcg(["x", "a"], new Set(["a"]), 5)).toBe(1);
    expect(ndcg(["x", "y", "a"], new Set(["a"]), 5)).toBeCloseTo(0.63093, 5);
  });
});

test("an update is first when one of its statements is above all outdated ones", () => {
  expect(isUpdatedFirst(["x", "new", "old"], ["new"], ["old"])).toBe(1);
  expect(isUpdatedFirst(["x", "new"], ["new"], ["old"])).toBe(1);
  expect(isUpdatedFirst(["old", "new"], ["new"], ["old"])).toBe(0);
  expect(isUpdatedFirst(["x"], ["new"], ["old"])).toBe(0);
  expect(isUpdatedFirst(["both", "new"], ["both", "new"], ["both"])).toBe(0);
});

test("a tally has means of the questions that have a figure", () => {
  const tally = new Tally();
  tally.add(["all", "kind"], { a: 1 });
  tally.add(["all", "500K"], { a: 0, b: 0.5 });
  expect(tally.groups).toEqual(["all", "500K", "kind"]);
  expect(tally.questions("all")).toBe(2);
  expect(tally.percents("all")).toEqual({ a: 50, b: 50 });
  expect(tally.percents("kind")).toEqual({ a: 100 });
});

test("evidence is read as it is meant", () => {
  expect(evidenceOf(["D8:6; D9:17"])).toEqual(["D8:6", "D9:17"]);
  expect(evidenceOf(["D9:1 D4:4", "D9:1"])).toEqual(["D9:1", "D4:4"]);
  expect(evidenceOf(["D30:05", "D:11:26", "D"])).toEqual(["D30:5", "D11:26"]);
  expect(evidenceOf()).toEqual([]);
});

describe("sets in a folder", () => {
  test("clones and single files are found by name and shape", () => {
    const folder = folderOf({
      "LoCoMo/data/locomo10.json": [
        {
          sample_id: "conv-1",
          qa: [
            { question: "When?", evidence: ["D1:2", "D9:9"], category: 2 },
            { question: "Nowhere?", evidence: [], category: 5 },
          ],
          conversation: {
            speaker_a: "Ana",
            session_1_date_time: "1:56 pm on 8 May, 2023",
            session_1: [
              { speaker: "Ana", dia_id: "D1:1", text: "Hi" },
              { speaker: "Ben", dia_id: "D1:2", text: "Look", blip_caption: "a dog" },
            ],
          },
        },
      ],
      "BEAM/chats/100K/11/chat.json": [
        {
          turns: [
            [
              { role: "user", id: 0, time_anchor: "March-15-2024", content: "Now blue ->-> 1,1" },
              { role: "assistant", id: 1, content: "Noted" },
            ],
          ],
        },
      ],
      "BEAM/chats/100K/11/probing_questions/probing_questions.json": {
        knowledge_update: [
          { question: "Colour?", source_chat_ids: { original_info: [1], updated_info: [0] } },
        ],
        abstention: [{ question: "Never said?" }],
      },
      "sde-bench/gen/decoy_conversations.json": [{ turns: [{ role: "user", text: "other" }] }],
      "sde-bench/boltons-x-amended/tasks/main/task.json": {
        task_id: "x",
        bug_report: "It fails. A failing repro is at tests/x.py.\nFix it.",
        conversations: [[{ text: "first" }], [{ text: "then", role: "assistant" }]],
      },
      "longmemeval_s_cleaned.json": [
        {
          question_id: "q1",
          question_type: "multi-session",
          question: "Degree?",
          haystack_dates: ["2023/05/20 (Sat) 02:21"],
          haystack_session_ids: ["answer_1"],
          haystack_sessions: [[{ role: "user", content: "A degree" }]],
          answer_session_ids: ["answer_1"],
        },
        { question_id: "q2_abs", answer_session_ids: ["answer_2"], haystack_sessions: [] },
      ],
    });
    const found = new Map(findSets(folder).map(({ name, haystacks }) => [name, [...haystacks()]]));
    expect([...found.keys()]).toEqual(["locomo", "beam", "sde-bench", "longmemeval"]);

    const locomo = found.get("locomo")?.[0] as Haystack;
    expect(locomo.sessions[0]).toMatchObject({
      session: "conv-1/s1",
      startedAt: "2023-05-08T13:56:00.000Z",
      messages: [{ role: "user" }, { role: "assistant", text: "Look [image: a dog]" }],
    });
    expect(locomo.questions).toMatchObject([
      { messages: ["D1:2"], sessions: ["conv-1/s1"], groups: ["temporal"] },
    ]);

    const beam = found.get("beam")?.[0] as Haystack;
    expect(beam.sessions[0]?.messages).toMatchObject([
      { id: "0", text: "Now blue", at: Date.UTC(2024, 2, 15) },
      { id: "1", text: "Noted", at: Date.UTC(2024, 2, 15, 0, 1) },
    ]);
    expect(beam.questions).toMatchObject([
      { messages: ["0", "1"], updated: ["0"], outdated: ["1"], ofAssistant: ["1"] },
    ]);

    const sde = found.get("sde-bench")?.[0] as Haystack;
    expect(sde.sessions.map(({ session }) => session)).toEqual(["x#0", "x#1", "decoy0"]);
    expect(sde.questions).toMatchObject([
      { question: "It fails.", sessions: ["x#1"], outdated: ["x#0"], groups: ["amended"] },
    ]);

    const longMemEval = found.get("longmemeval") as Haystack[];
    expect(longMemEval).toHaveLength(1);
    expect(longMemEval[0]?.sessions[0]?.startedAt).toBe("2023-05-20T02:21:00.000Z");
  });

  test("halves of BEAM have no chat in common", () => {
    const chats = Array.from({ length: 12 }, (_, i) => ({
      chat: i + 1,
      messages: [],
      questions: [{ kind: "temporal_reasoning", question: "When?", gold: [1] }],
    }));
    const folder = folderOf({ "beam-100k.json": chats, "beam-500k.json": chats });
    const chatsOf = (half?: "dev" | "held") =>
      findSets(folder, half).flatMap(({ haystacks }) =>
        [...haystacks()].flatMap(({ sessions }) => sessions.map(({ session }) => session)),
      );
    expect(chatsOf()).toHaveLength(24);
    expect(chatsOf("held")).toEqual(
      ["100K/11", "100K/12"].concat([2, 4, 6, 8, 10, 12].map((chat) => `500K/${chat}`)),
    );
    expect(chatsOf("dev")).toHaveLength(16);
  });

  test("none in a folder without any, or in none", () => {
    const folder = folderOf({ "other.json": {} });
    expect(findSets(folder)).toEqual([]);
    expect(findSets(join(folder, "missing"))).toEqual([]);
  });
});

function folderOf(files: Readonly<Record<string, unknown>>): string {
  const folder = mkdtempSync(join(tmpdir(), "backscroll-memory-"));
  for (const [path, value] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), JSON.stringify(value));
  }
  return folder;
}
