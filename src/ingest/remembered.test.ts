import { describe, expect, test } from "vitest";
import { ClaudeTree, MAIN } from "./claude-code/claude-tree.ts";
import { KnownIds } from "./drafts.ts";
import { PiTree } from "./pi-format/pi-file.ts";
import { ProblemLog } from "./problems.ts";

const LINES = 50_000;
const LIMIT = 100;

interface Memory {
  /** Adds line `i`, which follows the previous one; false if that one is unknown. */
  add(i: number): boolean;
  size(): number;
  /** The bound of its size. */
  readonly bound: number;
  /** Whether line `i` is known. */
  has(i: number): boolean;
}

const MEMORIES: Readonly<Record<string, () => Memory>> = {
  "Claude Code's lines": () => {
    const tree = new ClaudeTree(LIMIT);
    return {
      add(i) {
        const place = { uuid: `u${i}`, parentUuid: before("u", i), chain: MAIN };
        // Every answer makes a call, and every second call has a result.
        const part = i % 2 === 0 ? { answer: `a${i}`, calls: [`call-${i}`] } : {};
        const results = i % 4 === 1 ? [`call-${i - 1}`] : [];
        return tree.add({ ...place, nodes: [`u${i}`], ...part, results }).found;
      },
      size: () => tree.size,
      // With answers, open calls and a chain.
      bound: LIMIT + 1_000 + 10_000 + 1,
      has: (i) => tree.has(`u${i}`),
    };
  },
  "pi's records": () => {
    const tree = new PiTree(LIMIT);
    return {
      add: (i) => tree.add(`r${i}`, before("r", i), i % 3 !== 0).found,
      size: () => tree.size,
      bound: 2 * LIMIT,
      has: (i) => tree.has(`r${i}`),
    };
  },
  ids: () => {
    const ids = new KnownIds(new ProblemLog(), LIMIT);
    return {
      add: (i) => ids.isNew(`id-${i}`, i),
      size: () => ids.size,
      bound: LIMIT,
      has: (i) => !ids.isNew(`id-${i}`, i),
    };
  },
};

function before(prefix: string, i: number): string | null {
  return i === 0 ? null : `${prefix}${i - 1}`;
}

describe("stays bounded over many lines", () => {
  test.each(Object.keys(MEMORIES))("only the last of %s are remembered", (name) => {
    const memory = (MEMORIES[name] as () => Memory)();
    let most = 0;
    let lost = 0;
    for (let i = 0; i < LINES; i++) {
      if (!memory.add(i)) lost++;
      most = Math.max(most, memory.size());
    }
    expect(lost).toBe(0);
    expect(most).toBeLessThanOrEqual(memory.bound);
    expect([memory.has(LINES - 1), memory.has(LINES - LIMIT / 2), memory.has(0)]).toEqual([
      true,
      true,
      false,
    ]);
  });

  test("a line of Claude Code with a forgotten parent follows the previous line", () => {
    const tree = new ClaudeTree(4);
    const add = (uuid: string, parentUuid: string | null) =>
      tree.add({ uuid, parentUuid, nodes: [uuid], chain: MAIN });
    for (const [i, uuid] of ["a", "b", "c", "d", "e"].entries()) {
      add(uuid, i === 0 ? null : (["a", "b", "c", "d"][i - 1] ?? null));
    }
    expect(add("f", "d")).toMatchObject({ parent: "d", found: true });
    expect(add("g", "a")).toMatchObject({ parent: "f", found: false });
  });

  test("a record of pi with a forgotten parent follows the previous entry", () => {
    const tree = new PiTree(4);
    for (const [i, id] of ["a", "b", "c", "d", "e"].entries()) {
      tree.add(id, i === 0 ? null : (["a", "b", "c", "d"][i - 1] ?? null), true);
    }
    expect(tree.add("f", "d", true)).toMatchObject({ parent: "d", found: true });
    expect(tree.add("g", "a", true)).toMatchObject({ parent: "f", found: false });
  });
});

test("a call id in two answers awaits a result in each", () => {
  const tree = new ClaudeTree();
  const answer = (uuid: string, parentUuid: string | null) =>
    tree.add({ uuid, parentUuid, nodes: [uuid], chain: MAIN, answer: `of ${uuid}`, calls: ["c"] });
  answer("a1", null);
  answer("a2", "a1");
  const result = { nodes: ["r1"], chain: MAIN, results: ["c"] };
  tree.add({ ...result, uuid: "r1", parentUuid: "a1" });
  // A child of the call follows its result: that is known of the first answer too.
  tree.add({ uuid: "u1", parentUuid: "r1", nodes: ["u1"], chain: MAIN });
  const other = tree.add({ ...result, nodes: ["r2"], uuid: "r2", parentUuid: "a2" });
  expect(other).toMatchObject({ parent: "a2", found: true });
  expect(JSON.stringify(tree.state())).not.toContain('"c"');
});
