import { expect, test } from "vitest";
import type { ImportedEntry } from "../source.ts";
import { toUsage, UsageWindow } from "./claude-usage.ts";

function entry(sourceId: string, output: number): ImportedEntry {
  return {
    sourceId,
    kind: "message",
    role: "assistant",
    actor: null,
    blocks: [],
    data: null,
    model: null,
    createdAt: null,
    metadata: {},
    usage: toUsage({ input_tokens: 10, output_tokens: output }),
  };
}

/** `id:input/output` of each entry that is given for lines of `answer output`. */
function given(lines: readonly string[], window = new UsageWindow()): string[] {
  const entries = lines.flatMap((line, i) => {
    const [answer = "", output = "0"] = line.split(" ");
    return [...window.add(entry(`${answer}${i}`, Number(output)), answer)];
  });
  return [...entries, ...window.end()].map(
    ({ sourceId, usage }) => `${sourceId}:${usage?.inputTokens ?? 0}/${usage?.outputTokens ?? 0}`,
  );
}

test("the last line of an answer has its highest figures, also between lines of others", () => {
  expect(given(["a 2", "b 1", "a 9", "b 4", "a 5"])).toEqual([
    "a0:0/0",
    "b1:0/0",
    "a2:0/0",
    "b3:10/4",
    "a4:10/9",
  ]);
});

test("a line after the others were released has the remainder", () => {
  const first = new UsageWindow();
  expect(given(["a 2"], first)).toEqual(["a0:10/2"]);
  const second = new UsageWindow(first.state());
  expect(given(["a 2", "a 9", "b 1"], second)).toEqual(["a0:0/0", "a1:0/7", "b2:10/1"]);
});

test("only a few entries are held", () => {
  const window = new UsageWindow();
  const out = Array.from({ length: 200 }, (_, i) => [...window.add(entry(`e${i}`, 1), `${i}`)]);
  expect(out.flat()).toHaveLength(200 - 64);
  expect([...window.end()]).toHaveLength(64);
});

test("only zeros mean no usage", () => {
  expect(toUsage({ input_tokens: 0, output_tokens: 0 })).toBeNull();
  expect(toUsage(undefined)).toBeNull();
});
