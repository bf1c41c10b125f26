/**
 * Observational memory as records, of a thread or a resource, the newest generation first. A record
 * under the id of each names its place. Changes are compare-and-swap, so that concurrent writers
 * lose no update.
 */

import { BackscrollError } from "../../model/errors.ts";
import { isPlainObject } from "../../model/json.ts";
import type { StoredRecord } from "../../model/record.ts";
import { toRecordText } from "../common/records.ts";
import { untilWritten } from "../common/sessions.ts";
import {
  checkName,
  isWithin,
  observationIdKey,
  observationKey,
  observationsOf,
  type RecordStore,
  toJson,
} from "./record-store.ts";
import type {
  Activated,
  Activation,
  NewObservations,
  ObservationChunk,
  ObservationRecord,
} from "./sdk-types.ts";

export class ObservationRecords {
  readonly #store: RecordStore;
  #lastStamp = 0;

  constructor(store: RecordStore) {
    this.#store = store;
  }

  async getObservationalMemory(
    threadId: string | null,
    resourceId: string,
  ): Promise<ObservationRecord | null> {
    for await (const record of this.#store.values(observationsOf(threadId, resourceId), 1)) {
      return toObservations(record);
    }
    return null;
  }

  async getObservationalMemoryHistory(
    threadId: string | null,
    resourceId: string,
    limit?: number,
    options: { readonly from?: Date; readonly to?: Date; readonly offset?: number } = {},
  ): Promise<ObservationRecord[]> {
    const { from: start, to: end, offset = 0 } = options;
    const found: ObservationRecord[] = [];
    for await (const record of this.#store.values(observationsOf(threadId, resourceId))) {
      const observations = toObservations(record);
      const range = { ...(start && { start }), ...(end && { end }) };
      if (isWithin(observations.createdAt.getTime(), range)) found.push(observations);
    }
    return found.slice(offset, limit === undefined ? undefined : offset + limit);
  }

  async initializeObservationalMemory(input: NewObservations): Promise<ObservationRecord> {
    const record = newRecord(input, { originType: "initial", generationCount: 0 });
    await this.insertObservationalMemoryRecord(record);
    return record;
  }

