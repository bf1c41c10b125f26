/**
 * A columnar cache of the session fields that windows show; it is cleared when it is full.
 *
 * A store has tens of thousands of sessions, and each search shows other ones, so the cache must
 * hold most of them. A head is therefore a row of texts and numbers in two arrays, a quarter of the
 * size of objects.
 */

import type { WindowHead } from "./port.ts";

/** About 220 bytes each, but a title may be long. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Bytes of a row without its texts. */
const ROW_BYTES = 128;
/** A mark without its reason. */
const MARK_BYTES = 256;
const NO_MARKS: WindowHead["marks"] = [];
/** The limit of interned names; a handful is usual. */
const MAX_NAMES = 1_024;

/** The session's id, title, agent, leaf id, short id, the ends of late branches, its place, its speaker. */
const TEXTS = 8;
/** A character that no id contains. */
const SEPARATOR = "\0";
/** Times of creation and update, message count; chain, depth and ordinal of its leaf. */
const NUMBERS = 6;

export class HeadCache {
  readonly #rows = new Map<number, number>();
  /** Free rows. */
  readonly #free: number[] = [];
  #texts: (string | null)[] = [];
  /** By row; most sessions have none. */
  readonly #marks = new Map<number, WindowHead["marks"]>();
  #numbers = new Float64Array(64 * NUMBERS);
  /** Interned: most sessions have the same few. */
  readonly #names = new Map<string, string>();
  #bytes = 0;

  get(session: number): WindowHead | undefined {
    const row = this.#rows.get(session);
    if (row === undefined) return undefined;
    const texts = this.#texts;
    const numbers = this.#numbers;
    const [text, number] = [row * TEXTS, row * NUMBERS];
    const leaf = texts[text + 3] as string | null;
    return {
      sessionId: texts[text] as string,
      shortId: texts[text + 4] as string,
      title: texts[text + 1] as string | null,
      agent: texts[text + 2] as string,
      place: texts[text + 6] as string,
      speaker: texts[text + 7] as string | null,
      createdAt: numbers[number] as number,
      updatedAt: numbers[number + 1] as number,
      messageCount: numbers[number + 2] as number,
      active:
        leaf === null
          ? null
          : {
              id: leaf,
              chain: numbers[number + 3] as number,
              depth: numbers[number + 4] as number,
              ordinal: numbers[number + 5] as number,
            },
      lateLeaves: texts[text + 5]?.split(SEPARATOR) ?? [],
      marks: this.#marks.get(row) ?? NO_MARKS,
    };
  }

  /** A cached head stays until it is invalidated. */
  add(session: number, head: WindowHead): void {
    if (this.#rows.has(session)) return;
    if (this.#bytes >= MAX_BYTES) this.clear();
    const row = this.#free.pop() ?? this.#rows.size;
    this.#rows.set(session, row);
    const { sessionId, shortId, title, active, lateLeaves, marks } = head;
    const [agent, place] = [this.#interned(head.agent), this.#interned(head.place)];
    const speaker = head.speaker === null ? null : this.#interned(head.speaker);
    const late = lateLeaves.length === 0 ? null : lateLeaves.join(SEPARATOR);
    if (marks.length > 0) this.#marks.set(row, marks);
    this.#put(row, [sessionId, title, agent, active?.id ?? null, shortId, late, place, speaker]);
    this.#bytes += this.#bytesOf(row);
    this.#room(row);
    const numbers = this.#numbers;
    let at = row * NUMBERS;
    numbers[at++] = head.createdAt;
    numbers[at++] = head.updatedAt;
    numbers[at++] = head.messageCount;
    numbers[at++] = active?.chain ?? 0;
    numbers[at++] = active?.depth ?? 0;
    numbers[at++] = active?.ordinal ?? 0;
  }

  forget(session: number): void {
    const row = this.#rows.get(session);
    if (row === undefined) return;
    this.#rows.delete(session);
    this.#free.push(row);
    this.#bytes -= this.#bytesOf(row);
    this.#put(row, Array(TEXTS).fill(null));
    this.#marks.delete(row);
  }

  clear(): void {
    this.#rows.clear();
    this.#free.length = 0;
    this.#texts = [];
    this.#marks.clear();
    this.#names.clear();
    this.#bytes = 0;
  }

  #put(row: number, texts: readonly (string | null)[]): void {
    for (let i = 0; i < TEXTS; i++) this.#texts[row * TEXTS + i] = texts[i] as string | null;
  }

  #bytesOf(row: number): number {
    let bytes = ROW_BYTES;
    for (let i = 0; i < TEXTS; i++) bytes += this.#texts[row * TEXTS + i]?.length ?? 0;
    for (const { reason } of this.#marks.get(row) ?? []) bytes += MARK_BYTES + reason.length;
    return bytes;
  }

  #interned(name: string): string {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    if (this.#names.size >= MAX_NAMES) this.#names.clear();
    this.#names.set(name, name);
    return name;
  }

  #room(row: number): void {
    if ((row + 1) * NUMBERS <= this.#numbers.length) return;
    const larger = new Float64Array(2 * this.#numbers.length);
    larger.set(this.#numbers);
    this.#numbers = larger;
  }
}
