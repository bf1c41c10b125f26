/**
 * A checkpointer of LangGraph on records.
 *
 * A checkpoint's record names the pieces of its channel values; unchanged values share the parent's
 * pieces. Write ordering: the pieces first, then the checkpoint that names them, in one transaction
 * if they fit. A checkpoint that shares pieces is written only if its parent is unchanged
 * (compare-and-swap): otherwise a concurrent prune may have deleted them, and they are stored
 * again.
 */

import type { TenantApi } from "../../engine/interfaces.ts";
import type { RecordOperation } from "../../engine/records/record-input.ts";
import type { RecordsApi } from "../../engine/records/records.ts";
import { BackscrollError } from "../../model/errors.ts";
import { checkFields } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { MAX_RECORD_OPERATIONS } from "../../model/limits.ts";
import { deleteBelow } from "../common/records.ts";
import { checkTenant } from "../common/sessions.ts";
import { ChannelValues, type StoredValue } from "./channel-values.ts";
import {
  type Channels,
  CheckpointRecords,
  type Dumped,
  type KnownCheckpoint,
  PendingWrites,
  type StoredCheckpoint,
  toRecordValue,
  toStored,
} from "./checkpoint-records.ts";
import {
  checkPart,
  checkpointIdOf,
  checkpointKey,
  configOf,
  keysOf,
  type Line,
  lineOf,
  missing,
  requireLine,
  valuesOf,
} from "./keys.ts";
import { MessageMirror } from "./message-mirror.ts";
import { loadPeer, PEER } from "./peer.ts";
import { type Draft, PieceStore } from "./piece-store.ts";
import { type Pruned, type PruneOptions, pruneThreads } from "./prune.ts";
import type {
  ChannelVersion,
  CheckpointListOptions,
  GraphCheckpoint,
  GraphCheckpointTuple,
  GraphConfig,
  GraphMetadata,
  PendingWrite,
  Serializer,
} from "./sdk-types.ts";

export interface CheckpointSaverOptions {
  /** The namespace of its records. Default: `langgraph`. */
  readonly namespace?: string;
  /** Default: LangGraph's own. */
  readonly serde?: Serializer;
  /** The time to live of a checkpoint, in seconds. Default: until `prune` or `deleteThread`. */
  readonly ttl?: number;
  /** Bytes of cached values. Default: 16 MiB; 0: all values are read from the store. */
  readonly cacheBytes?: number;
  /**
   * The channel whose messages also become a session, so that search finds them and people can read
   * them. Default: `messages`. Null: none.
   */
  readonly messages?: string | null;
  /** The agent of those sessions. Default: `langgraph`. */
  readonly agent?: string;
  /** The author of requests. Default: `user`. */
  readonly user?: string;
}

/** `graph.compile({ checkpointer: checkpointSaver(memory) })`. */
export function checkpointSaver(
  tenant: TenantApi,
  options: CheckpointSaverOptions = {},
): CheckpointSaver {
  return new CheckpointSaver(tenant, options);
}

const DEFAULT_CACHE_BYTES = 16 * 1024 * 1024;
/** Bytes of one transaction: a batch of records holds 17 MiB, names included. */
const MAX_WRITE_BYTES = 16 * 1024 * 1024;
/** Tasks that older versions of LangGraph kept as writes of the parent. */
const TASKS = "__pregel_tasks";

export class CheckpointSaver {
  readonly serde: Serializer;
  readonly #records: RecordsApi;
  readonly #namespace: string;
  readonly #ttl: number | undefined;
  readonly #checkpoints: CheckpointRecords;
  readonly #pieces: PieceStore;
  readonly #values: ChannelValues;
  readonly #writes: PendingWrites;
  readonly #mirror: MessageMirror | undefined;

  constructor(tenant: TenantApi, options: CheckpointSaverOptions) {
    checkFields(options, "options", INPUTS.checkpointSaver);
    checkTenant(tenant);
    const { namespace = "langgraph", cacheBytes = DEFAULT_CACHE_BYTES, ttl } = options;
    const { messages = "messages", agent = "langgraph", user = "user" } = options;
    this.serde = options.serde ?? lazySerializer();
    this.#records = tenant.records;
    this.#namespace = namespace;
    this.#ttl = ttl;
    this.#checkpoints = new CheckpointRecords(tenant.records, namespace);
    this.#pieces = new PieceStore(tenant.records, namespace, this.serde, cacheBytes);
    this.#values = new ChannelValues(this.#pieces);
    this.#writes = new PendingWrites(tenant.records, namespace, this.serde, ttl ?? null);
    this.#mirror =
      messages === null ? undefined : new MessageMirror(tenant, messages, { agent, user });
  }

