import { expect, test } from "vitest";
import { firstSince } from "./message-pages.ts";
import { callLine, editOf, parseInput, readable } from "./tool-call.ts";

test("a call is told by the field that says most", () => {
  expect(callLine({ description: "List", command: "ls -l\n  /tmp" }, "")).toBe("ls -l /tmp");
  expect(callLine({ n: 1, other: "x" }, "")).toBe("x");
  expect(callLine({}, "{}")).toBe("");
  expect(callLine(parseInput('{"cut": "in the mid'), '{"cut": "in the mid')).toContain(
    "in the mid",
  );
});

test("edits of several agents are lines that were taken away and added", () => {
  const signs = (input: Record<string, unknown>) =>
    editOf(input)
      ?.map(({ sign }) => sign)
      .join("");
  expect(signs({ old_string: "a\nb\n", new_string: "a\nc\n" })).toBe(" -+");
  expect(signs({ edits: [{ oldString: "a", newString: "b" }] })).toBe("-+");
  expect(signs({ patch: "@@\n-a\n+b" })).toBe(" -+");
  expect(signs({ file_path: "/a", content: "x\ny\n" })).toBe("++");
  expect(signs({ command: "ls" })).toBeUndefined();
});

test("a call of another shape than its tool's is shown as far as it is understood", () => {
  const edit = { old_string: "a", new_string: "b" };
  expect(editOf({ edits: [null, 1, "x", [], edit] })).toHaveLength(2);
  expect(editOf({ edits: [null] })).toBeUndefined();
  // An object whose `toString` is no function has no text of its own.
  const command = ["echo", 1, null, { toString: 1 }];
  expect(callLine({ command }, "")).toBe('echo 1 null {"toString":1}');
  for (const json of ["null", "[null]", "1", '"x"']) expect(parseInput(json)).toEqual({});
});

test("lines far from a change are left out", () => {
  const before = Array.from({ length: 40 }, (_, at) => `line ${at}`).join("\n");
  const lines = editOf({ old_string: before, new_string: before.replace("line 20\n", "new\n") });
  expect(lines?.length).toBe(8);
});

test("an input is shown field by field, line breaks kept", () => {
  expect(readable({ a: "x", b: "y\nz", c: [1] }, "")).toBe("a: x\nb:\ny\nz\nc:\n[\n  1\n]");
});

test("the first message of a day is found by halving", async () => {
  let asked = 0;
  const timeOf = async (index: number) => {
    asked++;
    return index * 10;
  };
  expect(await firstSince(123_456, 100_000, timeOf)).toBe(12_346);
  expect(await firstSince(0, 100_000, timeOf)).toBe(0);
  expect(await firstSince(1e9, 100_000, timeOf)).toBe(99_999);
  expect(asked).toBeLessThan(60);
});
