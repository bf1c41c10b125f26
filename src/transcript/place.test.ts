import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isOnPath, type PathEnd, pathRanges, rangesWithOrdinals } from "./path.ts";
import { type Chain, Placer, type Point, type TreePlace } from "./place.ts";

interface Placed extends TreePlace {
  readonly id: string;
  readonly parentId: string | null;
}

/**
 * Parses a tree from a line such as `a b c<a d! e<`: each entry follows the previous one, unless
 * `<parent` names another (`<` alone: a new root). `!` marks an annotation, `~` an entry that is
 * not a message.
 */
function build(line: string): { entries: Map<string, Placed>; chains: Map<number, Chain> } {
  const placer = new Placer(0, 0);
  const entries = new Map<string, Placed>();
  const points = new Map<string, Point>();
  let leaf: string | null = null;
  for (const word of line.split(" ")) {
    const [, id = "", mark, link, named] = /^(\w+)([!~]?)(<?)(\w*)$/.exec(word) ?? [];
    const parentId: string | null = link === "" ? leaf : named === "" ? null : (named ?? null);
    const parent = parentId === null ? null : (points.get(parentId) ?? null);
    const place = mark === "!" ? placer.annotation(parent) : placer.child(parent, mark !== "~");
    entries.set(id, { ...place, id, parentId });
    if (mark === "!") continue;
    const point = { ...place, id, hash: new Uint8Array(), atTip: true, annotation: false };
    points.set(id, point);
    leaf = id;
  }
  const chains = new Map(placer.newChains.map((chain) => [chain.chain, chain]));
  return { entries, chains };
}

/** `expected` is `chain.depth.ordinal` of each entry. */
function check(line: string, expected: string): void {
  const places = [...build(line).entries.values()];
  const shown = places.map(({ id, chain, depth, ordinal }) => `${id}:${chain}.${depth}.${ordinal}`);
  expect(shown.join(" ")).toBe(expected);
  expect(places.map((place) => place.sequence)).toEqual(places.map((_, i) => i + 1));
}

/** The entries on the path to `end`, by its ranges. */
function pathOf(line: string, end: string): string {
  const { entries, chains } = build(line);
  const ranges = pathRanges(entries.get(end) as PathEnd, chains);
  return [...entries.values()]
    .filter((entry) => isOnPath(entry, ranges))
    .map((entry) => entry.id)
    .join(" ");
}

describe("Placer", () => {
  test("continues a chain at its tip", () => {
    check("a b c", "a:1.1.1 b:1.2.2 c:1.3.3");
  });

  test("starts a chain where the parent already has a child", () => {
    check("a b c<a d", "a:1.1.1 b:1.2.2 c:2.2.2 d:2.3.3");
  });

  test("continues a chain at its tip after a return", () => {
    check("a b c<a d<b", "a:1.1.1 b:1.2.2 c:2.2.2 d:1.3.3");
  });

  test("starts a chain for each root", () => {
    check("a b< c", "a:1.1.1 b:2.1.1 c:2.2.2");
  });

  test("counts messages only in ordinals", () => {
    check("a b~ c", "a:1.1.1 b:1.2.1 c:1.3.2");
  });

  test("gives an annotation its anchor's place and lets the chain continue", () => {
    check("a l! b", "a:1.1.1 l:1.1.1 b:1.2.2");
    check("l! a", "l:0.0.0 a:1.1.1");
  });
});

describe("pathRanges", () => {
  test("contains the path and no other entry", () => {
    const line = "a b c d<b e f<a g<d";
    expect(pathOf(line, "c")).toBe("a b c");
    expect(pathOf(line, "e")).toBe("a b d e");
    expect(pathOf(line, "f")).toBe("a f");
    expect(pathOf(line, "g")).toBe("a b d g");
    expect(pathOf(line, "a")).toBe("a");
  });

  test("contains the annotations of its entries, and those of the empty session", () => {
    expect(pathOf("x! a l! b m! c<a", "c")).toBe("x a l c");
    expect(pathOf("x! a l! b m! c<a", "b")).toBe("x a l b m");
  });

  test("agrees with a walk to the root, for any tree", () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ up: fc.nat(), kind: fc.nat(9) }), { maxLength: 40 }),
        (all) => {
          const nodes: string[] = [];
          const words = all.map(({ up, kind }, i) => {
            const id = `n${i}`;
            const mark = kind === 0 ? "!" : kind === 1 ? "~" : "";
            const parent = nodes[up % (nodes.length + 1)] ?? "";
            if (mark !== "!") nodes.push(id);
            return `${id}${mark}${kind < 6 ? "" : `<${parent}`}`;
          });
          if (words.length === 0) return;
          const line = words.join(" ");
          const { entries } = build(line);
          for (const end of nodes) {
            const walked = new Set<string | null>([null]);
            for (let at: string | null = end; at !== null; at = entries.get(at)?.parentId ?? null) {
              walked.add(at);
            }
            const expected = [...entries.values()].filter((entry) =>
              nodes.includes(entry.id) ? walked.has(entry.id) : walked.has(entry.parentId),
            );
            expect(pathOf(line, end)).toBe(expected.map((entry) => entry.id).join(" "));
          }
        },
      ),
    );
  });
});

describe("rangesWithOrdinals", () => {
  test("names only the chains of a page", () => {
    const { entries, chains } = build("a b c d<b e f<d g");
    const ranges = pathRanges(entries.get("g") as PathEnd, chains);
    const touched = (from: number, to: number) =>
      rangesWithOrdinals(ranges, from, to).map((range) => range.chain);
    expect(touched(1, 2)).toEqual([1]);
    expect(touched(2, 3)).toEqual([1, 2]);
    expect(touched(4, 5)).toEqual([3]);
    expect(touched(6, 9)).toEqual([]);
  });
});
