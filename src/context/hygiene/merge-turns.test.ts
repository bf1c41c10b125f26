import { expect, test } from "vitest";
import { mergeTurns } from "./prepare-turns.ts";
import type { SentText, Turn } from "./turn.ts";

test("neighbours of one role become one turn with all blocks", () => {
  expect(
    mergeTurns([
      { role: "user", blocks: [text("a"), text("b")] },
      { role: "user", blocks: [text("c")] },
      assistant("d"),
      assistant("e"),
      { role: "user", blocks: [text("f")] },
    ]),
  ).toEqual([
    { role: "user", blocks: [text("a"), text("b"), text("c")] },
    { role: "assistant", blocks: [text("d"), text("e")], aborted: false },
    { role: "user", blocks: [text("f")] },
  ]);
});

test("alternating turns are unchanged", () => {
  const turns: Turn[] = [{ role: "user", blocks: [text("a")] }, assistant("b")];
  expect(mergeTurns(turns)).toEqual(turns);
  expect(mergeTurns([])).toEqual([]);
});

function text(words: string): SentText {
  return { type: "text", text: words };
}

function assistant(words: string): Turn {
  return { role: "assistant", blocks: [text(words)], aborted: false };
}
