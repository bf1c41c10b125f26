/**
 * Fits a turn into a budget: the result is always valid, and monotonic in the budget.
 *
 * Cuts follow one fixed order and stop as soon as the rest fits, so the result for a smaller budget
 * is part of the result for a larger one. In this order, the oldest first:
 *
 * 1. results of tools, down to 200 tokens each
 * 2. thoughts and opaque blocks are dropped, images become a note
 * 3. texts and arguments of calls, down to 200 tokens each, in their middle
 * 4. whole steps (an answer with its calls and their results), except the question and the last
 * step
 * 5. the rest, down to 40 tokens a block, then block by block; a call goes with its result
 *
 * One note gives the number of dropped steps or blocks, and the entry to read on from.
 */

import { type Block, inputTextOf } from "../model/block.ts";
import { legalCuts, toolTraffic } from "../transcript/tool-pairs.ts";
import { cutBlock, leftOutNote } from "./cut-text.ts";
import {
  fromText,
  type SentSized,
  type SentSizer,
  type Sized,
  sumSent,
  sumTokens,
  withSent,
} from "./sent-tokens.ts";
import { countBlocks } from "./tokens.ts";

/** A block is cut below this only after all others: a shorter one says little. */
const SHORT_TOKENS = 200;
/** The note and a few words. */
const LEAST_TOKENS = 40;

export interface FittedTurn {
  readonly messages: readonly SentSized[];
  readonly tokens: number;
  readonly sent: number;
  /** Number of blocks cut or left out. */
  readonly shortened: number;
  /** Messages that are not shown. */
  readonly left: readonly Sized[];
}

/** A block and its current form. */
interface Cell {
  readonly at: number;
  readonly block: Block;
  /** The shown part; null: none. */
  shown: Block | null;
  size: number;
}

/** `hasQuestion`: the first message is the user's, and outlasts the steps after it. */
export function fitTurn(
  turn: readonly SentSized[],
  room: number,
  sizer: SentSizer,
  hasQuestion: boolean,
): FittedTurn {
  const sent = sumSent(turn);
  if (sent <= room) {
    return { messages: turn, tokens: sumTokens(turn), sent, shortened: 0, left: [] };
  }
  const fitting = new Fitting(turn, room, sizer);
  const groups = groupsOf(turn);
  const last = groups.length - 1;
  const question = hasQuestion && last > 0 ? fitting.cellsOf(groups[0]) : [];
  const end = fitting.cellsOf(groups[last]);
  const middle = groups.slice(question.length > 0 ? 1 : 0, last);
  const steps = middle.map((group) => fitting.cellsOf(group));

  fitting.shorten(fitting.cells.filter(isResult), SHORT_TOKENS);
  fitting.strip(fitting.cells);
  // The question and the newest text matter most: they are cut last.
  const inOrder = [...steps.flat(), ...end.slice(0, -1), ...question, ...end.slice(-1)];
  fitting.shorten(inOrder.filter(isWords), SHORT_TOKENS);
  fitting.dropEach(steps);
  const kept = [...end.slice(0, -1), ...question, ...end.slice(-1)];
  fitting.shorten(kept.filter(isResult), LEAST_TOKENS);
  fitting.shorten(kept.filter(isWords), LEAST_TOKENS);
  fitting.dropEach([...unitsOf(end).slice(0, -1), ...unitsOf(question).slice(1)]);
  return fitting.result(question.length > 0 ? (groups[0]?.length ?? 0) : 0);
}

/** Cuts results, images, thoughts and arguments, never text. The result may exceed `room`. */
export function fitPinned(
  pinned: readonly SentSized[],
  room: number,
  sizer: SentSizer,
): FittedTurn {
  const fitting = new Fitting(pinned, room, sizer);
  fitting.shorten(fitting.cells.filter(isResult), SHORT_TOKENS);
  fitting.strip(fitting.cells);
  const calls = fitting.cells.filter(({ block }) => block.type === "tool_use");
  fitting.shorten(calls, SHORT_TOKENS);
  fitting.shorten([...fitting.cells.filter(isResult), ...calls], LEAST_TOKENS);
  return fitting.result(0, false);
}