  async insertObservationalMemoryRecord(record: ObservationRecord): Promise<void> {
    const { threadId, resourceId, generationCount } = record;
    const id = checkName(record.id, "record.id");
    this.#lastStamp = Math.max(this.#lastStamp + 1, Date.now() * 1_000);
    const place = { generation: generationCount, stamp: this.#lastStamp, id };
    const key = observationKey(observationsOf(threadId, resourceId), place);
    await this.#store.write([
      this.#store.put(key, toJson(record, "record"), textOf(record)),
      this.#store.put(observationIdKey(id), key),
    ]);
  }

  async updateActiveObservations(input: {
    readonly id: string;
    readonly observations: string;
    readonly tokenCount: number;
    readonly lastObservedAt: Date;
    readonly observedMessageIds?: string[];
  }): Promise<void> {
    const { observations, tokenCount, lastObservedAt, observedMessageIds } = input;
    await this.#update(input.id, (record) => ({
      ...record,
      activeObservations: observations,
      observationTokenCount: tokenCount,
      totalTokensObserved: record.totalTokensObserved + tokenCount,
      pendingMessageTokens: 0,
      lastObservedAt,
      ...(observedMessageIds && { observedMessageIds }),
    }));
  }

  async updateBufferedObservations(input: {
    readonly id: string;
    readonly chunk: ObservationChunk;
    readonly lastBufferedAtTime?: Date;
  }): Promise<void> {
    const { lastBufferedAtTime } = input;
    const chunk = { ...input.chunk, id: `ombuf-${crypto.randomUUID()}`, createdAt: new Date() };
    await this.#update(input.id, (record) => ({
      ...record,
      bufferedObservationChunks: [...(record.bufferedObservationChunks ?? []), chunk],
      ...(lastBufferedAtTime && { lastBufferedAtTime }),
    }));
  }

  async swapBufferedToActive(input: Activation): Promise<Activated> {
    let activated: Activated | undefined;
    await this.#update(input.id, (record) => {
      const swapped = activate(record, input);
      activated = swapped.activated;
      return swapped.record;
    });
    return activated as Activated;
  }

  async createReflectionGeneration(input: {
    readonly currentRecord: ObservationRecord;
    readonly reflection: string;
    readonly tokenCount: number;
  }): Promise<ObservationRecord> {
    const { currentRecord: current, reflection, tokenCount } = input;
    const record: ObservationRecord = {
      ...newRecord(current, {
        originType: "reflection",
        generationCount: current.generationCount + 1,
      }),
      lastObservedAt: current.lastObservedAt ?? new Date(),
      activeObservations: reflection,
      observationTokenCount: tokenCount,
      totalTokensObserved: current.totalTokensObserved,
    };
    await this.insertObservationalMemoryRecord(record);
    return record;
  }

  async updateBufferedReflection(input: {
    readonly id: string;
    readonly reflection: string;
    readonly tokenCount: number;
    readonly inputTokenCount: number;
    readonly reflectedObservationLineCount: number;
  }): Promise<void> {
    const { reflection, tokenCount, inputTokenCount, reflectedObservationLineCount } = input;
    await this.#update(input.id, (record) => {
      const { bufferedReflection: before, bufferedReflectionTokens = 0 } = record;
      return {
        ...record,
        bufferedReflection: before ? `${before}\n\n${reflection}` : reflection,
        bufferedReflectionTokens: bufferedReflectionTokens + tokenCount,
        bufferedReflectionInputTokens:
          (record.bufferedReflectionInputTokens ?? 0) + inputTokenCount,
        reflectedObservationLineCount,
      };
    });
  }

  /** Observations that were added after the reflection began follow it. */
  async swapBufferedReflectionToActive(input: {
    readonly currentRecord: ObservationRecord;
    readonly tokenCount: number;
  }): Promise<ObservationRecord> {
    const { id } = input.currentRecord;
    const record = toObservations(await this.#find(id));
    const { bufferedReflection, reflectedObservationLineCount: reflected = 0 } = record;
    if (!bufferedReflection) {
      throw new BackscrollError(
        "invalid_input",
        "No buffered reflection to swap; buffer one first",
        {
          details: { field: "currentRecord", id },
        },
      );
    }
    const rest = record.activeObservations.split("\n").slice(reflected).join("\n").trim();
    const reflection = rest === "" ? bufferedReflection : `${bufferedReflection}\n\n${rest}`;
    const { tokenCount } = input;
    const added = await this.createReflectionGeneration({
      currentRecord: record,
      reflection,
      tokenCount,
    });
    await this.#update(id, (current) => ({
      ...current,
      bufferedReflection: undefined,
      bufferedReflectionTokens: undefined,
      bufferedReflectionInputTokens: undefined,
      reflectedObservationLineCount: undefined,
    }));
    return added;
  }

  async setReflectingFlag(id: string, isReflecting: boolean): Promise<void> {
    await this.#update(id, (record) => ({ ...record, isReflecting }));
  }

  async setObservingFlag(id: string, isObserving: boolean): Promise<void> {
    await this.#update(id, (record) => ({ ...record, isObserving }));
  }

  async setBufferingObservationFlag(
    id: string,
    isBufferingObservation: boolean,
    lastBufferedAtTokens?: number,
  ): Promise<void> {
    await this.#update(id, (record) => ({
      ...record,
      isBufferingObservation,
      lastBufferedAtTokens: lastBufferedAtTokens ?? record.lastBufferedAtTokens,
    }));
  }

  async setBufferingReflectionFlag(id: string, isBufferingReflection: boolean): Promise<void> {
    await this.#update(id, (record) => ({ ...record, isBufferingReflection }));
  }

  async setPendingMessageTokens(id: string, pendingMessageTokens: number): Promise<void> {
    await this.#update(id, (record) => ({ ...record, pendingMessageTokens }));
  }

  async updateObservationalMemoryConfig(input: {
    readonly id: string;
    readonly config: Record<string, unknown>;
  }): Promise<void> {
    await this.#update(input.id, (record) => ({
      ...record,
      config: merge(record.config, input.config),
    }));
  }

  async clearObservationalMemory(threadId: string | null, resourceId: string): Promise<void> {
    const keys: string[] = [];
    for await (const record of this.#store.values(observationsOf(threadId, resourceId))) {
      keys.push(record.key, observationIdKey(toObservations(record).id));
    }
    await this.#store.deleteAll(keys);
  }

  async #update(
    id: string,
    change: (record: ObservationRecord) => ObservationRecord,
  ): Promise<void> {
    await untilWritten(async () => {
      const stored = await this.#find(id);
      const changed = { ...change(toObservations(stored)), updatedAt: new Date() };
      const options = { ...textOf(changed), expectedVersion: stored.version };
      await this.#store.write([this.#store.put(stored.key, toJson(changed, "record"), options)]);
    });
  }

  async #find(id: string): Promise<StoredRecord> {
    const place = await this.#store.find(observationIdKey(checkName(id, "id")));
    const stored = place === undefined ? undefined : await this.#store.find(String(place.value));
    if (stored !== undefined) return stored;
    // In Mastra's words: programs look for them.
    throw new BackscrollError("invalid_input", `Observational memory record not found: ${id}`, {
      details: { field: "id", id },
    });
  }
}

