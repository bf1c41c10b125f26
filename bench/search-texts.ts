/**
 * The messages of a corpus in a file, a line each: the process that fills a store from it does not
 * hold the generator's 200,000 words and garbage.
 */

import { closeSync, openSync, readSync, writeSync } from "node:fs";
import type { CorpusMessage, SearchCorpus } from "./search-corpus.ts";

const BUFFER_BYTES = 64 * 1024;

export function writeTexts(path: string, corpus: SearchCorpus, count: number): void {
  const file = openSync(path, "w");
  let lines = "";
  for (const { session, role, text } of corpus.messages(count)) {
    lines += `${session}\t${role}\t${text}\n`;
    if (lines.length < BUFFER_BYTES) continue;
    writeSync(file, lines);
    lines = "";
  }
  writeSync(file, lines);
  closeSync(file);
}

/** The texts are of ASCII. */
export function* readTexts(path: string): Generator<CorpusMessage> {
  const file = openSync(path, "r");
  const buffer = Buffer.alloc(BUFFER_BYTES);
  let rest = "";
  for (let got = 1; got > 0; ) {
    got = readSync(file, buffer);
    const lines = (rest + buffer.toString("latin1", 0, got)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const [session, role, text] = line.split("\t") as [string, CorpusMessage["role"], string];
      yield { session: Number(session), role, text };
    }
  }
  closeSync(file);
}
