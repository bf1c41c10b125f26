import { ProblemLog } from "../../src/ingest/problems.ts";
import type { ImportedEntry, ImportedSession } from "../../src/ingest/source.ts";

/** A linear imported session, with a message per text. */
export function talk(texts: readonly string[], over: Partial<ImportedEntry> = {}): ImportedSession {
  const problems = new ProblemLog();
  const entries = texts.map(
    (text, i): ImportedEntry => ({
      sourceId: `m${i}`,
      kind: "message",
      role: "user",
      actor: "ana",
      data: null,
      blocks: [{ type: "text", text }],
      usage: null,
      model: null,
      createdAt: 1000 + i,
      metadata: {},
      ...over,
    }),
  );
  return {
    source: "test",
    agent: "test",
    id: "talk",
    title: null,
    cwd: null,
    gitBranch: null,
    startedAt: 1000,
    parentSession: null,
    metadata: {},
    problems,
    entries: (async function* () {
      yield* entries;
    })(),
  };
}
