import { expect, test } from "vitest";
import { renderSummary } from "../render.ts";
import { call, digest, entry, result } from "./digest.cases.ts";
import { dropQuotes } from "./digest.ts";

const structure = digest([
  entry("e1", "user", "Please look at the zebra in src/stripes.ts, then TODO the rest"),
  entry("e2", "assistant", "I will.", call("t1", "bash", { command: "grep zebra src" })),
  entry("e3", "tool", result("t1", "zebra found", { name: "bash" })),
  entry("e4", "assistant", call("t2", "read_file", { path: "src/stripes.ts" })),
  entry("e5", "tool", result("t2", "export const zebra = 1;", { name: "read_file" })),
]);

test("keeps counts, tools and files, and no quoted text", () => {
  expect(JSON.stringify(structure)).toContain("zebra");
  const dropped = dropQuotes(structure);
  expect(JSON.stringify(dropped)).not.toContain("zebra");
  const { scope, tools, ledger } = structure;
  expect(dropped).toMatchObject({ scope, tools, keyFiles: ["src/stripes.ts"] });
  expect(dropped.folded).toMatchObject([{ from: "e1", through: "e5", messages: 5, user: 1 }]);
  expect(dropped.ledger).toEqual({ ...ledger, commands: [], earlierCommands: 1 });
});

test.each(["rich", "claw"] as const)("a %s text rendered from it has no quotes", (profile) => {
  expect(renderSummary(structure, profile)).toContain("zebra");
  const text = renderSummary(dropQuotes(structure), profile);
  expect(text).not.toContain("zebra");
  expect(text).toContain("src/stripes.ts");
});

test("a later summary continues from it", () => {
  const later = digest([entry("e6", "user", "And the giraffe?")], dropQuotes(structure));
  expect(later.scope.messages).toBe(6);
  expect(later.folded).toMatchObject([{ messages: 5 }]);
  expect(later.timeline).toMatchObject([{ entryId: "e6" }]);
});
