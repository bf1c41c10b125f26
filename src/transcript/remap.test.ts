import { expect, test } from "vitest";
import { remapIds } from "../store/plan/plan-fork.ts";

const OLD = "01ARYZ6S41TSV4RRFFQ69G5FAV";
const NEW = "01BX5ZZKBKACTAV9WEVGEMMVRZ";
const OTHER = "01CX5ZZKBKACTAV9WEVGEMMVRZ";
const COPIES = new Map([[OLD, NEW]]);

function check(data: unknown, expected: unknown): void {
  expect(JSON.parse(remapIds(JSON.stringify(data), COPIES))).toEqual(expected);
}

test("an id with a copy is replaced where it is a whole JSON string", () => {
  check(
    { targetId: OLD, more: [OLD, { deep: OLD }] },
    { targetId: NEW, more: [NEW, { deep: NEW }] },
  );
});

test("other ids, and words that contain an id, stay", () => {
  const data = { targetId: OTHER, text: `see ${OLD}`, longer: `${OLD}X`, quoted: `"${OLD}"` };
  check(data, data);
});

test("text without ids is unchanged", () => {
  const text = '{"n":1e400,"a":1,"a":2,"s":"\\ud800"}';
  expect(remapIds(text, COPIES)).toBe(text);
});
