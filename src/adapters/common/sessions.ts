/** Sessions of adapters: by key, page by page, with retries of writes that lose to others. */

import type { SessionApi, TenantApi } from "../../engine/interfaces.ts";
import type { EnsureSessionInput } from "../../engine/sessions/resolve-session.ts";
import type { EntryInput, MessageEntryInput } from "../../engine/writing/entry-input.ts";
import type { Entry } from "../../model/entry.ts";
import { BackscrollError, ignoring } from "../../model/errors.ts";
import { describe } from "../../model/json.ts";
import { MAX_BATCH_ENTRIES, MAX_PAGE } from "../../model/limits.ts";

/** Gives the fields of one session, before it is created. */
type OwnFields = () => Promise<Omit<Partial<EnsureSessionInput>, "key">>;

/** The capacity of the cache of session ids by key. */
const MAX_KNOWN = 1_000;

export class KnownSessions {
  readonly #tenant: TenantApi;
  readonly #input: Omit<EnsureSessionInput, "key">;
  readonly #known = new Map<string, SessionApi>();

  /** `input` has the fields of new sessions. */
  constructor(tenant: TenantApi, input: Omit<EnsureSessionInput, "key">) {
    this.#tenant = tenant;
    this.#input = input;
  }

  /** Works on the session of a key; on a new one, with `own` fields, if there is none or it was deleted. */
  async run<Result>(
    key: string,
    work: (session: SessionApi) => Promise<Result>,
    own: OwnFields = async () => ({}),
  ): Promise<Result> {
    try {
      return await work(await this.#ensure(key, own));
    } catch (error) {
      if (!BackscrollError.is(error, "session_not_found")) throw error;
      this.#known.delete(key);
      return work(await this.#ensure(key, own));
    }
  }

  /** The session of a key, if there is one. */
  async find(key: string): Promise<SessionApi | undefined> {
    const session = await this.#tenant.findSessionByOrigin(key);
    return session === undefined ? undefined : this.#tenant.session(session.id);
  }

  /** A no-op without a session. */
  async delete(key: string): Promise<void> {
    this.#known.delete(key);
    const session = await this.find(key);
    await ignoring("session_not_found", async () => session?.delete());
  }

  async #ensure(key: string, own: OwnFields): Promise<SessionApi> {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const session = await this.#tenant.ensureSession({ ...this.#input, ...(await own()), key });
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(key, session);
    return session;
  }
}

/** Refuses what is no tenant now, not with the framework's first call. */
export function checkTenant(tenant: Pick<TenantApi, "records">): void {
  if (typeof tenant?.records?.find === "function") return;
  throw new BackscrollError(
    "invalid_input",
    `tenant must be what open, forTenant or connect gives, not ${describe(tenant)}`,
    { details: { field: "tenant" } },
  );
}

/** Whether entries can be stored again: messages, and no more than one append takes. */
export function canReplace(suffix: readonly Entry[]): boolean {
  return suffix.length <= MAX_BATCH_ENTRIES && suffix.every(({ kind }) => kind === "message");
}

/**
 * Puts a message in the place of the first of the last entries of the active path; the others are stored
 * again below it, so that they stay on the path. Gives the new end of the path. `stale_leaf` if the path ends
 * otherwise.
 */
export async function replaceInPath(
  session: SessionApi,
  suffix: readonly Entry[],
  input: MessageEntryInput,
): Promise<Entry[]> {
  const expected = suffix.map(({ id }) => id);
  const others = suffix.slice(1).filter(({ erased }) => !erased);
  const copies = others.map(toCopy);
  return storeOrBare([input], (entries) =>
    session.replaceSuffix({ expected, replacement: [...entries, ...copies] }),
  );
}

function toCopy(entry: Entry): MessageEntryInput {
  const { role, actor, blocks, adapter, raw, metadata, model, createdAt } = entry;
  return {
    role: role ?? "assistant",
    content: blocks,
    raw,
    metadata,
    createdAt,
    ...(actor === null ? {} : { actor }),
    ...(adapter === null ? {} : { adapter }),
    ...(model === null ? {} : { model }),
  };
}

// Retries of writes that lose to concurrent writers, and a fallback for messages with refused
// blocks.

/** Retries of a compare-and-swap that lost to a concurrent writer. */
const MAX_TRIES = 16;

/**
 * Retries a compare-and-swap that lost to a concurrent writer. A `stale_leaf` of the caller's own, with
 * `expected` in its details, is final.
 */
export async function untilSettled<Result>(change: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await change();
    } catch (error) {
      const isOthers = BackscrollError.is(error, "stale_leaf") && !("expected" in error.details);
      if (!isOthers || tries === MAX_TRIES) throw error;
    }
  }
}

/** Retries a write of records after a conflict, with the records as they are then. */
export async function untilWritten<Result>(write: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await write();
    } catch (error) {
      const isOthers =
        BackscrollError.is(error, "record_conflict") ||
        BackscrollError.is(error, "record_not_found");
      if (!isOthers || tries === MAX_TRIES) throw error;
    }
  }
}

/**
 * Stores messages, without their blocks where those are refused: the adapter returns the original
 * beside them.
 */
export async function storeOrBare<Result>(
  inputs: readonly MessageEntryInput[],
  store: (entries: readonly EntryInput[]) => Promise<Result>,
): Promise<Result> {
  try {
    return await store(inputs);
  } catch (error) {
    const isRefused =
      BackscrollError.is(error, "invalid_input") || BackscrollError.is(error, "too_large");
    if (!isRefused) throw error;
    return store(inputs.map((input) => ({ ...input, content: [] })));
  }
}

/** The first `count` entries; with the session's `entryCount`, all entries as of then. */
export function treePages(session: SessionApi, count: number): AsyncGenerator<readonly Entry[]> {
  const offsets: number[] = [];
  for (let offset = 0; offset < count; offset += MAX_PAGE) offsets.push(offset);
  return readAhead(offsets, async (offset) => {
    const limit = Math.min(MAX_PAGE, count - offset);
    return (await session.listEntries({ tree: true, offset, limit })).entries;
  });
}

/**
 * Yields the results of `read` in the order of `places`. Two reads are in flight, so that the store reads
 * the next page while the caller's thread decodes this one.
 */
export async function* readAhead<Place, Page>(
  places: Iterable<Place>,
  read: (place: Place) => Promise<Page>,
): AsyncGenerator<Page> {
  const waiting: Promise<Page>[] = [];
  const start = (place: Place) => {
    const page = read(place);
    // A caller that stops early does not wait for it.
    page.catch(() => undefined);
    waiting.push(page);
  };
  for (const place of places) {
    start(place);
    if (waiting.length > 1) yield (await waiting.shift()) as Page;
  }
  for (const page of waiting) yield await page;
}