function newRecord(
  { scope, threadId, resourceId, config, observedTimezone }: NewObservations,
  origin: Pick<ObservationRecord, "originType" | "generationCount">,
): ObservationRecord {
  const now = new Date();
  const record: ObservationRecord = {
    id: crypto.randomUUID(),
    scope,
    threadId,
    resourceId,
    createdAt: now,
    updatedAt: now,
    ...origin,
    activeObservations: "",
    totalTokensObserved: 0,
    observationTokenCount: 0,
    pendingMessageTokens: 0,
    isReflecting: false,
    isObserving: false,
    isBufferingObservation: false,
    isBufferingReflection: false,
    lastBufferedAtTokens: 0,
    lastBufferedAtTime: null,
    config,
    metadata: {},
  };
  return observedTimezone === undefined ? record : { ...record, observedTimezone };
}

/** `records.search` finds observations by their words. */
function textOf({ activeObservations }: ObservationRecord): { readonly text: string | null } {
  return { text: toRecordText(activeObservations) };
}

function toObservations({ value }: StoredRecord): ObservationRecord {
  const record = value as unknown as ObservationRecord;
  const { lastObservedAt, lastBufferedAtTime, bufferedObservationChunks: chunks } = record;
  return {
    ...record,
    createdAt: new Date(record.createdAt),
    updatedAt: new Date(record.updatedAt),
    lastBufferedAtTime: lastBufferedAtTime === null ? null : new Date(lastBufferedAtTime),
    ...(lastObservedAt === undefined ? {} : { lastObservedAt: new Date(lastObservedAt) }),
    ...(chunks === undefined ? {} : { bufferedObservationChunks: chunks.map(toChunk) }),
  };
}

function toChunk(chunk: ObservationChunk): ObservationChunk {
  const { createdAt, lastObservedAt } = chunk;
  const revived = { ...chunk, lastObservedAt: new Date(lastObservedAt) };
  return createdAt === undefined ? revived : { ...revived, createdAt: new Date(createdAt) };
}

/** Merges objects; replaces other values. */
function merge(
  before: Record<string, unknown>,
  given: Record<string, unknown>,
): Record<string, unknown> {
  const merged = { ...before };
  for (const [name, value] of Object.entries(given)) {
    const old = merged[name];
    if (isPlainObject(old) && isPlainObject(value)) merged[name] = merge(old, value);
    else if (value !== undefined) merged[name] = value;
  }
  return merged;
}

/** The limit of a whole chunk, as a share of the tokens that should remain. */
const MAX_OVERSHOOT = 0.95;
/** Tokens of messages that always remain, unless fewer should. */
const MIN_LEFT = 1_000;

