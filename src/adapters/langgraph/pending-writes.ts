/**
 * Writes of tasks that belong to a checkpoint and are not part of the next one yet: one record per
 * task.
 */

import { eachRecord, type RecordsApi } from "../../engine/records/records.ts";
import { BackscrollError } from "../../model/errors.ts";
import { type Dumped, fromFrame, toFrame } from "./frames.ts";
import { type Line, taskOf, writesKey, writesOf } from "./keys.ts";
import type { PendingWrite, Serializer } from "./sdk-types.ts";

/** The fixed indexes of LangGraph's special channels: a task keeps the last write to each. */
const SPECIAL: ReadonlyMap<string, number> = new Map([
  ["__error__", -1],
  ["__scheduled__", -2],
  ["__interrupt__", -3],
  ["__resume__", -4],
]);

/** Retries of a compare-and-swap that lost to a concurrent writer of the same task. */
const MAX_TRIES = 16;

type Slot = readonly [channel: string, index: number];

export class PendingWrites {
  readonly #records: RecordsApi;
  readonly #namespace: string;
  readonly #serde: Serializer;
  readonly #ttl: number | null;

  constructor(records: RecordsApi, namespace: string, serde: Serializer, ttl: number | null) {
    this.#records = records;
    this.#namespace = namespace;
    this.#serde = serde;
    this.#ttl = ttl;
  }

  /** First write wins for a task and an index; for a special channel, the last one. */
  async put(
    line: Line,
    checkpointId: string,
    writes: readonly (readonly [string, unknown])[],
    taskId: string,
  ): Promise<void> {
    const key = writesKey(line, checkpointId, taskId);
    const dumped = await Promise.all(writes.map(([, value]) => this.#serde.dumpsTyped(value)));
    const slots = writes.map(([channel], i): Slot => [channel, SPECIAL.get(channel) ?? i]);
    let seen: { readonly value: unknown; readonly version: string } | undefined;
    for (let tries = 1; ; tries++) {
      const merged = new Map<number, readonly [Slot, Dumped]>();
      if (seen !== undefined) {
        const { header, parts } = fromFrame<readonly Slot[]>(seen.value, key);
        for (const [i, slot] of header.entries()) merged.set(slot[1], [slot, parts[i] as Dumped]);
      }
      for (const [i, slot] of slots.entries()) {
        const [, index] = slot;
        if (index < 0 || !merged.has(index)) merged.set(index, [slot, dumped[i] as Dumped]);
      }
      const all = [...merged.values()].sort(([[, a]], [[, b]]) => a - b);
      const value = toFrame(
        all.map(([slot]) => slot),
        all.map(([, part]) => part),
      );
      const expectedVersion = seen?.version ?? null;
      const record = { namespace: this.#namespace, key, value, ttl: this.#ttl, expectedVersion };
      try {
        await this.#records.compareAndSet(record);
        return;
      } catch (error) {
        if (!BackscrollError.is(error, "record_conflict") || tries === MAX_TRIES) throw error;
        seen = await this.#records.find(this.#namespace, key);
      }
    }
  }

  /** In the order of tasks, and of each task's writes. */
  async list(line: Line, checkpointId: string): Promise<PendingWrite[]> {
    const found: PendingWrite[] = [];
    const prefix = writesOf(line, checkpointId);
    const range = { namespace: this.#namespace, prefix, values: true } as const;
    for await (const { key, value } of eachRecord(this.#records, range)) {
      const { header, parts } = fromFrame<readonly Slot[]>(value, key);
      for (const [i, [channel]] of header.entries()) {
        const [type, bytes] = parts[i] as Dumped;
        found.push([taskOf(key), channel, await this.#serde.loadsTyped(type, bytes)]);
      }
    }
    return found;
  }
}
