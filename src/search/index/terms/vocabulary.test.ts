import fc from "fast-check";
import { expect, test } from "vitest";
import { fold } from "../../analysis/fold.ts";
import { TermBytes } from "./term-bytes.ts";
import { Vocabulary } from "./vocabulary.ts";
import { WordRecords } from "./word-records.ts";
import { UNKNOWN_WORD, WordTable } from "./word-table.ts";

const words = fc.array(fc.string({ unit: "binary", minLength: 1, maxLength: 20 }), {
  maxLength: 200,
});

function find(table: WordTable, word: string): number {
  const letters = Uint16Array.from({ length: word.length + 2 }, (_, i) => word.charCodeAt(i - 1));
  return table.find(letters, 1, 1 + word.length);
}

test("a word is found by its letters at any place, and no other is", () => {
  fc.assert(
    fc.property(words, words, (known, others) => {
      const records = new WordRecords();
      const table = new WordTable(records);
      const numbers = new Map<string, number>();
      for (const word of known) {
        const expected = numbers.get(word) ?? UNKNOWN_WORD;
        expect(find(table, word)).toBe(expected);
        if (expected !== UNKNOWN_WORD) continue;
        const letters = Uint16Array.from({ length: word.length }, (_, i) => word.charCodeAt(i));
        table.add(records.add(letters, 0, word.length, numbers.size));
        numbers.set(word, numbers.size);
      }
      for (const word of [...known, ...others]) {
        expect(find(table, word)).toBe(numbers.get(word) ?? UNKNOWN_WORD);
      }
    }),
  );
});

test("a vocabulary grows far beyond its first size", () => {
  const vocabulary = new Vocabulary();
  const all = Array.from({ length: 100_000 }, (_, i) => `w${i}`);
  for (const word of all) vocabulary.idOf(word);
  expect(all.map((word) => vocabulary.find(word))).toEqual([...all.keys()]);
  expect(vocabulary.find("w")).toBeUndefined();
});

test("terms are in code unit order, later ones too", () => {
  const alike = fc.stringMatching(/^(?:common){0,2}[a-cé~ü]{1,3}$/);
  const term = fc.oneof(alike, fc.string({ unit: "binary", minLength: 1, maxLength: 12 }));
  fc.assert(
    fc.property(fc.array(fc.array(term, { maxLength: 100 }), { maxLength: 4 }), (rounds) => {
      const vocabulary = new Vocabulary();
      const met = new Set<string>();
      for (const terms of rounds) {
        for (const each of terms) vocabulary.idOf(each);
        for (const each of terms) met.add(each);
        // The default order of strings is by code unit.
        for (const some of [met, new Set(terms)]) {
          const ids = Uint32Array.from(some, (each) => vocabulary.idOf(each));
          vocabulary.sort(ids);
          expect(Array.from(ids, (id) => vocabulary.term(id))).toEqual([...some].sort());
        }
      }
    }),
  );
});

test("a term is written like its string", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 12 }), (term) => {
      const vocabulary = new Vocabulary();
      const [written, expected] = [new TermBytes(), new TermBytes()];
      vocabulary.copyTerm(vocabulary.idOf(term), written);
      expected.set(term);
      expect(Buffer.from(written.bytes.subarray(0, written.length))).toEqual(
        Buffer.from(expected.bytes.subarray(0, expected.length)),
      );
    }),
  );
});

test("the forms of one word share a term, and each form is stemmed once", () => {
  const vocabulary = new Vocabulary();
  const stemmed: string[] = [];
  const stem = (word: string) => {
    stemmed.push(word);
    return word.replace(/s$/, "");
  };
  const idOf = (word: string) => vocabulary.idOfWord(fold(`a ${word} b`), 2, 2 + word.length, stem);
  const id = idOf("locks");
  expect([idOf("lock"), idOf("locks"), vocabulary.idOf("lock")]).toEqual([id, id, id]);
  expect(stemmed).toEqual(["locks", "lock"]);
});