  /** For programs that print a graph's configuration. */
  toJSON(): string {
    return "[CheckpointSaver]";
  }

  async get(config: GraphConfig): Promise<GraphCheckpoint | undefined> {
    return (await this.getTuple(config))?.checkpoint;
  }

  /** The checkpoint that `config` names, or the newest one of its thread. */
  async getTuple(config: GraphConfig): Promise<GraphCheckpointTuple | undefined> {
    const line = lineOf(config);
    if (line === undefined) return undefined;
    const id = checkpointIdOf(config);
    const stored =
      id === undefined
        ? await this.#checkpoints.newest(line)
        : await this.#checkpoints.find(line, id);
    return stored && this.#toTuple(stored);
  }

  /** From the newest to the oldest of each thread and namespace. */
  async *list(
    config: GraphConfig,
    options: CheckpointListOptions = {},
  ): AsyncGenerator<GraphCheckpointTuple> {
    const { limit = Number.POSITIVE_INFINITY, before, filter } = options;
    const { checkpoint_ns: ns, checkpoint_id: id } = config.configurable ?? {};
    const { thread } = lineOf(config) ?? {};
    const end: unknown = before?.configurable?.["checkpoint_id"];
    let found = 0;
    const place: Partial<Line> =
      thread === undefined ? {} : ns === undefined ? { thread } : { thread, ns };
    if (limit <= 0) return;
    for await (const stored of this.#checkpoints.below(place)) {
      if (ns !== undefined && stored.line.ns !== ns) continue;
      if (id !== undefined && stored.id !== id) continue;
      if (typeof end === "string" && stored.id >= end) continue;
      const metadata = await this.#load(stored.parts[1]);
      if (!fits(metadata, filter)) continue;
      yield await this.#toTuple(stored, metadata);
      found += 1;
      if (found >= limit) return;
    }
  }

  /** Stores the values of the channels in `newVersions`; the others are the parent's. */
  async put(
    config: GraphConfig,
    checkpoint: GraphCheckpoint,
    metadata: GraphMetadata,
    newVersions: Readonly<Record<string, ChannelVersion>>,
  ): Promise<GraphConfig> {
    const line = requireLine(config);
    const parent = checkpointIdOf(config);
    const known = parent === undefined ? undefined : await this.#checkpoints.known(line, parent);
    try {
      await this.#store(line, checkpoint, metadata, newVersions, parent, known);
    } catch (error) {
      const isGone =
        BackscrollError.is(error, "record_not_found") ||
        BackscrollError.is(error, "record_conflict");
      if (known === undefined || !isGone) throw error;
      // The parent was replaced or deleted meanwhile, possibly with the shared pieces.
      this.#forget(line.thread);
      const all = checkpoint.channel_versions;
      await this.#store(line, checkpoint, metadata, all, parent, undefined);
    }
    return configOf(line, checkpoint.id);
  }

  /** Stores the writes of a task. A write that is already stored under its task and index stays. */
  async putWrites(
    config: GraphConfig,
    writes: readonly (readonly [string, unknown])[],
    taskId: string,
  ): Promise<void> {
    const line = requireLine(config);
    const id = checkpointIdOf(config);
    if (id === undefined) throw missing("checkpoint_id");
    await this.#writes.put(line, id, writes, checkPart(taskId, "task_id"));
  }

