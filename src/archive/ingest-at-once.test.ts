import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { TranscriptSource } from "../ingest/source.ts";
import { open } from "../open.ts";
import { createMachine, NOTES, notes } from "./archive.cases.ts";

/**
 * The test's format, which records how many of its files were read concurrently. The first `meeting` files wait
 * for each other (a barrier): if fewer are read concurrently, the test does not end.
 */
function counting(meeting: number, over: Partial<TranscriptSource> = {}) {
  let reading = 0;
  const seen = { most: 0 };
  const { promise: met, resolve: meet } = Promise.withResolvers<void>();
  const source: TranscriptSource = {
    ...NOTES,
    ...over,
    read(input) {
      const transcript = NOTES.read(input);
      async function* sessions() {
        seen.most = Math.max(seen.most, ++reading);
        if (reading === meeting) meet();
        await met;
        yield* transcript.sessions;
        reading--;
      }
      return { ...transcript, sessions: sessions() };
    },
  };
  return { source, seen };
}

async function most(
  source: TranscriptSource,
  seen: { readonly most: number },
  pack: (text: string) => string | Uint8Array,
): Promise<number> {
  await using engine = await open(":memory:");
  const machine = createMachine();
  for (let i = 0; i < 50; i++) {
    machine.put(`notes/${i}.jsonl`, pack(notes({ text: String(i), session: `s${i}` })));
  }
  const { totals } = await machine.run(engine, { sources: [source] });
  expect(totals).toMatchObject({ created: 50, entries: 50 });
  return seen.most;
}

test("many small files are read concurrently", async () => {
  const { source, seen } = counting(5);
  expect(await most(source, seen, (text) => text)).toBeGreaterThan(4);
});

test("few compressed files are read concurrently, whatever their names", async () => {
  const { source, seen } = counting(4);
  expect(await most(source, seen, (text) => gzipSync(text))).toBe(4);
});

test("few transcripts with companions are read concurrently", async () => {
  const { source, seen } = counting(4, { companions: () => [{ folder: "parts" }] });
  expect(await most(source, seen, (text) => text)).toBe(4);
});
