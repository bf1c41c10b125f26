import fc from "fast-check";
import { expect, test } from "vitest";
import { Vocabulary } from "./vocabulary.ts";
import { UNKNOWN_WORD, WordTable } from "./word-table.ts";

const words = fc.array(fc.string({ unit: "binary", minLength: 1, maxLength: 20 }), {
  maxLength: 200,
});

test("a word is found by its letters, wherever it stands, and no other is", () => {
  fc.assert(
    fc.property(words, words, (known, others) => {
      const table = new WordTable();
      const numbers = new Map<string, number>();
      for (const word of known) {
        const text = `<${word}>`;
        const expected = numbers.get(word) ?? UNKNOWN_WORD;
        expect(table.find(text, 1, text.length - 1)).toBe(expected);
        if (expected !== UNKNOWN_WORD) continue;
        table.add(text, 1, text.length - 1, numbers.size);
        numbers.set(word, numbers.size);
      }
      for (const word of [...known, ...others]) {
        expect(table.find(word, 0, word.length)).toBe(numbers.get(word) ?? UNKNOWN_WORD);
      }
    }),
  );
});

test("a table grows far beyond its first size", () => {
  const table = new WordTable();
  const all = Array.from({ length: 20_000 }, (_, i) => `w${i}`);
  for (const [i, word] of all.entries()) {
    table.find(word, 0, word.length);
    table.add(word, 0, word.length, i);
  }
  const found = all.map((word) => table.find(` ${word} `, 1, 1 + word.length));
  expect(found).toEqual([...all.keys()]);
});

test("terms are sorted by code unit, all or some of them", () => {
  const alike = fc.stringMatching(/^(?:common){0,2}[a-cé~ü]{1,3}$/);
  const term = fc.oneof(alike, fc.string({ unit: "binary", minLength: 1, maxLength: 12 }));
  fc.assert(
    fc.property(fc.array(term, { maxLength: 200 }), fc.nat(3), (terms, left) => {
      const vocabulary = new Vocabulary();
      const ids = [...new Set(terms.map((each) => vocabulary.idOf(each)))];
      const some = ids.filter((id) => left === 0 || id % left > 0);
      const sorted = Array.from(vocabulary.sort(some), (id) => vocabulary.term(id));
      // The default order of strings is by code unit.
      expect(sorted).toEqual(some.map((id) => vocabulary.term(id)).sort());
    }),
  );
});

test("the forms of one word have one term, and a form is stemmed once", () => {
  const vocabulary = new Vocabulary();
  const stemmed: string[] = [];
  const stem = (word: string) => {
    stemmed.push(word);
    return word.replace(/s$/, "");
  };
  const idOf = (word: string) => vocabulary.idOfWord(`a ${word} b`, 2, 2 + word.length, stem);
  const id = idOf("locks");
  expect([idOf("lock"), idOf("locks"), vocabulary.idOf("lock")]).toEqual([id, id, id]);
  expect(stemmed).toEqual(["locks", "lock"]);
});
