/**
 * An answer in a text of Cursor, line by line: `[Thinking]`, `[Tool call] name` and `[Tool result]
 * name`, each with its indented body, and text between them.
 *
 * An answer can hold hours of work. It is given in parts, split at results, with one part in
 * memory.
 */

import type { Block } from "../../model/block.ts";
import { MAX_CONTENT_BYTES } from "../../model/limits.ts";
import { RecentMap } from "../../model/recent-map.ts";
import { LongText } from "../long/long-text.ts";
import type { ProblemLog } from "../problems.ts";

/** One entry's content. */
export interface Said {
  readonly blocks: Block[];
  readonly fields: { readonly context?: string };
  readonly isResult: boolean;
}

/** Open calls, among which each result is searched. */
const OPEN_CALLS = 1000;

/** Estimated length of a block beside its text. */
const BLOCK_LENGTH = 100;

const MARK = /^\[(Thinking|Tool call|Tool result)\]\s*(.*?)\s*$/;

export class CursorAnswer {
  readonly #id: string;
  readonly #text: LongText;
  /** The current marker; empty between markers. */
  #piece: { readonly mark: string; readonly name: string } | undefined;
  #said: Said | undefined;
  #length = 0;
  #calls = 0;
  readonly #open = new RecentMap<string, string>(OPEN_CALLS);

  /** `id` is the prefix of its calls' ids. */
  constructor(id: string, problems: ProblemLog) {
    this.#id = id;
    this.#text = new LongText(problems);
  }

  /** Takes a line and gives the completed parts. */
  add(line: string, number: number): Said | undefined {
    const [, mark, name = ""] = MARK.exec(line) ?? [];
    if (mark !== undefined) {
      const ended = this.#endPiece();
      this.#piece = { mark, name };
      if (mark === "Thinking") this.#text.add(name, number);
      return ended;
    }
    const resumes =
      this.#piece !== undefined && (this.#piece.mark === "" || line === "" || /^\s/.test(line));
    const ended = resumes ? undefined : this.#endPiece();
    if (!resumes) this.#piece = { mark: "", name: "" };
    this.#text.add(line, number);
    return ended;
  }

  /** Gives the remaining parts. */
  *end(): Generator<Said> {
    const ended = this.#endPiece();
    if (ended !== undefined) yield ended;
    if (this.#said !== undefined) yield this.#said;
    this.#said = undefined;
  }

  #endPiece(): Said | undefined {
    if (this.#piece === undefined) return undefined;
    const { mark, name } = this.#piece;
    this.#piece = undefined;
    const text = this.#text.take((whole) => dedent(whole).trim());
    if (mark === "Tool call") {
      const id = `${this.#id}/call-${this.#calls++}`;
      this.#open.set(id, name);
      return this.#put({ type: "tool_use", id, name, input: toInput(text) }, text.length);
    }
    if (mark === "Tool result") {
      const toolUseId = this.#answered(name) ?? `${this.#id}/unknown`;
      const block: Block = {
        type: "tool_result",
        toolUseId,
        toolName: name,
        output: text,
        isError: false,
      };
      return this.#put(block, text.length);
    }
    if (text === "") return undefined;
    return this.#put({ type: mark === "Thinking" ? "thinking" : "text", text }, text.length);
  }

  /** Results do not name their call: it is the first open one of that name. */
  #answered(name: string): string | undefined {
    for (const [id, called] of this.#open) {
      if (called !== name) continue;
      this.#open.delete(id);
      return id;
    }
    return undefined;
  }

  /** Gives the current part if the block does not belong to it, or does not fit. */
  #put(block: Block, textLength: number): Said | undefined {
    const isResult = block.type === "tool_result";
    const length = textLength + BLOCK_LENGTH;
    const before = this.#said;
    const hasRoom = this.#length + length <= MAX_CONTENT_BYTES;
    if (before?.isResult === isResult && hasRoom) {
      before.blocks.push(block);
      this.#length += length;
      return undefined;
    }
    this.#said = { blocks: [block], fields: {}, isResult };
    this.#length = length;
    return before;
  }
}

function dedent(text: string): string {
  const lines = text.split("\n");
  let least = Number.POSITIVE_INFINITY;
  for (const line of lines) {
    const indent = line.search(/\S/);
    if (indent >= 0) least = Math.min(least, indent);
  }
  return lines.map((line) => line.slice(Number.isFinite(least) ? least : 0)).join("\n");
}

/** Arguments as JSON, `name: value` or `name=value`; anything else is one text. */
function toInput(text: string): string {
  try {
    JSON.parse(text);
    return text;
  } catch {
    // Not JSON: the older way of writing arguments.
  }
  const pairs = text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => /^\s*([\w-]+)\s*[:=]\s?(.*)$/.exec(line));
  return pairs.every((pair) => pair !== null)
    ? JSON.stringify(Object.fromEntries(pairs.map((pair) => [pair[1], pair[2]])))
    : JSON.stringify({ text });
}
