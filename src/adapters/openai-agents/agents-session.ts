/**
 * A session of the OpenAI Agents SDK on Backscroll: transactions, mutations and compaction included.
 *
 * Each item is a message of one session, in the order of the path. Popped, cleared and replaced items
 * stay in the tree on an abandoned branch, which searches skip by default.
 */

import { KeyedQueue } from "../../async/keyed-queue.ts";
import type { SessionApi, TenantApi } from "../../engine/interfaces.ts";
import type { EntryInput, MessageEntryInput } from "../../engine/writing/entry-input.ts";
import type { Entry } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import { checkFields } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { describe, isPlainObject } from "../../model/json.ts";
import { MAX_BATCH_ENTRIES, MAX_PAGE } from "../../model/limits.ts";
import { checkTenant, readAhead, storeOrBare, untilSettled } from "../common/sessions.ts";
import {
  type AgentItem,
  type Authors,
  canonicalText,
  type HistoryMutation,
  type HistoryTransactionArgs,
  isBoundary,
  SOURCE,
  toEntryInput,
  toItem,
  toItemJson,
} from "./items.ts";
import { checkTransaction, digestOf, markerOf } from "./operations.ts";

export interface AgentsSessionOptions {
  /** The caller's id of the session: any text. Default: a new id. */
  readonly sessionId?: string;
  /** The agent of the session, and the author of its answers. Default: `openai-agents`. */
  readonly agent?: string;
  /** The author of requests. Default: `user`. */
  readonly user?: string;
  /** `clearSession`: `keep` (default) leaves the items on a branch, `delete` deletes the session. */
  readonly onClear?: "keep" | "delete";
}

/** `run(agent, input, { session: agentsSession(memory, { sessionId: "chat 42" }) })`. */
export function agentsSession(
  tenant: TenantApi,
  options: AgentsSessionOptions = {},
): AgentsSession {
  return new AgentsSession(tenant, options);
}

/** Counts clears: operation ids are scoped to the time since the last one. */
const CLEARS_KEY = "historyClears";

interface VisibleItem {
  readonly entry: Entry;
  /** Undefined: another program wrote the entry. */
  readonly item: AgentItem | undefined;
}

export class AgentsSession {
  readonly #tenant: TenantApi;
  readonly #sessionId: string;
  readonly #authors: Authors;
  readonly #onClear: "keep" | "delete";
  readonly #queue = new KeyedQueue();
  #session: SessionApi | undefined;

  constructor(tenant: TenantApi, options: AgentsSessionOptions) {
    const {
      sessionId = crypto.randomUUID(),
      agent = SOURCE,
      user = "user",
      onClear = "keep",
    } = checkFields(options, "options", INPUTS.agentsSession);
    checkTenant(tenant);
    this.#tenant = tenant;
    this.#sessionId = sessionId;
    this.#authors = { agent, user };
    this.#onClear = onClear;
  }

  async getSessionId(): Promise<string> {
    return this.#sessionId;
  }

