import { describe, expect, test } from "vitest";
import { placeStems } from "./tree-model.ts";

describe("a drawing of branches", () => {
  test("has the branches that left last right below the one that they left", () => {
    const placed = placeStems([
      { id: "first", parent: null, from: 0, to: 10 },
      { id: "early", parent: "first", from: 2, to: 8 },
      { id: "late", parent: "first", from: 6, to: 7 },
      { id: "of-late", parent: "late", from: 6, to: 20 },
    ]);
    expect(placed.map(({ id, row, parentRow }) => [id, row, parentRow])).toEqual([
      ["first", 0, 0],
      ["late", 1, 0],
      ["of-late", 2, 1],
      ["early", 3, 0],
    ]);
    expect(placed.map(({ start, end }) => [start, end])).toEqual([
      [0, 0.5],
      [0.3, 0.35],
      [0.3, 1],
      [0.1, 0.4],
    ]);
  });

  test("has every branch once, also where parents are missing or name each other", () => {
    const placed = placeStems([
      { id: "a", parent: "gone", from: 3, to: 4 },
      { id: "b", parent: "b", from: 0, to: 0 },
      { id: "c", parent: "d", from: 1, to: 2 },
      { id: "d", parent: "c", from: 1, to: 2 },
    ]);
    expect(placed.map(({ id }) => id)).toEqual(["a", "b", "c", "d"]);
  });
});
