/** The outline of the open session: read in parts after its messages, and again as it grows. */

import { signal } from "@preact/signals";
import type { RemoteEngine } from "../../client/index.ts";
import { counted } from "../parts/words.ts";

type Part = Awaited<ReturnType<RemoteEngine["outlineSession"]>>;
export type Turn = Part["turns"][number];
export type Call = Part["calls"][number];

export interface Outline {
  readonly turns: readonly Turn[];
  readonly calls: readonly Call[];
  readonly commits: Part["commits"];
  /** Messages before this one were read. */
  readonly end: number;
  readonly total: number;
}

/** The messages that are read without being asked for. */
const MAX_READ = 4_000;

export class SessionOutline {
  /** Undefined until its first part has arrived. */
  readonly value = signal<Outline | undefined>(undefined);
  readonly #engine: RemoteEngine;
  readonly #sessionId: string;
  readonly #leaf: string | undefined;
  #reading: Promise<void> | undefined;
  /** Discards what was read of another path. */
  #epoch = 0;
  /** The epoch of the value. */
  #outlined = -1;

  constructor(engine: RemoteEngine, sessionId: string, leaf: string | undefined) {
    this.#engine = engine;
    this.#sessionId = sessionId;
    this.#leaf = leaf;
  }

  /** Reads on from the last prompt that is known: a result may belong to a call after it. */
  grow(limit: number = MAX_READ): Promise<void> {
    const epoch = this.#epoch;
    this.#reading ??= this.#read(limit).finally(() => {
      if (epoch === this.#epoch) this.#reading = undefined;
    });
    return this.#reading;
  }

  /** The outline, once a part of it has arrived; empty if it cannot be read. */
  async known(): Promise<Pick<Outline, "turns">> {
    // An answer from before a change of the path is discarded: it is asked for again.
    for (let tries = 0; tries < 3 && this.value.peek() === undefined; tries++) {
      await this.grow().catch(() => undefined);
    }
    return this.value.peek() ?? { turns: [] };
  }

  readAll(): Promise<void> {
    return this.grow(Number.POSITIVE_INFINITY);
  }

  /** Reads it anew: the path may be another one. */
  reset(): Promise<void> {
    this.#epoch++;
    this.#reading = undefined;
    return this.grow();
  }

  async #read(limit: number): Promise<void> {
    const epoch = this.#epoch;
    const known = this.#outlined === epoch ? this.value.peek() : undefined;
    let offset = known?.turns.at(-1)?.index ?? 0;
    for (;;) {
      const part = await this.part({ offset });
      if (epoch !== this.#epoch) return;
      this.value.value = join(this.#outlined === epoch ? this.value.peek() : undefined, part);
      this.#outlined = epoch;
      // A turn may be longer than a part.
      offset = Math.max(part.end, offset + 1);
      if (part.end >= Math.min(part.total, limit) || part.end === part.offset) return;
    }
  }

  part(input: { readonly offset: number; readonly find?: string }): Promise<Part> {
    const leaf = this.#leaf === undefined ? {} : { leaf: this.#leaf };
    return this.#engine.outlineSession(this.#sessionId, { ...input, ...leaf });
  }
}

function join(before: Outline | undefined, part: Part): Outline {
  const kept = <Item extends { readonly index: number }>(items: readonly Item[] = []) =>
    items.filter(({ index }) => index < part.offset);
  return {
    turns: [...kept(before?.turns), ...part.turns],
    calls: [...kept(before?.calls), ...part.calls],
    commits: [...kept(before?.commits), ...part.commits],
    end: part.end,
    total: part.total,
  };
}

/** The calls in the messages from `first` to `last`, both included. Calls are in order. */
export function callsIn(outline: Outline, first: number, last: number): readonly Call[] {
  return outline.calls.filter(({ index }) => index >= first && index <= last);
}

export interface FileChange {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  /** The message of its first change. */
  readonly index: number;
}

/** The changed files, the most changed first. */
export function filesOf(calls: readonly Call[]): readonly FileChange[] {
  const files = new Map<string, FileChange>();
  for (const { path, added, removed, index } of calls) {
    if (path === null) continue;
    const known = files.get(path) ?? { path, added: 0, removed: 0, index };
    files.set(path, {
      ...known,
      added: known.added + added,
      removed: known.removed + removed,
    });
  }
  const size = ({ added, removed }: FileChange) => added + removed;
  return [...files.values()].sort((one, other) => size(other) - size(one));
}

/** `+14 −3`; empty without lines. */
export function lineCounts({ added, removed }: Pick<FileChange, "added" | "removed">): string {
  return [added > 0 ? `+${added}` : "", removed > 0 ? `−${removed}` : ""].filter(Boolean).join(" ");
}

/** `6 reads, 2 edits +14 −3, 4 commands`. */
export function callCounts(calls: readonly Call[]): string {
  const count = (kind: Call["kind"]) => calls.filter((call) => call.kind === kind).length;
  const sum = (field: "added" | "removed") => calls.reduce((total, call) => total + call[field], 0);
  const edits = `${counted(count("edit"), "edit")} ${lineCounts({ added: sum("added"), removed: sum("removed") })}`;
  return [
    count("read") > 0 ? counted(count("read"), "read") : "",
    count("edit") > 0 ? edits.trim() : "",
    count("run") > 0 ? counted(count("run"), "command") : "",
    count("other") > 0 ? counted(count("other"), "other call") : "",
  ]
    .filter(Boolean)
    .join(", ");
}