  /** The session in Backscroll, created if missing: for searches and contexts. */
  async backscrollSession(): Promise<SessionApi> {
    this.#session ??= await this.#tenant.ensureSession({
      key: `${SOURCE}:${this.#sessionId}`,
      agent: this.#authors.agent,
      createdBy: this.#authors.user,
      origin: { source: SOURCE },
    });
    return this.#session;
  }

  /** The newest `limit` items in order, or all. */
  async getItems(limit?: number): Promise<AgentItem[]> {
    if (limit !== undefined && limit <= 0) return [];
    const visible = await this.#inSession((session) => readVisible(session, limit));
    return visible.flatMap(({ item }) => (item === undefined ? [] : [item]));
  }

  /** Atomic up to a thousand items; more are stored a thousand at a time. */
  async addItems(items: readonly AgentItem[]): Promise<void> {
    const inputs = this.#toInputs(items);
    await this.#inSession(async (session) => {
      for (let i = 0; i < inputs.length; i += MAX_BATCH_ENTRIES) {
        const batch = inputs.slice(i, i + MAX_BATCH_ENTRIES);
        await storeOrBare(batch, (entries) => session.appendEntries(entries));
      }
    });
  }

  async popItem(): Promise<AgentItem | undefined> {
    return this.#inSession((session) =>
      untilSettled(async () => {
        const visible = await readVisible(session, 1);
        const [last] = visible;
        if (last === undefined) return undefined;
        await replaceEnd(session, visible, []);
        return last.item;
      }),
    );
  }

  /** Afterwards, operations may be applied again under the same ids. */
  async clearSession(): Promise<void> {
    await this.#inSession(async (session) => {
      if (this.#onClear === "delete") {
        this.#session = undefined;
        await session.delete();
        return;
      }
      const { metadata } = await session.meta();
      await session.update({ metadata: { [CLEARS_KEY]: clearsOf(metadata) + 1 } });
      await session.branch(null);
    });
  }

  /** Atomic, and applied once per operation id. */
  async applyHistoryTransaction(args: HistoryTransactionArgs): Promise<void> {
    const { operationId, transaction } = checkTransaction(args);
    const digest = await digestOf(transaction);
    await this.#inSession(async (session) => {
      const { metadata } = await session.meta();
      const marker = markerOf(SOURCE, clearsOf(metadata), operationId, digest);
      await untilSettled(async () => {
        if (await wasApplied(session, marker.externalId, digest)) return;
        if (transaction.type === "append_items") {
          await storeOrBare(this.#toInputs(transaction.items), (entries) =>
            session.replaceSuffix({ expected: [], replacement: [...entries, marker] }),
          );
          return;
        }
        const { expectedSuffix, replacement } = transaction;
        const visible = await this.#suffix(session, expectedSuffix);
        if (visible === undefined) {
          // A concurrent call may have applied the same operation since the first look.
          if (await wasApplied(session, marker.externalId, digest)) return;
          throw this.#unexpectedEnd(session, expectedSuffix.length);
        }
        await storeOrBare(this.#toInputs(replacement), (entries) =>
          replaceEnd(session, visible, entries, marker),
        );
      });
    });
  }

  /** Replaces calls; the items after a replaced call are stored again. */
  async applyHistoryMutations({
    mutations,
  }: {
    readonly mutations: readonly HistoryMutation[];
  }): Promise<void> {
    await this.#inSession((session) =>
      untilSettled(async () => {
        const visible = await readVisible(session);
        const items = visible.map(({ item }) => item);
        const changed = applyMutations(items, mutations);
        const start = changed.findIndex((item, i) => item !== items[i]);
        const from = start < 0 ? Math.min(changed.length, items.length) : start;
        if (from === items.length && changed.length === items.length) return;
        const rest = changed.slice(from).filter((item) => item !== undefined);
        await storeOrBare(this.#toInputs(rest), (entries) =>
          replaceEnd(session, visible.slice(from), entries),
        );
      }),
    );
  }

  /** Makes `items` the history. The compacted items stay on the path, for searches. */
  async replaceHistoryWithCompaction(items: readonly AgentItem[]): Promise<void> {
    if (checkItems(items).length === 0) return this.clearSession();
    const inputs = items.map((item, i) => toEntryInput(item, this.#authors, i === 0));
    await this.#inSession((session) =>
      storeOrBare(inputs, (entries) => session.appendEntries(entries)),
    );
  }

  #toInputs(items: readonly AgentItem[]): MessageEntryInput[] {
    return checkItems(items).map((item) => toEntryInput(item, this.#authors));
  }

  /** The end of the history, if it has the expected items. */
  async #suffix(
    session: SessionApi,
    expected: readonly AgentItem[],
  ): Promise<VisibleItem[] | undefined> {
    if (expected.length === 0) return [];
    const visible = await readVisible(session, expected.length);
    const stored = visible.filter(({ item }) => item !== undefined);
    const texts = (items: readonly AgentItem[]) =>
      items.map((item) => canonicalText(toItemJson(item)));
    const isSame = texts(stored.map(({ item }) => item)).join("\n") === texts(expected).join("\n");
    return isSame ? visible : undefined;
  }

  #unexpectedEnd(session: SessionApi, expected: number): BackscrollError {
    return new BackscrollError(
      "stale_leaf",
      `suffix no longer matches: session ${this.#sessionId} ends with other items; read them and try again`,
      { details: { sessionId: session.id, expected } },
    );
  }

  /** Runs work in the order of the calls; on a new session if another caller deleted it. */
  async #inSession<Result>(work: (session: SessionApi) => Promise<Result>): Promise<Result> {
    return this.#queue.run("", async () => {
      try {
        return await work(await this.backscrollSession());
      } catch (error) {
        if (!BackscrollError.is(error, "session_not_found")) throw error;
        this.#session = undefined;
        return work(await this.backscrollSession());
      }
    });
  }
}

