/**
 * A follower that keeps a host's vectors in step with the store.
 *
 * It follows the change feed: committed messages and current facts get vectors; erased, superseded
 * and deleted ones lose theirs. All steps are idempotent, so a restart from the last cursor misses
 * nothing.
 */

import { backOffMs, pause } from "../../async/pause.ts";
import type { Change } from "../../model/change.ts";
import { BackscrollError } from "../../model/errors.ts";
import { checkPart } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import type { Embedder, StoredVector, VectorStore, VectorTarget } from "../../model/models.ts";
import { indexableText } from "../../search/document/indexable-text.ts";
import { redact } from "../../secrets/redact.ts";
import { checkInput } from "../check.ts";
import type { TenantEngine } from "../tenant-engine.ts";

export interface FollowEmbeddingsInput {
  readonly embedder: Embedder;
  readonly vectors: VectorStore;
  /** The last run's cursor. Default: the start of the feed. */
  readonly after?: string;
  /** Texts per call of the embedder. Default 64. */
  readonly batch?: number;
  readonly retry?: RetryOptions;
  /** Ends it, and abandons the step in progress. */
  readonly signal?: AbortSignal;
}

/** Progress: everything up to the cursor is in the vector store. */
export interface EmbeddingProgress {
  /** The host stores it and passes it as `after`. */
  readonly cursor: string;
  readonly put: number;
  readonly deleted: number;
}

const DEFAULT_BATCH = 64;
const PAGE = 500;

/**
 * Runs until the signal or the store ends it. Throws errors of the embedder or the vector store
 * after retries; never skips a change.
 */
export async function* followEmbeddings(
  tenant: TenantEngine,
  input: FollowEmbeddingsInput,
): AsyncGenerator<EmbeddingProgress, void> {
  const batch = checkFollower(input);
  const { signal } = input;
  let after = input.after ?? "start";
  try {
    while (signal?.aborted !== true) {
      const page = await tenant.listChanges({ after, limit: PAGE });
      if (page.changes.length > 0) {
        const done = await carryOut(tenant, page.changes, { ...input, batch });
        after = page.next;
        yield { cursor: after, ...done };
      } else if (page.end) {
        await nextChange(tenant, after, signal);
      } else {
        after = page.next;
      }
    }
  } catch (error) {
    // Closing the store ends the feed, like the signal.
    if (signal?.aborted !== true && !BackscrollError.is(error, "store_closed")) throw error;
  }
}

/** Gives the batch size. */
function checkFollower(input: FollowEmbeddingsInput): number {
  const { batch = DEFAULT_BATCH, retry } = checkInput(input, "options", INPUTS.followEmbeddings);
  if (retry !== undefined) checkPart(retry, "retry", INPUTS["followEmbeddings.retry"]);
  return batch;
}

async function carryOut(
  tenant: TenantEngine,
  changes: readonly Change[],
  input: FollowEmbeddingsInput & { readonly batch: number },
): Promise<{ readonly put: number; readonly deleted: number }> {
  const { embedder, vectors, batch, retry, signal } = input;
  const tasks = vectorTasks(tenant.tenant, changes);
  const work = [
    ...tasks.messages.map((id) => () => readMessage(tenant, id)),
    ...tasks.facts.map((id) => () => readFact(tenant, id)),
  ];
  let put = 0;
  for (let at = 0; at < work.length; at += batch) {
    const read = await Promise.all(work.slice(at, at + batch).map((one) => one()));
    const texts = read.filter((text) => text !== undefined);
    if (texts.length === 0) continue;
    await withRetries(retry, signal, async () => {
      const found = await embedder.embed(
        texts.map(({ text }) => text),
        signal,
      );
      const rows = texts.map(({ text: _, ...row }, i) => {
        return { ...row, vector: checkVector(found[i], embedder), embedder: embedder.name };
      });
      await vectors.put(rows, signal);
    });
    put += texts.length;
  }
  // Deletes last: an item deleted during embedding must not stay.
  for (const target of tasks.deletions) {
    await withRetries(retry, signal, () => vectors.delete(target, signal));
  }
  return { put, deleted: tasks.deletions.length };
}

type Embeddable = Omit<StoredVector, "vector" | "embedder"> & { readonly text: string };

/** Undefined if it was deleted or has no text. Secrets are masked. */
async function readMessage(tenant: TenantEngine, id: string): Promise<Embeddable | undefined> {
  const entry = await unlessGone(() => tenant.getEntry(id));
  if (entry === undefined) return undefined;
  const { parts, roleClass } = indexableText(entry, { tools: "names" });
  // Skips messages with only tool calls: tool names carry no meaning.
  if (parts.length === 0 || roleClass === "tool") return undefined;
  const { sessionId } = entry;
  return { tenant: tenant.tenant, sessionId, kind: "message", id, text: parts.join("\n") };
}

