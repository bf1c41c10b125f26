/** The records of checkpoints, and a cache of the parts that their children need. */

import { eachRecord, type RecordsApi } from "../../engine/records/records.ts";
import type { StoredRecord } from "../../model/record.ts";
import type { StoredValue } from "./channel-values.ts";
import { type Dumped, fromFrame, toFrame } from "./frames.ts";
import { checkpointKey, checkpointsOf, type Line, readCheckpointKey } from "./keys.ts";
import type { ChannelVersion } from "./sdk-types.ts";

export type Channels = ReadonlyMap<string, StoredValue>;

export interface StoredCheckpoint {
  readonly line: Line;
  readonly id: string;
  readonly parent: string | null;
  readonly channels: Channels;
  /** The checkpoint without its values, and its metadata. */
  readonly parts: readonly Dumped[];
}

/** The part of a checkpoint that its children need. */
export interface KnownCheckpoint {
  readonly channels: Channels;
  /** The version of the record that names these channels. */
  readonly version: string;
}

/** The header of a checkpoint's record. */
interface Header {
  readonly parent: string | null;
  readonly channels: readonly (readonly [string, StoredValue])[];
}

/** Checkpoints whose channels this process caches. */
const KNOWN_CHECKPOINTS = 256;
const PAGE = 50;

export class CheckpointRecords {
  readonly #records: RecordsApi;
  readonly #namespace: string;
  /** By their keys; the oldest are forgotten first. */
  readonly #known = new Map<string, KnownCheckpoint>();

  constructor(records: RecordsApi, namespace: string) {
    this.#records = records;
    this.#namespace = namespace;
  }

  async find(line: Line, id: string): Promise<StoredCheckpoint | undefined> {
    const record = await this.#records.find(this.#namespace, checkpointKey(line, id));
    return record && this.#seen(record);
  }

  async newest(line: Line): Promise<StoredCheckpoint | undefined> {
    const which = { namespace: this.#namespace, prefix: checkpointsOf(line), limit: 1 };
    const { records } = await this.#records.list({ ...which, values: true });
    const [record] = records;
    return record && this.#seen(record);
  }

  /** From the cache if it is there: another process may have replaced or deleted it since. */
  async known(line: Line, id: string): Promise<KnownCheckpoint | undefined> {
    const key = checkpointKey(line, id);
    if (!this.#known.has(key)) await this.find(line, id);
    return this.#known.get(key);
  }

  /** Whether some checkpoint of the thread has this version of a channel. */
  async hasVersion(line: Line, channel: string, version: ChannelVersion): Promise<boolean> {
    for await (const { channels } of this.below(line)) {
      if (channels.get(channel)?.version === version) return true;
    }
    return false;
  }

  /** From the newest to the oldest of each thread and namespace. */
  async *below(place: Partial<Line>): AsyncGenerator<StoredCheckpoint> {
    const prefix = checkpointsOf(place);
    const range = { namespace: this.#namespace, prefix, limit: PAGE, values: true } as const;
    for await (const record of eachRecord(this.#records, range)) yield toStored(record);
  }

  know(key: string, known: KnownCheckpoint): void {
    this.#known.delete(key);
    this.#known.set(key, known);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= KNOWN_CHECKPOINTS) return;
      this.#known.delete(oldest);
    }
  }

  /** Drops the cached channels of a thread, or of all. */
  forget(place: Partial<Line>): void {
    for (const key of [...this.#known.keys()]) {
      if (key.startsWith(checkpointsOf(place))) this.#known.delete(key);
    }
  }

  #seen(record: StoredRecord): StoredCheckpoint {
    const stored = toStored(record);
    this.know(record.key, { channels: stored.channels, version: record.version });
    return stored;
  }
}

/** The value of a checkpoint's record. */
export function toRecordValue(
  parent: string | undefined,
  channels: Channels,
  parts: readonly Dumped[],
): Uint8Array {
  const header: Header = { parent: parent ?? null, channels: [...channels] };
  return toFrame(header, parts);
}

export function toStored({ key, value }: StoredRecord): StoredCheckpoint {
  const { header, parts } = fromFrame<Header>(value, key);
  const { id, ...line } = readCheckpointKey(key);
  return { line, id, parent: header.parent, channels: new Map(header.channels), parts };
}