/** Items are the SDK's own: only what is no item at all is refused. */
function checkItems(items: readonly AgentItem[]): readonly AgentItem[] {
  const isList = Array.isArray(items);
  const at = isList ? items.findIndex((item) => !isPlainObject(item)) : 0;
  if (isList && at < 0) return items;
  const field = isList ? `items[${at}]` : "items";
  const found = describe(isList ? items[at] : items);
  const message = isList
    ? `${field} must be an item such as { role: "user", content: "hi" }, not ${found}`
    : `items must be an array of items, not ${found}`;
  throw new BackscrollError("invalid_input", message, { details: { field } });
}

function clearsOf(metadata: Readonly<Record<string, unknown>>): number {
  const clears = metadata[CLEARS_KEY];
  return typeof clears === "number" ? clears : 0;
}

/** The history from its start on, or its end with the newest `limit` items; in order. */
async function readVisible(session: SessionApi, limit?: number): Promise<VisibleItem[]> {
  const pages: VisibleItem[][] = [];
  let found = 0;
  for await (const page of newestFirst(session, Math.min(MAX_PAGE, limit ?? MAX_PAGE))) {
    const boundary = page.findLastIndex(isBoundary);
    const shown = (boundary < 0 ? page : page.slice(boundary)).map((entry) => ({
      entry,
      item: toItem(entry),
    }));
    pages.push(shown);
    found += shown.filter(({ item }) => item !== undefined).length;
    if (boundary >= 0 || (limit !== undefined && found >= limit)) break;
  }
  const visible = pages.reverse().flat();
  return limit === undefined || found <= limit ? visible : withNewest(visible, limit);
}

/** The messages of the path, page by page, the newest page first and with `size` messages. */
async function* newestFirst(
  session: SessionApi,
  size: number,
): AsyncGenerator<readonly Entry[], void> {
  const newest = await session.history({ limit: size });
  yield newest;
  const [first, last] = [newest[0]?.index ?? 0, newest.at(-1)];
  if (last === undefined || first === 0) return;
  // The path up to its last message stays as it is, whatever others append.
  const places: { leaf: string; offset: number; limit: number }[] = [];
  for (let end = first; end > 0; end -= MAX_PAGE) {
    const offset = Math.max(0, end - MAX_PAGE);
    places.push({ leaf: last.id, offset, limit: end - offset });
  }
  yield* readAhead(places, async (place) => (await session.listMessages(place)).messages);
}

/** The end of a history that begins with the oldest of its newest `limit` items. */
function withNewest(visible: readonly VisibleItem[], limit: number): VisibleItem[] {
  let count = 0;
  const start = visible.findLastIndex(({ item }) => item !== undefined && ++count === limit);
  return visible.slice(start);
}

