import { expect, test } from "vitest";
import { type Choice, EMPTY, type Key, type Picker, press, screenOf } from "./picker.ts";

const STYLE = { bold: (text: string) => text, dim: (text: string) => text };
const CHOICES: readonly Choice[] = ["a", "b", "c"].map((id) => ({
  sessionId: id,
  head: `Session ${id}`,
  line: `what ${id} said`,
  entryId: null,
}));
const LIST: Picker = { ...EMPTY, choices: CHOICES };

/** The state and the last wish after some keys. */
function after(keys: readonly Key[], from: Picker = LIST): readonly [Picker, string] {
  let state = from;
  let last = "none";
  for (const key of keys) {
    const { next, wish } = press(state, key, 10);
    [state, last] = [next, wish];
  }
  return [state, last];
}

test("typed characters are searched for, and Escape empties the box before it leaves", () => {
  const [typed, wish] = after([{ text: "c", name: "c" }, { text: "ü" }, { name: "backspace" }]);
  expect([typed.query, wish]).toEqual(["c", "search"]);
  expect(after([{ name: "escape" }], typed)).toEqual([{ ...LIST, query: "" }, "search"]);
  expect(after([{ name: "escape" }])[1]).toBe("leave");
  expect(after([{ name: "c", ctrl: true, text: "\u0003" }])[1]).toBe("leave");
});

test("the arrows stay in the list, Enter reads, and resuming takes Ctrl-R there and r in a session", () => {
  expect(after([{ name: "up" }])[0].selected).toBe(0);
  expect(after(Array(5).fill({ name: "down" }))[0].selected).toBe(2);
  expect(after([{ name: "return" }])[1]).toBe("read");
  expect(after([{ name: "r", text: "r" }])).toMatchObject([{ query: "r" }, "search"]);
  expect(after([{ name: "r", ctrl: true }])[1]).toBe("resume");
  const reading: Picker = { ...LIST, reading: { lines: Array(30).fill("x"), from: 0 } };
  expect(after([{ name: "r", text: "r" }], reading)[1]).toBe("resume");
  expect(after([{ name: "end" }, { name: "down" }], reading)[0].reading?.from).toBe(21);
  expect(after([{ name: "escape" }], reading)[0].reading).toBeUndefined();
  expect(after([{ name: "return" }], { ...LIST, choices: [] })[1]).toBe("none");
});

test("a screen has as many lines as the terminal, none wider, and the chosen one is on it", () => {
  for (const picker of [LIST, { ...LIST, selected: 2 }, { ...LIST, choices: [] }, EMPTY]) {
    const lines = screenOf(picker, STYLE, 20, 6);
    expect(lines).toHaveLength(6);
    expect(lines.every((line) => line.length <= 20)).toBe(true);
    const { choices = [], selected } = picker;
    if (choices.length > 0) expect(lines).toContain(`▸ ${choices[selected]?.head}`);
  }
});
