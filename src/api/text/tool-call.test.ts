import { expect, test } from "vitest";
import { isCallPart, readableCall, readableJson } from "./tool-call.ts";

test.each([
  ['{"path":"a.ts","text":"one\\ntwo"}', "path: a.ts, text: one two"],
  ['{"text":"caf\\u00e9 \\ud83d\\ude00"}', "text: café 😀"],
  ['{"text":"😀"}', "text: 😀"],
])("%j is read as plain text", (json, text) => {
  expect(readableJson(json).text).toBe(text);
});

test.each([
  ['{"text":"hi \\ud83d', "text: hi �"],
  ['{"text":"hi \\ude00"}', "text: hi �"],
  ['{"text":"hi \ud83d', "text: hi �"],
  ['{"text":"caf\\u00', "text: caf"],
  ['{"text":"caf\\', "text: caf"],
])("the cut text %j is well-formed", (json, text) => {
  expect(readableJson(json).text).toBe(text);
});

test("offsets name the same characters in both texts", () => {
  const json = '{"a":"x\\n\\n  y","b":"\\ud83d\\ude00 z"}';
  const { text, offsetOf } = readableJson(json);
  for (const letter of ["a", "x", "y", "b", "z"]) {
    expect(text[offsetOf(json.indexOf(letter))]).toBe(letter);
  }
  expect(offsetOf(json.length + 9)).toBe(text.length);
});

test("a long text is read once, also with a space at each second place", () => {
  const words = "a ".repeat(1_000_000);
  expect(readableJson(`{"text":"${words}"}`).text).toBe(`text: ${words}`);
  const backslashes = "\\\\".repeat(1_000_000);
  expect(readableJson(backslashes).text).toBe("\\".repeat(1_000_000));
});

test("a call is its name and its plain input, and offsets stay at their characters", () => {
  const call = 'Edit({"path":"a.ts","text":"x\\n\\t}"})';
  const { text, offsetOf } = readableCall(call);
  expect(text).toBe("Edit path: a.ts, text: x }");
  expect(offsetOf(0)).toBe(0);
  expect(text.slice(offsetOf(call.indexOf("a.ts")))).toBe("a.ts, text: x }");
  expect(isCallPart(call, false)).toBe(true);
  expect(isCallPart('n","text":"x\\n', true)).toBe(true);
  expect(isCallPart("Edited a.ts", true)).toBe(false);
});
