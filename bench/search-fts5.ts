/** The same corpus and questions in SQLite's FTS5. */

import { DatabaseSync } from "node:sqlite";
import { analyzeQuery } from "../src/search/query/analyze-query.ts";
import { parseQuery } from "../src/search/query/parse-query.ts";
import { type Figures, Timings } from "./measure.ts";
import { type QueryClass, SearchCorpus } from "./search-corpus.ts";

export interface Fts5FillTask {
  readonly path: string;
  readonly messages: number;
}

export function fillFts5(task: Fts5FillTask): Figures {
  const db = new DatabaseSync(task.path);
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF");
  db.exec("CREATE VIRTUAL TABLE messages USING fts5 (text, tokenize = 'porter unicode61')");
  const insert = db.prepare("INSERT INTO messages (text) VALUES (?)");
  const start = performance.now();
  db.exec("BEGIN");
  for (const { text } of new SearchCorpus(1).messages(task.messages)) insert.run(text);
  db.exec("COMMIT");
  const seconds = (performance.now() - start) / 1_000;
  db.close();
  return { messagesPerSecond: task.messages / seconds };
}

export interface Fts5QueryTask {
  readonly path: string;
  readonly kind: QueryClass;
  /** With the content words of our own query, instead of all. */
  readonly analyzed: boolean;
  readonly count: number;
}

export function queryFts5(task: Fts5QueryTask): Figures {
  const db = new DatabaseSync(task.path, { readOnly: true });
  const corpus = new SearchCorpus(task.kind.length);
  const search = db.prepare(
    "SELECT rowid, bm25(messages) FROM messages WHERE messages MATCH ? ORDER BY bm25(messages) LIMIT 20",
  );
  const ask = () => {
    const text = corpus.query(task.kind);
    const words = task.analyzed ? keptWords(text) : text.split(" ");
    return [...new Set(words)].map((word) => `"${word}"`).join(" OR ");
  };
  const timings = new Timings();
  for (let i = 0; i < task.count; i++) {
    const query = ask();
    timings.timeSync(() => search.all(query));
  }
  db.close();
  const { p50Ms, p99Ms } = timings.figures();
  return { p50Ms, p99Ms };
}

/** The words with weight in our own query. */
function keptWords(text: string): string[] {
  const { scored } = analyzeQuery(parseQuery(text, { now: 0 }), "english");
  const strong = scored.filter(({ weight }) => weight >= 0.5);
  return (strong.length > 0 ? strong : scored).map(({ term }) => term);
}
