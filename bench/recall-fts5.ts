/** SQLite's FTS5 over the same conversations, as a baseline. */

import { DatabaseSync } from "node:sqlite";
import { MORPHOLOGIES } from "../src/search/analysis/analyze.ts";
import { stopWordWeight } from "../src/search/analysis/stop-words.ts";
import type { LabelledSession, Question } from "./recall-data.ts";
import type { Found, Ranker } from "./recall-figures.ts";

/** `porter`: stemmed, and stop-words are dropped from questions. `plain`: as it comes. */
export type Fts5Kind = "porter" | "plain";

export class Fts5Ranker implements Ranker {
  readonly #db = new DatabaseSync(":memory:");
  readonly #kind: Fts5Kind;
  readonly #isOwn: boolean;

  constructor(sessions: Iterable<LabelledSession>, kind: Fts5Kind, haystack: "own" | "all") {
    this.#kind = kind;
    this.#isOwn = haystack === "own";
    const tokenizer = kind === "porter" ? "porter unicode61" : "unicode61";
    this.#db.exec(
      `CREATE VIRTUAL TABLE messages USING fts5 (
         text, conversation UNINDEXED, session UNINDEXED, message UNINDEXED,
         tokenize = '${tokenizer}')`,
    );
    const insert = this.#db.prepare("INSERT INTO messages VALUES (?, ?, ?, ?)");
    this.#db.exec("BEGIN");
    for (const { conversation, session, messages } of sessions) {
      for (const { id, role, actor = role, text } of messages) {
        // With the author's name, which our own search indexes too.
        insert.run(`${actor}: ${text}`, conversation, session, id);
      }
    }
    this.#db.exec("COMMIT");
  }

  /** Each session by its best message. */
  sessions(question: Question): Found[] {
    const seen = new Set<string>();
    return this.messages(question).filter(({ session }) => {
      const isNew = !seen.has(session);
      seen.add(session);
      return isNew;
    });
  }

  /** `limit`: -1 for all. */
  messages({ question, conversation }: Question, limit = -1): Found[] {
    const words = wordsOf(question, this.#kind);
    if (words.length === 0) return [];
    const match = words.map((word) => `"${word}"`).join(" OR ");
    const own = this.#isOwn ? "AND conversation = ?" : "";
    const select = this.#db.prepare(
      `SELECT conversation, session, message FROM messages
       WHERE messages MATCH ? ${own} ORDER BY bm25(messages), rowid LIMIT ?`,
    );
    const rows = this.#isOwn ? select.all(match, conversation, limit) : select.all(match, limit);
    return rows as unknown as Found[];
  }

  /** Of the texts and their index. */
  get bytes(): number {
    const pragma = (name: string) => this.#db.prepare(`PRAGMA ${name}`).get()?.[name] as number;
    return pragma("page_count") * pragma("page_size");
  }

  close(): void {
    this.#db.close();
  }
}

function wordsOf(question: string, kind: Fts5Kind): string[] {
  const words = question.match(/[\p{L}\p{N}]+/gu) ?? [];
  if (kind === "plain") return words;
  const { stem } = MORPHOLOGIES.english;
  const kept = words.filter((word) => stopWordWeight(stem(word.toLowerCase()), "english") === 1);
  return kept.length > 0 ? kept : words;
}