class Fitting {
  readonly cells: Cell[];
  readonly #turn: readonly SentSized[];
  readonly #room: number;
  readonly #sizer: SentSizer;
  #total: number;
  readonly #byMessage: readonly Cell[][];
  #hasNote = false;
  /** Bytes of dropped blocks; fewer than a note takes are not worth dropping. */
  #dropped = 0;

  constructor(turn: readonly SentSized[], room: number, sizer: SentSizer) {
    this.#turn = turn;
    this.#room = room;
    this.#sizer = sizer;
    this.#total = sumSent(turn);
    this.#byMessage = turn.map(({ message: { blocks, role } }, at) =>
      blocks.map((block) => ({ at, block, shown: block, size: sizer.block(block, role) })),
    );
    this.cells = this.#byMessage.flat();
  }

  cellsOf(group: readonly number[] = []): Cell[] {
    return group.flatMap((at) => this.#byMessage[at] ?? []);
  }

  /** Cuts each in order, down to `least`, until the rest fits: only the last one cut keeps more. */
  shorten(cells: readonly Cell[], least: number): void {
    for (const cell of cells) {
      if (this.#fits) return;
      if (cell.shown === null || cell.size <= least) continue;
      const keep = Math.max(least, cell.size - (this.#total - this.#room));
      this.#show(cell, cutBlock(cell.block, keep, this.#idOf(cell), this.#sizeIn(cell)));
    }
  }

  /** Blocks that cannot be cut: drops thoughts and opaque blocks, replaces images by a note. */
  strip(cells: readonly Cell[]): void {
    for (const cell of cells) {
      if (this.#fits) return;
      const { type } = cell.block;
      if (type !== "thinking" && type !== "opaque" && type !== "image") continue;
      this.#show(cell, cutBlock(cell.block, LEAST_TOKENS, this.#idOf(cell), this.#sizeIn(cell)));
    }
  }

  /** Drops list by list until the rest fits and the note is worth its room. */
  dropEach(units: readonly (readonly Cell[])[]): void {
    for (const unit of units) {
      if (this.#fits && this.#isWorthIt) return;
      for (const cell of unit) {
        if (cell.shown === null) continue;
        if (!this.#hasNote) this.#total += this.#noteSize;
        this.#hasNote = true;
        this.#dropped += bytesOf(cell.shown);
        this.#show(cell, null);
      }
    }
  }

  /** The note follows the first `noteAt` messages, those of the question. */
  result(noteAt: number, mayDrop = true): FittedTurn {
    if (mayDrop && !(this.#fits && this.#isWorthIt)) return this.#onlyNote();
    const left: Sized[] = [];
    const before: SentSized[] = [];
    const behind: SentSized[] = [];
    let shortened = 0;
    let parts = 0;
    this.#turn.forEach((sized, at) => {
      const cells = this.#byMessage[at] ?? [];
      const changed = cells.filter(({ block, shown }) => block !== shown).length;
      const blocks = cells.flatMap(({ shown }) => (shown === null ? [] : [shown]));
      if (changed > 0 && blocks.length === 0) {
        left.push(sized);
        return;
      }
      shortened += changed;
      parts += cells.length - blocks.length;
      const shown = changed === 0 ? sized : this.#sized(sized, blocks);
      (at < noteAt ? before : behind).push(shown);
    });
    const messages = this.#withNote(before, behind, left, parts);
    const [tokens, sent] = [sumTokens(messages), sumSent(messages)];
    return { messages, tokens, sent, shortened, left };
  }

  /**
   * For dropped messages the note is a message of its own. Where only blocks were dropped, it joins
   * a message, so that the number of messages stays.
   */
  #withNote(
    before: readonly SentSized[],
    behind: readonly SentSized[],
    left: readonly Sized[],
    parts: number,
  ): SentSized[] {
    if (!this.#hasNote) return [...before, ...behind];
    const note = this.#note(left, parts);
    if (left.length > 0) return [...before, note, ...behind];
    const all = [...before, ...behind];
    const spoken = all.findIndex(({ message }) => message.role !== "assistant");
    const at = Math.max(before.length - 1, spoken, 0);
    return all.map((sized, i) => {
      if (i !== at) return sized;
      const { blocks, role } = sized.message;
      const words = note.message.blocks;
      return this.#sized(
        sized,
        role === "assistant" ? [...words, ...blocks] : [...blocks, ...words],
      );
    });
  }

  get #fits(): boolean {
    return this.#total <= this.#room;
  }

  get #isWorthIt(): boolean {
    return !this.#hasNote || this.#dropped > NOTE_BYTES;
  }

  get #noteSize(): number {
    return this.#note(this.#turn, this.cells.length).sent + TAG_TOKENS;
  }

  #onlyNote(): FittedTurn {
    const note = this.#note(this.#turn, 0);
    const messages = note.sent <= this.#room ? [note] : [];
    const [tokens, sent] = [sumTokens(messages), sumSent(messages)];
    return { messages, tokens, sent, shortened: 0, left: this.#turn };
  }

  #note(left: readonly Sized[], parts: number): SentSized {
    const [first] = left.length > 0 ? left : this.#turn;
    const text = leftOutNote(left.length, parts, first?.message.entryIds[0] ?? "");
    return withSent(fromText(text, "recent", [], this.#sizer.counter), this.#sizer);
  }

  #sized({ message }: Sized, blocks: readonly Block[]): SentSized {
    const tokens = countBlocks(blocks, this.#sizer.counter);
    return withSent({ message: { ...message, blocks }, tokens }, this.#sizer);
  }

  #show(cell: Cell, block: Block | null): void {
    const size = block === null ? 0 : this.#sizeIn(cell)(block);
    if (size >= cell.size && block !== null) return;
    this.#total -= cell.size - size;
    cell.shown = block;
    cell.size = size;
  }

  #sizeIn({ at }: Cell): (block: Block) => number {
    const role = this.#turn[at]?.message.role ?? "user";
    return (block) => this.#sizer.block(block, role);
  }

  #idOf({ at }: Cell): string {
    return this.#turn[at]?.message.entryIds[0] ?? "";
  }
}

/** A note in a tool's message is wrapped in tags. */
const TAG_TOKENS = 8;
/** A note takes about 100 bytes: replacing less by it gains nothing. */
const NOTE_BYTES = 160;

function isResult({ block }: Cell): boolean {
  return block.type === "tool_result";
}

function isWords({ block }: Cell): boolean {
  return block.type === "text" || block.type === "tool_use";
}

/** Groups of messages joined by tool calls, as indices in order. */
function groupsOf(turn: readonly Sized[]): number[][] {
  const legal = legalCuts(turn.map(({ message }) => toolTraffic(message.blocks)));
  const groups: number[][] = [];
  turn.forEach((_, at) => {
    if (at === 0 || legal[at]) groups.push([]);
    groups.at(-1)?.push(at);
  });
  return groups;
}

/** Units of dropping: a call with its results, any other block alone. */
function unitsOf(cells: readonly Cell[]): Cell[][] {
  const units: Cell[][] = [];
  const byCall = new Map<string, Cell[]>();
  for (const cell of cells) {
    const { block } = cell;
    const id =
      block.type === "tool_use" ? block.id : block.type === "tool_result" ? block.toolUseId : null;
    const known = id === null ? undefined : byCall.get(id);
    if (known !== undefined) {
      known.push(cell);
      continue;
    }
    const unit = [cell];
    units.push(unit);
    if (id !== null) byCall.set(id, unit);
  }
  return units;
}

function bytesOf(block: Block): number {
  switch (block.type) {
    case "text":
    case "thinking":
      return Buffer.byteLength(block.text);
    case "tool_use":
      return Buffer.byteLength(block.name) + Buffer.byteLength(inputTextOf(block));
    case "tool_result":
      return typeof block.output === "string"
        ? Buffer.byteLength(block.output)
        : block.output.reduce((sum, part) => sum + bytesOf(part), 0);
    case "image":
      return (block.data ?? block.url ?? "").length;
    case "opaque":
      return Buffer.byteLength(block.json);
  }
}
