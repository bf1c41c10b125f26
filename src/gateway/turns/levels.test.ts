import { describe, expect, test } from "vitest";
import type { Entry } from "../../model/entry.ts";
import { isOn, readThinking, shownThoughts } from "./choose-model.ts";

describe("a thinking level", () => {
  test.each([
    ["off", "none"],
    ["none", "none"],
    ["on", "low"],
    ["minimal", "minimal"],
    ["low", "low"],
    [" Medium ", "medium"],
    ["HIGH", "high"],
    ["xhigh", "xhigh"],
    ["max", "max"],
  ])("%j asks for %s", (thinkingLevel, reasoning) => {
    expect(readThinking({ thinkingLevel })).toEqual({ reasoning });
  });

  test.each([undefined, "", "default", "provider-default"])("%j requests no effort", (level) => {
    expect(readThinking(level === undefined ? {} : { thinkingLevel: level })).toEqual({});
  });

  test.each(["ultra", "toString", "__proto__", "9"])(
    "%j is reported with the known levels",
    (level) => {
      const { reasoning, problem } = readThinking({ thinkingLevel: level });
      expect(reasoning).toBeUndefined();
      expect(problem).toContain(JSON.stringify(level));
      expect(problem).toMatch(
        /known are off, on, default, provider-default, none, minimal, .*max$/,
      );
    },
  );
});

test("thinking is shown where the level is on and the text is not empty", () => {
  const blocks = [
    { type: "thinking", text: "Hm." },
    { type: "thinking", text: " " },
    { type: "text", text: "Yes." },
  ];
  const entry = { blocks } as unknown as Entry;
  expect(shownThoughts({ reasoningLevel: "stream" }, entry)).toEqual(["Hm."]);
  expect(shownThoughts({ reasoningLevel: "off" }, entry)).toEqual([]);
  expect(shownThoughts({}, entry)).toEqual([]);
});

test("any word but off switches a level on", () => {
  const words = ["on", "full", "Off", " off ", "", undefined];
  expect(words.map(isOn)).toEqual([true, true, false, false, false, false]);
});
