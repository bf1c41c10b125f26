/**
 * Phrase boost (as `pf` of Solr's eDisMax): sessions with the query verbatim in one message.
 * Queries are often copied, such as a command, an error or the subject of a commit.
 */

import type { Blobs } from "../index/blobs.ts";
import { CHUNK_DOCUMENTS, MESSAGE_FIELDS, type MessageField } from "../index/layout.ts";
import { slicePostings } from "../index/lists/term-list.ts";
import type { Asking, SessionPath } from "../port.ts";
import type { View } from "../snapshot.ts";
import { ECHO } from "./coverage.ts";
import { type Compiled, compile } from "./filter/conditions.ts";
import type { MessagePass } from "./message-pass.ts";
import type { Ranking } from "./rank.ts";
import { findMessages, type MessageRun } from "./session/session-messages.ts";

/** Gains of `sessions` that have the phrase, on the scale of the best score; others are absent. */
export function* findVerbatim(
  sessions: readonly number[],
  { verbatim, profile }: Ranking,
  { views, filter }: Pick<MessagePass, "views" | "filter">,
  blobs: Blobs,
): Asking<ReadonlyMap<number, number>> {
  if (sessions.length === 0 || verbatim.length === 0 || profile.verbatim === 0) return new Map();
  return yield* blobs.complete(() => {
    const phrase = new PhraseFinder(views, verbatim);
    const gains = new Map<number, number>();
    for (const session of sessions) {
      const field = phrase.fieldOf(session, filter.path?.(session));
      if (field === undefined) continue;
      // A phrase that only an output has may be an echo of another session.
      gains.set(session, field === "message" ? profile.verbatim : ECHO * profile.verbatim);
    }
    return gains;
  });
}

class PhraseFinder {
  readonly #views: readonly View[];
  readonly #words: readonly (string | null)[];
  readonly #chunks = new Map<string, Compiled | null | undefined>();

  constructor(views: readonly View[], words: readonly (string | null)[]) {
    this.#views = views;
    this.#words = words;
  }

  /** The field with the phrase, text before outputs. A missing blob makes the attempt run again. */
  fieldOf(session: number, path: SessionPath | undefined): MessageField | undefined {
    const runs = findMessages(this.#views, session, path)?.runs ?? [];
    return MESSAGE_FIELDS.find((field) => runs.some((run) => this.#isIn(run, field)));
  }

  #isIn(run: MessageRun, field: MessageField): boolean {
    const phrase = this.#inChunk(run.view, run.chunk, field);
    if (phrase === null || phrase === undefined) return false;
    const first = run.from - run.chunk * CHUNK_DOCUMENTS;
    const { documents, from, to } = slicePostings(phrase.driver, first, first + run.places.length);
    for (let posting = from; posting < to; posting++) {
      const document = documents[posting] as number;
      if ((run.places[document - first] as number) >= 0 && phrase.holds(document)) return true;
    }
    return false;
  }

  #inChunk(view: number, chunk: number, field: MessageField): Compiled | null | undefined {
    const key = `${view}/${chunk}/${field}`;
    if (this.#chunks.has(key)) return this.#chunks.get(key);
    const { source } = this.#views[view] as View;
    const found = compile(source, chunk, { kind: "phrase", terms: this.#words }, field);
    this.#chunks.set(key, found);
    return found;
  }
}