async function readFact(tenant: TenantEngine, id: string): Promise<Embeddable | undefined> {
  const fact = await unlessGone(() => tenant.getFact(id));
  if (fact === undefined || fact.supersededBy !== null) return undefined;
  const { sessionId, subject, predicate, object } = fact;
  const { text } = redact(`${subject} ${predicate} ${object}`);
  return { tenant: tenant.tenant, sessionId, kind: "fact", id, text };
}

async function unlessGone<Found>(read: () => Promise<Found>): Promise<Found | undefined> {
  try {
    return await read();
  } catch (error) {
    const gone = ["entry_not_found", "fact_not_found", "session_not_found"] as const;
    if (gone.some((code) => BackscrollError.is(error, code))) return undefined;
    throw error;
  }
}

function checkVector(
  vector: StoredVector["vector"] | undefined,
  { name, dimensions }: Embedder,
): StoredVector["vector"] {
  const isExpected = dimensions === undefined || vector?.length === dimensions;
  if (vector !== undefined && isExpected) return vector;
  throw new BackscrollError(
    "model_failed",
    `the embedder ${name} gave ${vector === undefined ? "no vector" : `${vector.length} numbers`} for a text; it declares ${dimensions ?? "one"}`,
    { details: { model: name, kind: "nonsense" } },
  );
}

/** Waits for a change after the cursor. */
async function nextChange(
  tenant: TenantEngine,
  after: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const changes = tenant.subscribe({ after, ...(signal === undefined ? {} : { signal }) });
  const { done } = await changes.next();
  await changes.return();
  // The feed ends by the signal, or by closing the store: the next read then reports it.
  if (done === true) signal?.throwIfAborted();
}

export interface RetryOptions {
  /** The number of attempts. Default 6. */
  readonly attempts?: number;
  /** The first and the longest delay. Default 500 ms and 30 s. */
  readonly firstMs?: number;
  readonly maxMs?: number;
}

/** Throws the last failure, or the signal's reason as soon as it is aborted. */
async function withRetries<Result>(
  { attempts = 6, firstMs = 500, maxMs = 30_000 }: RetryOptions = {},
  signal: AbortSignal | undefined,
  action: () => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    try {
      return await action();
    } catch (error) {
      if (attempt >= attempts) throw error;
      await pause(backOffMs(attempt - 1, firstMs, maxMs), signal);
    }
  }
}

/**
 * Maps a page of the change feed to vector operations. Pure.
 *
 * Only the last change of each entry and fact counts, so one that is added and deleted within a
 * page is never embedded.
 */

export interface VectorTasks {
  /** Ids of messages and facts that may have text to embed, in order. */
  readonly messages: readonly string[];
  readonly facts: readonly string[];
  readonly deletions: readonly VectorTarget[];
}

export function vectorTasks(tenant: string, changes: readonly Change[]): VectorTasks {
  const messages = new Map<string, string>();
  const facts = new Map<string, string>();
  const deletions = new Map<string, VectorTarget>();

  const forgetEntry = (sessionId: string, entryId: string) => {
    messages.delete(entryId);
    deletions.set(`entry ${entryId}`, { tenant, sessionId, entryId });
  };
  const forgetFact = (sessionId: string, factId: string) => {
    facts.delete(factId);
    deletions.set(`fact ${factId}`, { tenant, sessionId, factId });
  };
  const forgetSession = (sessionId: string) => {
    for (const kind of [messages, facts]) {
      for (const [id, session] of kind) if (session === sessionId) kind.delete(id);
    }
    for (const [key, target] of deletions) {
      if (target.sessionId === sessionId) deletions.delete(key);
    }
    deletions.set(`session ${sessionId}`, { tenant, sessionId });
  };

  for (const { kind, sessionId, entryId, details } of changes) {
    if (sessionId === null) continue;
    const fact = typeof details["fact"] === "string" ? details["fact"] : undefined;
    // A newer version may have other kinds.
    switch (kind as string) {
      case "entry_appended":
        // The change of a message leaves its kind out.
        if (entryId !== null && details["kind"] === undefined) messages.set(entryId, sessionId);
        break;
      case "fact_added":
        if (fact !== undefined) facts.set(fact, sessionId);
        break;
      case "fact_superseded":
      case "fact_deleted":
        if (fact !== undefined) forgetFact(sessionId, fact);
        break;
      case "content_erased":
        for (const id of erasedIds(details, entryId)) forgetEntry(sessionId, id);
        break;
      case "session_deleted":
        forgetSession(sessionId);
        break;
    }
  }
  return {
    messages: [...messages.keys()],
    facts: [...facts.keys()],
    deletions: [...deletions.values()],
  };
}

function erasedIds(details: Change["details"], entryId: string | null): readonly string[] {
  const { ids } = details;
  if (Array.isArray(ids)) return ids.filter((id) => typeof id === "string");
  return entryId === null ? [] : [entryId];
}