/** The record after the activation; the same one if nothing is buffered. */
export function activate(
  record: ObservationRecord,
  input: Activation,
): { readonly record: ObservationRecord; readonly activated: Activated } {
  const chunks = input.bufferedChunks ?? record.bufferedObservationChunks ?? [];
  const chosen = chunks.slice(0, countActivated(chunks, input));
  const last = chosen.at(-1);
  if (last === undefined) return { record, activated: toActivated([]) };
  const rest = chunks.slice(chosen.length);
  const lastObservedAt = input.lastObservedAt ?? new Date(last.lastObservedAt);
  const activated = toActivated(chosen);
  const { activeObservations: active } = record;
  // The words are Mastra's: its observer looks for them.
  const boundary = `\n\n--- message boundary (${lastObservedAt.toISOString()}) ---\n\n`;
  const added = activated.observations ?? "";
  const changed: ObservationRecord = {
    ...record,
    activeObservations: active === "" ? added : `${active}${boundary}${added}`,
    observationTokenCount: record.observationTokenCount + activated.observationTokensActivated,
    pendingMessageTokens: Math.max(
      0,
      record.pendingMessageTokens - activated.messageTokensActivated,
    ),
    bufferedObservationChunks: rest.length === 0 ? undefined : [...rest],
    lastObservedAt,
  };
  return { record: changed, activated };
}

/**
 * The number of chunks to activate, whole and oldest first: enough to reduce the messages to the
 * tokens that should remain, or one fewer if the last chunk would remove nearly all of those.
 */
function countActivated(chunks: readonly ObservationChunk[], input: Activation): number {
  if (chunks.length === 0) return 0;
  const { currentPendingTokens: pending, forceMaxActivation = false } = input;
  const toStay = input.messageTokensThreshold * (1 - input.activationRatio);
  const target = Math.max(0, pending - toStay);
  const least = Math.min(MIN_LEFT, toStay);
  let gone = 0;
  const sums = chunks.map(({ messageTokens }) => (gone += messageTokens ?? 0));
  const enough = sums.findIndex((sum) => sum >= target);
  // Chunks without tokens have no effect, so the first of equal sums counts.
  const under = sums.slice(0, enough < 0 ? sums.length : enough);
  const most = Math.max(0, ...under);
  const fewer = most === 0 ? 0 : under.indexOf(most) + 1;
  const leaves = (count: number) => pending - (sums[count - 1] ?? 0) >= least;
  if (enough >= 0) {
    const count = enough + 1;
    const over = (sums[enough] ?? 0) - target;
    const isClose = forceMaxActivation || over <= toStay * MAX_OVERSHOOT;
    if (isClose && leaves(count)) return count;
    return fewer > 0 && leaves(fewer) ? fewer : count;
  }
  return fewer > 0 && leaves(fewer) ? fewer : 1;
}

function toActivated(chunks: readonly ObservationChunk[]): Activated {
  const sum = (of: (chunk: ObservationChunk) => number) =>
    chunks.reduce((total, chunk) => total + of(chunk), 0);
  const activated: Activated = {
    chunksActivated: chunks.length,
    messageTokensActivated: sum(({ messageTokens }) => messageTokens ?? 0),
    observationTokensActivated: sum(({ tokenCount }) => tokenCount),
    messagesActivated: sum(({ messageIds }) => messageIds.length),
    activatedCycleIds: chunks.flatMap(({ cycleId }) => (cycleId ? [cycleId] : [])),
    activatedMessageIds: chunks.flatMap(({ messageIds }) => messageIds),
  };
  if (chunks.length === 0) return activated;
  const { suggestedContinuation, currentTask } = chunks.at(-1) as ObservationChunk;
  return {
    ...activated,
    observations: chunks.map(({ observations }) => observations).join("\n\n"),
    perChunk: chunks.map((chunk) => ({
      cycleId: chunk.cycleId ?? "",
      messageTokens: chunk.messageTokens ?? 0,
      observationTokens: chunk.tokenCount,
      messageCount: chunk.messageIds.length,
      observations: chunk.observations,
    })),
    suggestedContinuation,
    currentTask,
  };
}
