/** Transcripts of Cursor as plain text: `user:` and `assistant:` on separate lines. */

import { RecentMap } from "../../model/recent-map.ts";
import { toMessageDrafts } from "../anthropic-content.ts";
import { toImportedEntry } from "../drafts.ts";
import { KEPT_CALLS } from "../kept-counts.ts";
import type { Line } from "../lines.ts";
import { LongText } from "../long/long-text.ts";
import type { ProblemLog } from "../problems.ts";
import type { ImportedEntry, ImportedSession } from "../source.ts";
import { CursorAnswer, type Said } from "./cursor-answer.ts";
import { FORMAT, unwrapQuery } from "./cursor-query.ts";

export async function* readText(
  lines: AsyncIterable<Line>,
  session: Omit<ImportedSession, "entries" | "problems">,
  problems: ProblemLog,
): AsyncGenerator<ImportedSession> {
  yield { ...session, entries: readEntries(lines, problems), problems };
}

async function* readEntries(
  lines: AsyncIterable<Line>,
  problems: ProblemLog,
): AsyncGenerator<ImportedEntry> {
  const names = new RecentMap<string, string>(KEPT_CALLS);
  let message: Message | undefined;
  let messages = 0;
  for await (const { text, damage, number: line } of lines) {
    if (damage === "too_long") problems.add("line_too_long", "the line was left out", line);
    if (damage === "not_utf8") {
      problems.add("not_utf8", "some bytes are not UTF-8 and were replaced", line);
    }
    const [, role] = /^(user|assistant):\s*$/.exec(text) ?? [];
    if (role !== undefined) {
      if (message !== undefined) yield* message.end();
      const id = `message-${messages++}`;
      const body = role === "user" ? new Prompt(problems) : new CursorAnswer(id, problems);
      message = new Message(id, body, role as "user" | "assistant", names);
    } else if (message !== undefined) yield* message.add(text, line);
    else if (text.trim() !== "") {
      problems.add("unexpected", "text before the first message was left out", line);
    }
  }
  if (message !== undefined) yield* message.end();
}

/** A section under one heading. */
class Message {
  readonly #id: string;
  readonly #body: Prompt | CursorAnswer;
  readonly #role: "user" | "assistant";
  /** Tool names by call. */
  readonly #names: RecentMap<string, string>;
  #given = 0;

  constructor(
    id: string,
    body: Prompt | CursorAnswer,
    role: "user" | "assistant",
    names: RecentMap<string, string>,
  ) {
    this.#id = id;
    this.#body = body;
    this.#role = role;
    this.#names = names;
  }

  /** Gives the completed entries. */
  *add(text: string, line: number): Generator<ImportedEntry> {
    const said = this.#body.add(text, line);
    if (said !== undefined) yield* this.#give(said);
  }

  *end(): Generator<ImportedEntry> {
    for (const said of this.#body.end()) yield* this.#give(said);
  }

  *#give({ blocks, fields, isResult }: Said): Generator<ImportedEntry> {
    const number = this.#given++;
    const sourceId = number === 0 ? this.#id : `${this.#id}.${number}`;
    const role = isResult ? "tool" : this.#role;
    const actor = role === "assistant" ? FORMAT : null;
    const draft = { sourceId, id: null, kind: "message", role, actor, blocks, fields } as const;
    for (const part of toMessageDrafts(draft, this.#names)) yield toImportedEntry(FORMAT, part);
  }
}

/** A message of the user. */
class Prompt {
  readonly #text: LongText;

  constructor(problems: ProblemLog) {
    this.#text = new LongText(problems);
  }

  add(line: string, number: number): undefined {
    this.#text.add(line, number);
  }

  *end(): Generator<Said> {
    const text = this.#text.take();
    if (text === "") return;
    const { blocks, context } = unwrapQuery([{ type: "text", text }]);
    yield { blocks, fields: context === "" ? {} : { context }, isResult: false };
  }
}