  /** Deletes all checkpoints and writes of a thread, and the session of its messages. */
  async deleteThread(threadId: string): Promise<void> {
    const thread = checkPart(threadId, "thread_id");
    this.#forget(thread);
    for (const prefix of keysOf(thread)) {
      await deleteBelow(this.#records, this.#namespace, prefix);
    }
    await this.#mirror?.deleteThread(thread);
  }

  /** Deletes old checkpoints, their writes, and the values that no other checkpoint names. */
  async prune(options: PruneOptions = {}): Promise<Pruned> {
    checkFields(options, "options", INPUTS.pruneCheckpoints);
    const pruned = await pruneThreads(
      {
        records: this.#records,
        namespace: this.#namespace,
        read: async (record) => {
          const { parent, channels, parts } = toStored(record);
          const { ts } = (await this.#load(parts[0])) as GraphCheckpoint;
          return { parent, channels, at: Date.parse(ts), metadata: await this.#load(parts[1]) };
        },
      },
      options,
    );
    this.#checkpoints.forget({});
    return pruned;
  }

  /** The writes to some channels on the way to a checkpoint, from the nearest stored value on. */
  async getDeltaChannelHistory(options: {
    readonly config: GraphConfig;
    readonly channels: string[];
  }): Promise<Record<string, { writes: PendingWrite[]; seed?: unknown }>> {
    const found = new Map(
      options.channels.map((channel) => [channel, { writes: [] as PendingWrite[] }]),
    );
    const open = new Set(options.channels);
    const line = lineOf(options.config);
    const id = checkpointIdOf(options.config);
    if (line === undefined) return Object.fromEntries(found);
    const target =
      id === undefined
        ? await this.#checkpoints.newest(line)
        : await this.#checkpoints.find(line, id);
    let parent = target?.parent ?? null;
    while (parent !== null && open.size > 0) {
      const stored = await this.#checkpoints.find(line, parent);
      if (stored === undefined) break;
      const writes = await this.#writes.list(line, parent);
      const seeds = await this.#values.load(line, only(stored.channels, open));
      for (const channel of open) {
        const history = found.get(channel) as { writes: PendingWrite[]; seed?: unknown };
        history.writes.unshift(...writes.filter(([, name]) => name === channel));
        if (seeds[channel] === undefined) continue;
        history.seed = seeds[channel];
        open.delete(channel);
      }
      parent = stored.parent;
    }
    return Object.fromEntries(found);
  }

  getNextVersion(current: number | undefined): number {
    return (current ?? 0) + 1;
  }

  /**
   * Throws `record_not_found` or `record_conflict` if the checkpoint shares pieces with a parent
   * that was deleted or replaced.
   */
  async #store(
    line: Line,
    checkpoint: GraphCheckpoint,
    metadata: GraphMetadata,
    newVersions: Readonly<Record<string, ChannelVersion>>,
    parent: string | undefined,
    known: KnownCheckpoint | undefined,
  ): Promise<void> {
    const { channel_values: values, ...rest } = checkpoint;
    const at = Math.floor(Date.now() / 1_000);
    const oldest = this.#ttl === undefined ? 0 : at - this.#ttl;
    const channels = new Map<string, StoredValue>();
    const drafts: Draft[] = [];
    for (const [channel, value] of Object.entries(values)) {
      const version = checkpoint.channel_versions[channel] ?? newVersions[channel] ?? 0;
      const earlier = known?.channels.get(channel);
      const isChanged = Object.hasOwn(newVersions, channel);
      const isParents = !isChanged && earlier?.version === version;
      if (!isChanged && !isParents && !(await this.#checkpoints.hasVersion(line, channel, version)))
        continue;
      const planned = isParents
        ? undefined
        : await this.#values.plan(line, value, version, earlier, at);
      const shared = planned?.stored ?? (earlier as StoredValue);
      const renewed = await this.#values.renew(line, shared, oldest, at);
      channels.set(channel, renewed.stored);
      drafts.push(...(planned?.drafts ?? []), ...renewed.drafts);
      if (planned !== undefined && planned.added > 0 && Array.isArray(value)) {
        await this.#mirror?.add(line, channel, value.slice(-planned.added), checkpoint.id);
      }
    }
    const parts = await Promise.all([this.serde.dumpsTyped(rest), this.serde.dumpsTyped(metadata)]);
    const key = checkpointKey(line, checkpoint.id);
    const value = toRecordValue(parent, channels, parts);
    const place = { namespace: this.#namespace, key };
    const put = { ...place, value, ttl: this.#ttl ?? null };
    const shared = sharesAny(channels, drafts) ? known : undefined;
    const expected = shared && { expectedVersion: shared.version };
    const parentKey = checkpointKey(line, parent ?? "");
    const last: RecordOperation[] =
      parentKey === key || shared === undefined
        ? [{ put: { ...put, ...expected } }]
        : [{ check: { ...place, key: parentKey, ...expected } }, { put }];
    const version = await this.#write(line, drafts, last, value.length);
    for (const draft of drafts) this.#pieces.remember(line, draft);
    this.#checkpoints.know(key, { channels, version });
  }

  /**
   * Writes the pieces, and with the last of them `last`, which has `lastBytes`. Gives the version
   * of its put.
   */
  async #write(
    line: Line,
    drafts: readonly Draft[],
    last: readonly RecordOperation[],
    lastBytes: number,
  ): Promise<string> {
    // A piece outlasts every checkpoint that may name it: `renew` replaces those older than the ttl.
    const ttl = this.#ttl === undefined ? undefined : 2 * this.#ttl;
    let batch: RecordOperation[] = [];
    let bytes = lastBytes;
    for (const draft of drafts) {
      const size = draft.piece[1];
      const isFull = batch.length + last.length === MAX_RECORD_OPERATIONS;
      if (bytes + size > MAX_WRITE_BYTES || isFull) {
        await this.#records.write(batch);
        batch = [];
        bytes = lastBytes;
      }
      batch.push(this.#pieces.toWrite(line, draft, ttl));
      bytes += size;
    }
    const written = await this.#records.write([...batch, ...last]);
    return written.at(-1)?.version ?? "";
  }

  async #toTuple(stored: StoredCheckpoint, metadata?: unknown): Promise<GraphCheckpointTuple> {
    const { line, id, parent, channels, parts } = stored;
    const [rest, values, pendingWrites] = await Promise.all([
      this.#load(parts[0]) as Promise<GraphCheckpoint>,
      this.#values.load(line, channels),
      this.#writes.list(line, id),
    ]);
    const checkpoint: GraphCheckpoint = { ...rest, channel_values: values };
    if (checkpoint.v < 4 && parent !== null) await this.#addTasks(checkpoint, line, parent);
    return {
      config: configOf(line, id),
      checkpoint,
      metadata: metadata ?? (await this.#load(parts[1])),
      ...(parent === null ? {} : { parentConfig: configOf(line, parent) }),
      pendingWrites,
    };
  }

  async #addTasks(checkpoint: GraphCheckpoint, line: Line, parent: string): Promise<void> {
    const writes = await this.#writes.list(line, parent);
    const { channel_values: values, channel_versions: versions } = checkpoint;
    values[TASKS] = writes.flatMap(([, channel, value]) => (channel === TASKS ? [value] : []));
    const highest = Object.values(versions).sort(compareVersions).at(-1);
    versions[TASKS] = highest ?? this.getNextVersion(undefined);
  }

  #forget(thread: string): void {
    this.#checkpoints.forget({ thread });
    this.#pieces.forget(valuesOf({ thread }));
  }

  async #load(part: Dumped | undefined): Promise<unknown> {
    return part && this.serde.loadsTyped(...part);
  }
}

/** Whether channels have pieces other than these. */
function sharesAny(channels: Channels, drafts: readonly Draft[]): boolean {
  const written = new Set(drafts.map(({ piece: [id] }) => id));
  return [...channels.values()].some(({ pieces }) => pieces.some(([id]) => !written.has(id)));
}

function only<Value>(
  all: ReadonlyMap<string, Value>,
  names: ReadonlySet<string>,
): ReadonlyMap<string, Value> {
  return new Map([...all].filter(([name]) => names.has(name)));
}

function fits(metadata: unknown, filter: Readonly<Record<string, unknown>> = {}): boolean {
  const fields = Object(metadata) as Readonly<Record<string, unknown>>;
  return Object.entries(filter).every(([name, value]) => fields[name] === value);
}

function compareVersions(a: ChannelVersion, b: ChannelVersion): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a) < String(b) ? -1 : 1;
}

function lazySerializer(): Serializer {
  let loading: Promise<Serializer> | undefined;
  const load = () => (loading ??= loadSerializer());
  return {
    dumpsTyped: async (value) => (await load()).dumpsTyped(value),
    loadsTyped: async (type, bytes) => (await load()).loadsTyped(type, bytes),
  };
}

async function loadSerializer(): Promise<Serializer> {
  try {
    const { MemorySaver } = await loadPeer();
    return new MemorySaver().serde;
  } catch (cause) {
    throw new BackscrollError(
      "invalid_input",
      `${PEER} cannot be loaded; install it, or give serde: new MemorySaver().serde`,
      { details: { field: "serde" }, cause },
    );
  }
}
