/**
 * Runs: consecutive messages in which an agent works and says nothing: calls, their results, thoughts;
 * and what clients add to a session by themselves, such as instructions. A run is shown as one line.
 */

import { isInjected, withoutInjected } from "../../search/document/injected.ts";
import type { Entry } from "../data/connection.ts";

/** `call`: with calls or thoughts. `note`: of the client. `blank`: nothing that a person can read. */
export type RowKind = "talk" | "call" | "note" | "blank";

export function rowKind({ role, blocks, metadata, truncated, erased, status }: Entry): RowKind {
  if (erased || status === "pending") return "talk";
  if (role === "system" || isInjected(metadata)) return "note";
  // The preview of very many blocks is empty.
  if (blocks.length === 0) return truncated ? "talk" : "blank";
  let isCall = false;
  let isNote = false;
  for (const block of blocks) {
    if (block.type === "image") return "talk";
    if (block.type === "text" && block.text.trim() !== "") {
      if (role !== "user" || withoutInjected(block.text).trim() !== "") return "talk";
      isNote = true;
    }
    isCall ||= block.type === "tool_use" || block.type === "tool_result";
    isCall ||= block.type === "thinking" && block.text.trim() !== "";
  }
  return isCall ? "call" : isNote ? "note" : "blank";
}

export interface Run {
  readonly first: number;
  /** Inclusive. */
  readonly last: number;
  readonly calls: number;
  readonly notes: number;
}

/** A run of fewer lines is shown as it is. */
const FEWEST_LINES = 3;

/** Whether a run is worth a line of its own. */
export function isFolded({ calls, notes }: Run): boolean {
  return notes > 0 || calls >= FEWEST_LINES;
}

/** Finds runs among the messages that are loaded, and remembers them until those change. */
export class Runs {
  readonly #get: (index: number) => Entry | undefined;
  #known = new Map<number, Run | undefined>();
  #version = -1;

  constructor(get: (index: number) => Entry | undefined) {
    this.#get = get;
  }

  /** The run that a message is part of; undefined for talk. */
  of(index: number, version: number): Run | undefined {
    if (version !== this.#version) this.#known = new Map();
    this.#version = version;
    if (!this.#known.has(index)) this.#find(index);
    return this.#known.get(index);
  }

  #find(index: number): void {
    const kindAt = (at: number) => {
      const entry = this.#get(at);
      return entry === undefined ? undefined : rowKind(entry);
    };
    const isWork = (at: number) => at >= 0 && (kindAt(at) ?? "talk") !== "talk";
    if (!isWork(index)) {
      this.#known.set(index, undefined);
      return;
    }
    let [first, last] = [index, index];
    while (isWork(first - 1)) first--;
    while (isWork(last + 1)) last++;
    let [calls, notes] = [0, 0];
    for (let at = first; at <= last; at++) {
      if (kindAt(at) === "note") notes++;
      calls += (this.#get(at)?.blocks ?? []).filter(({ type }) => type === "tool_use").length;
    }
    const run = { first, last, calls, notes };
    for (let at = first; at <= last; at++) this.#known.set(at, run);
  }
}