/** Replaces the last entries of the history. */
async function replaceEnd(
  session: SessionApi,
  replaced: readonly VisibleItem[],
  entries: readonly EntryInput[],
  marker?: EntryInput,
): Promise<void> {
  const expected = replaced.map(({ entry }) => entry.id);
  const all = marker === undefined ? entries : [...entries, marker];
  if (!replaced.some(({ entry }) => isBoundary(entry))) {
    await session.replaceSuffix({ expected, replacement: all });
    return;
  }
  // The entries before the boundary are no longer history, so start a new path.
  const expectedLeaf = expected.at(-1) ?? null;
  if (entries.length > 0) await session.appendEntries(all, { parent: null, expectedLeaf });
  else {
    await session.branch(null, { expectedLeaf });
    if (marker !== undefined) await session.appendEntries([marker]);
  }
}

function applyMutations(
  items: readonly AgentItem[],
  mutations: readonly HistoryMutation[],
): AgentItem[] {
  let changed = [...items];
  for (const { callId, replacement } of mutations) {
    let isPlaced = false;
    changed = changed.flatMap((item) => {
      const isCall =
        isPlainObject(item) && item["type"] === "function_call" && item["callId"] === callId;
      if (!isCall) return [item];
      if (isPlaced) return [];
      isPlaced = true;
      return [structuredClone(replacement)];
    });
  }
  return changed;
}

/** `idempotency_conflict` if another transaction was applied under the same id. */
async function wasApplied(
  session: SessionApi,
  externalId: string,
  digest: string,
): Promise<boolean> {
  try {
    const { data } = await session.getByExternalId(externalId);
    const kept = isPlainObject(data) && isPlainObject(data["data"]) ? data["data"] : {};
    if (kept["digest"] === digest) return true;
  } catch (error) {
    if (BackscrollError.is(error, "entry_not_found")) return false;
    throw error;
  }
  throw new BackscrollError(
    "idempotency_conflict",
    "operationId was already applied with a different transaction; use a new one",
    { details: { field: "operationId" } },
  );
}

/** The newest part of a conversation that fits a budget and that a model accepts. */
export interface FitHistoryOptions {
  /** Tokens of history, estimated as a quarter of the bytes of its JSON. */
  readonly tokenBudget: number;
}

/**
 * A `sessionInputCallback`: the newest whole turns within the budget, then the new items. A turn
 * begins with a message of the user, so that results stay with their calls and items with their
 * reasoning. A provider's compaction starts the history, and is always included.
 */
export function fitHistory(
  options: FitHistoryOptions,
): (history: AgentItem[], added: AgentItem[]) => AgentItem[] {
  const { tokenBudget } = checkFields(options, "options", INPUTS.fitHistory);
  return (history, added) => [...fitItems(history, tokenBudget), ...added];
}

/** The newest turn is kept, whatever its size. */
function fitItems(items: readonly AgentItem[], tokenBudget: number): AgentItem[] {
  const sealed = items.findLastIndex(
    (item) => isPlainObject(item) && item["type"] === "compaction",
  );
  const head = sealed < 0 ? [] : [items[sealed]];
  let left = tokenBudget - tokensOf(head);
  let start = items.length;
  let cost = 0;
  let isFirst = true;
  for (let i = items.length - 1; i > sealed; i--) {
    cost += tokensOf([items[i]]);
    if (!startsTurn(items[i]) && i > sealed + 1) continue;
    if (cost > left && !isFirst) break;
    left -= cost;
    cost = 0;
    start = i;
    isFirst = false;
  }
  return [...head, ...withoutOrphans(items.slice(start))];
}

function startsTurn(item: AgentItem): boolean {
  return isPlainObject(item) && item["role"] === "user";
}

/** Drops results without a call: their turn had lost its beginning before. */
function withoutOrphans(items: readonly AgentItem[]): AgentItem[] {
  const called = new Set<unknown>();
  return items.filter((item) => {
    if (!isPlainObject(item) || typeof item["callId"] !== "string") return true;
    const isResult = /_(?:result|output)$/.test(String(item["type"]));
    if (!isResult) called.add(item["callId"]);
    return !isResult || called.has(item["callId"]);
  });
}

function tokensOf(items: readonly AgentItem[]): number {
  return items.reduce(
    (sum: number, item) => sum + Math.ceil(Buffer.byteLength(JSON.stringify(toItemJson(item))) / 4),
    0,
  );
}
