import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isSilent, SILENCE_MODES, type SilenceMode, silenceFilter } from "./silence.ts";

/** The delivered pieces, and the result of `end`. */
function deliver(pieces: readonly string[], mode: SilenceMode = "whole") {
  const filter = silenceFilter(mode);
  const passed = pieces.map((piece) => filter.push(piece));
  const { silent, text } = filter.end();
  return { silent, text: passed.join("") + text, passed };
}

const SILENT = [
  "NO_REPLY",
  "no_reply",
  "No_Reply",
  "  NO_REPLY\n",
  "\n\nNO_REPLY\t ",
  "NO_REPLYNO_REPLY",
  "NO_REPLY NO_REPLY\nno_reply",
];

const DELIVERED = [
  "",
  " ",
  "NO",
  "NO_REPL",
  "NO_REPLY.",
  '"NO_REPLY"',
  "`NO_REPLY`",
  "NO_REPLYING is a word",
  "NO_REPLY means that nobody is answered.",
  "The token is NO_REPLY",
  "Done. NO_REPLY",
  "NO_REPLY NO",
  "No, I would not do that.",
  "NO_REPLY ¿qué?",
];

/** All splits of a text in two, and one piece per character. */
function splits(text: string): string[][] {
  const halves = Array.from({ length: text.length + 1 }, (_, i) => [
    text.slice(0, i),
    text.slice(i),
  ]);
  return [...halves, [...text], Array.from(text, (letter) => [letter, ""]).flat()];
}

describe("the whole text", () => {
  test.each(SILENT)(
    "%j is silent, wherever it is split, and nothing of it gets through",
    (text) => {
      for (const pieces of splits(text)) {
        expect(deliver(pieces)).toEqual({ silent: true, text: "", passed: pieces.map(() => "") });
      }
    },
  );

  test.each(DELIVERED)("%j is delivered whole, wherever it is split", (text) => {
    for (const pieces of splits(text)) {
      expect(deliver(pieces)).toMatchObject({ silent: false, text });
    }
  });
});

describe("the leading token", () => {
  test.each([...SILENT.filter((text) => text !== "NO_REPLYNO_REPLY"), "NO_REPLY.", "NO_REPLY ok"])(
    "%j is silent",
    (text) => {
      for (const pieces of splits(text)) {
        expect(deliver(pieces, "leading")).toMatchObject({ silent: true, text: "" });
      }
    },
  );

  test.each(["NO_REPLYING", "NO_REPLYé", "Yes. NO_REPLY", "NO", "", "  "])(
    "%j is delivered",
    (text) => {
      for (const pieces of splits(text)) {
        expect(deliver(pieces, "leading")).toMatchObject({ silent: false, text });
      }
    },
  );
});

test("an ordinary answer is not delayed: its first word is delivered at once", () => {
  expect(deliver(["Because", " the lock", " is gone."]).passed).toEqual([
    "Because",
    " the lock",
    " is gone.",
  ]);
});

test("a streamed text gives the same verdict as the whole text", () => {
  const piece = fc.oneof(
    fc.constantFrom("NO_", "REPLY", "no_reply", " ", "\n", ".", "NO_REPLY", "N", "x"),
    fc.string({ maxLength: 3 }),
  );
  fc.assert(
    fc.property(fc.array(piece), fc.constantFrom(...SILENCE_MODES), (pieces, mode) => {
      const text = pieces.join("");
      const silent = isSilent(text, mode);
      expect(deliver(pieces, mode)).toMatchObject({ silent, text: silent ? "" : text });
    }),
  );
});
