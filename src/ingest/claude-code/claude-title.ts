/**
 * The title of a session. The user's own title takes precedence, then a model's, then a summary. A
 * summary names its last line, and may be in another session's file: it is this session's title
 * only if that line is in this file.
 */

import { isPlainObject, type JsonValue } from "../../model/json.ts";
import { toSourceMetadata } from "../../transcript/source-fields.ts";
import { type Fields, textField, timeField } from "../fields.ts";
import type { ImportedEntry } from "../source.ts";
import { FORMAT } from "./claude-session.ts";

/** The field that has the title, and its rank. */
const TITLES: Readonly<Record<string, readonly [field: string, rank: number]>> = {
  summary: ["summary", 1],
  "ai-title": ["aiTitle", 2],
  "custom-title": ["customTitle", 3],
};

/** The limit of waiting summaries: old files begin with those of every other session. */
const WAITING = 1000;

export class ClaudeTitle {
  #name: string | undefined;
  #rank = 0;
  #count = 0;
  /** Summaries whose lines have not come yet. */
  readonly #waiting = new Map<string, string>();

  constructor(state?: JsonValue) {
    if (!isPlainObject(state)) return;
    this.#name = textField(state, "name");
    this.#rank = Number(state["rank"] ?? 0);
    this.#count = Number(state["count"] ?? 0);
  }

  state(): JsonValue {
    const { length } = this.#name ?? "";
    const name = length === 0 ? {} : { name: this.#name ?? "" };
    return { ...name, rank: this.#rank, count: this.#count };
  }

  /** The line's title, if it takes precedence. `id` is the line's own. */
  of(record: Fields, id: string, has: (uuid: string) => boolean): ImportedEntry | undefined {
    const awaited = this.#waiting.get(id);
    if (awaited !== undefined) {
      this.#waiting.delete(id);
      return this.#entry(awaited, 1, record);
    }
    const { type } = record;
    const rule = typeof type === "string" && Object.hasOwn(TITLES, type) ? TITLES[type] : undefined;
    if (rule === undefined) return undefined;
    const [field, rank] = rule;
    const name = textField(record, field)?.trim();
    if (name === undefined || name === "") return undefined;
    const about = textField(record, "leafUuid");
    if (rank === 1 && about !== undefined && !has(about)) {
      if (this.#waiting.size < WAITING) this.#waiting.set(about, name);
      return undefined;
    }
    return this.#entry(name, rank, record);
  }

  #entry(name: string, rank: number, record: Fields): ImportedEntry | undefined {
    if (rank < this.#rank || name === this.#name) return undefined;
    this.#name = name;
    this.#rank = rank;
    return {
      sourceId: `title-${++this.#count}-${name.slice(0, 40)}`,
      kind: "session_info",
      role: null,
      actor: null,
      blocks: [],
      data: { name },
      usage: null,
      model: null,
      createdAt: timeField(record, "timestamp"),
      metadata: toSourceMetadata({ format: FORMAT, id: null }),
    };
  }
}
