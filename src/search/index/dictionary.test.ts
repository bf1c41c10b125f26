import fc from "fast-check";
import { expect, test } from "vitest";
import { ByteWriter } from "./bytes.ts";
import { type DictionaryBlock, findEntry, readBlock, readTerms } from "./dictionary.ts";

const BLOCK: DictionaryBlock = { entries: [1, 0, 0], postings: [2, 40, 0], positions: [3, 80, 0] };

/** Front-coded, as in a segment. */
function write(terms: readonly string[]): Uint8Array {
  const writer = new ByteWriter();
  let before = "";
  for (const [i, term] of terms.entries()) {
    let shared = 0;
    while (shared < term.length && term[shared] === before[shared]) shared++;
    // Half a surrogate pair is not written.
    if (/[\udc00-\udfff]/.test(term[shared] ?? "")) shared--;
    writer.varint(i === 0 ? 0 : shared);
    writer.text(term.slice(i === 0 ? 0 : shared));
    writer.varint(2 * i + (i % 2));
    writer.varint(3 * i);
    writer.varint(5 * i);
    before = term;
  }
  return writer.take();
}

test("a term is found in a block as by reading the whole block", () => {
  const word = fc.oneof(
    fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 6 }),
    fc.string({ unit: fc.constantFrom("a", "é", "日", "😀"), minLength: 1, maxLength: 4 }),
  );
  fc.assert(
    fc.property(fc.uniqueArray(word, { maxLength: 40 }), fc.array(word), (words, others) => {
      const bytes = write([...words].sort());
      const all = new Map(readBlock(BLOCK, bytes).map((entry) => [entry.term, entry]));
      expect(readTerms(bytes)).toEqual([...all.keys()]);
      expect(all.size).toBe(words.length);
      for (const term of [...words, ...others]) {
        expect(findEntry(BLOCK, bytes, term)).toEqual(all.get(term));
      }
    }),
  );
});
