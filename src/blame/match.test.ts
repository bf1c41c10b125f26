import { expect, test } from "vitest";
import { cpuMs } from "../../test/support/cpu-time.ts";
import { Asked, Matcher } from "./match.ts";

test("a commit that formats a long file costs each of its lines the same", () => {
  const removed = Array.from({ length: 5_000 }, (_, i) => `const value${i} = sumOf(order, ${i});`);
  const added = removed.map((line) => `  ${line}`);
  const files = [{ path: "sums.ts", added, removed }];
  const commit = { commit: "4be1c20", subject: "Format", authoredAt: 1, committedAt: 1, files };
  const asked = new Asked([commit]);
  const found = { sessions: [], edits: [], found: [], shown: [], indexing: false, unreadable: [] };
  const matcher = new Matcher(asked, found);
  let moved = 0;
  const used = cpuMs(() => {
    for (const line of added) if (matcher.moves(commit, line)) moved++;
  });
  expect(moved).toBe(5_000);
  expect(matcher.moves(commit, "const other = sumOf(order);")).toBe(false);
  expect(used).toBeLessThan(2_000);
});
