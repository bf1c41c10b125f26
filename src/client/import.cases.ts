/** Fixture of the import tests: a session of numbered messages. */

import { ProblemLog } from "../ingest/problems.ts";
import type { ImportedEntry, ImportedSession } from "../ingest/source.ts";

export function sessionOf(id: string, entries: AsyncIterable<ImportedEntry>): ImportedSession {
  return {
    source: "test",
    agent: "coder",
    id,
    title: null,
    cwd: null,
    gitBranch: null,
    startedAt: 1_000,
    parentSession: null,
    metadata: {},
    entries,
    problems: new ProblemLog(),
  };
}

export async function* numbered(count: number): AsyncGenerator<ImportedEntry> {
  for (let i = 0; i < count; i++) {
    yield {
      sourceId: `e${i}`,
      kind: "message",
      role: "user",
      actor: null,
      data: null,
      usage: null,
      model: null,
      createdAt: 1_000 + i,
      metadata: {},
      // Hardly compressible, so that chunks are sent before everything is read.
      blocks: [{ type: "text", text: `message ${i} ${noise(i)}` }],
    };
  }
}

function noise(seed: number): string {
  let state = seed + 1;
  return Array.from({ length: 40 }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state.toString(36);
  }).join("");
}
