import { describe, expect, test } from "vitest";
import { ConfigError } from "./config-file.ts";
import { addJson, getJson, removeJson, setJson } from "./jsonc-edit.ts";

const VALUE = { command: "x" };

/** Texts without and with `servers.new`. Removing it restores the text. */
const CASES: readonly (readonly [name: string, before: string, after: string])[] = [
  [
    "a comment behind the last member stays with it",
    '{\n  // all\n  "servers": {\n    "a": 1 // mine\n  }\n}\n',
    '{\n  // all\n  "servers": {\n    "a": 1, // mine\n    "new": {\n      "command": "x"\n    }\n  }\n}\n',
  ],
  [
    "a comment behind a trailing comma too",
    '{\n  "servers": {\n    "a": ["x", 1], // mine\n  }\n}\n',
    '{\n  "servers": {\n    "a": ["x", 1], // mine\n    "new": {\n      "command": "x"\n    },\n  }\n}\n',
  ],
  [
    "a trailing comma stays one",
    '{\n\t"servers": {\n\t\t"a": 1,\n\t},\n}',
    '{\n\t"servers": {\n\t\t"a": 1,\n\t\t"new": {\n\t\t\t"command": "x"\n\t\t},\n\t},\n}',
  ],
  [
    "Windows' line breaks",
    '{\r\n  "servers": {\r\n    "a": 1\r\n  }\r\n}\r\n',
    '{\r\n  "servers": {\r\n    "a": 1,\r\n    "new": {\r\n      "command": "x"\r\n    }\r\n  }\r\n}\r\n',
  ],
  [
    "all on one line",
    '{"servers": {"a": 1}, "z": [1,2]}',
    '{"servers": {"a": 1,"new": {"command":"x"}}, "z": [1,2]}',
  ],
  [
    "an empty object",
    '{\n  "servers": {}\n}\n',
    '{\n  "servers": {\n    "new": {\n      "command": "x"\n    }\n  }\n}\n',
  ],
  [
    "a byte order mark is no indentation",
    '\uFEFF{"servers": {}}',
    '\uFEFF{"servers": {\n    "new": {\n      "command": "x"\n    }\n  }}',
  ],
];

test.each(CASES)("%s", (_name, before, after) => {
  expect(setJson(before, ["servers", "new"], VALUE)).toBe(after);
  expect(getJson(after, ["servers", "new"])).toEqual(VALUE);
  expect(removeJson(after, ["servers", "new"])).toBe(before);
});

test("missing objects are created, and a value is replaced in place", () => {
  const made = setJson('{\n    "a": 1\n}\n', ["servers", "new"], VALUE);
  expect(JSON.parse(made)).toEqual({ a: 1, servers: { new: VALUE } });
  expect(made).toContain('\n    "servers": {\n        "new"');
  expect(setJson('{ "a": /* one */ 1, "b": 2 }', ["a"], 3)).toBe('{ "a": /* one */ 3, "b": 2 }');
  expect(setJson(" \n", ["a"], 1)).toBe('{\n  "a": 1\n}\n');
});

test("elements are added to lists and removed again", () => {
  const one = addJson("{}\n", ["hooks", "End"], { n: 1 });
  const two = addJson(one, ["hooks", "End"], { n: 2 });
  expect(getJson(two, ["hooks", "End"])).toEqual([{ n: 1 }, { n: 2 }]);
  expect(removeJson(two, ["hooks", "End", 1])).toBe(one);
  expect(getJson(removeJson(two, ["hooks", "End", 0]), ["hooks", "End"])).toEqual([{ n: 2 }]);
});

test("a member is removed without the comments beside it", () => {
  const text = '{\n  "a": 1, // one\n  // two\n  "b": 2, // three\n  // four\n  "c": 3\n}';
  expect(removeJson(text, ["a"])).toBe(
    '{// one\n  // two\n  "b": 2, // three\n  // four\n  "c": 3\n}',
  );
  expect(removeJson(text, ["b"])).toBe(
    '{\n  "a": 1, // one\n  // two // three\n  // four\n  "c": 3\n}',
  );
  expect(removeJson(text, ["c"])).toBe(
    '{\n  "a": 1, // one\n  // two\n  "b": 2 // three\n  // four\n}',
  );
});

test("a name that stands twice is not edited", () => {
  expect(() => setJson('{ "a": 1, "a": 2 }', ["a"], 3)).toThrow("a is there twice");
});

test("the first of several members can be removed", () => {
  expect(removeJson('{"a": 1, "b": 2}', ["a"])).toBe('{"b": 2}');
  expect(removeJson('{\n  "a": 1,\n  "b": 2\n}', ["a"])).toBe('{\n  "b": 2\n}');
});

describe("a syntax error has its position", () => {
  test.each([
    ['{\n  "a": 1\n  "b": 2\n}', 3],
    ['{\n  "a": tru\n}', 2],
    ['{\n  "a": "x\n}', 2],
    ["{\n  a: 1\n}", 2],
    ['{ "a": 1 } x', 1],
    ['{\n\n "a": 1 /* open', 3],
    ["{", 1],
  ])("%j", (text, line) => {
    const failure = expectFailure(() => setJson(text, ["b"], 1));
    expect(failure.line).toBe(line);
  });

  test("a list in place of an object", () => {
    const failure = expectFailure(() => setJson('{\n  "servers": []\n}', ["servers", "x"], 1));
    expect([failure.line, failure.message]).toEqual([2, "servers is not an object"]);
  });
});

function expectFailure(action: () => unknown): ConfigError {
  try {
    action();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error("it did not fail");
}
