/**
 * Reads data that may be damaged. If a read of many entries fails, they are read one by one, so
 * that a verification can name the damaged ones and check the rest.
 */

import type { EntryRecord } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";
import type { Chain } from "../../transcript/place.ts";
import { damageOf } from "./problems.ts";

const PAGE = 200;

export interface FoundEntries {
  readonly found: ReadonlyMap<string, EntryRecord>;
  /** Reasons by the ids of unreadable entries. */
  readonly unreadable: ReadonlyMap<string, string>;
}

export async function findReadable(
  store: Store,
  tenant: string,
  ids: readonly string[],
): Promise<FoundEntries> {
  const found = new Map<string, EntryRecord>();
  const unreadable = new Map<string, string>();
  const find = async (some: readonly string[]) => {
    const { entries } = await store.findEntries(tenant, some, false, true);
    for (const entry of entries) found.set(entry.id, entry);
  };
  if ((await damageOf(() => find(ids))) === undefined) return { found, unreadable };
  for (const id of ids) {
    const reason = await damageOf(() => find([id]));
    if (reason !== undefined) unreadable.set(id, reason);
  }
  return { found, unreadable };
}

export interface ReadableTreePage {
  readonly entries: readonly EntryRecord[];
  readonly rootHash: Uint8Array | undefined;
  /** The session's chains, with its first page. */
  readonly chains: readonly Chain[] | undefined;
  /** Why the next entry is unreadable; then the page has no others. */
  readonly unreadable: string | undefined;
}

/** A page of a session after a sequence; or one entry; or the reason why it is unreadable. */
export async function readTree(
  store: Store,
  tenant: string,
  sessionId: string,
  afterSequence: number,
): Promise<ReadableTreePage> {
  let page: Omit<ReadableTreePage, "unreadable"> = {
    entries: [],
    rootHash: undefined,
    chains: undefined,
  };
  const read = async (limit: number) => {
    const { entries, rootHash, chains } = await store.readEntries(tenant, {
      select: "tree",
      sessionId,
      afterSequence,
      limit,
      payloads: false,
      isRaw: true,
    });
    page = { entries, rootHash, chains };
  };
  let unreadable = await damageOf(() => read(PAGE));
  if (unreadable !== undefined) unreadable = await damageOf(() => read(1));
  return { ...page, unreadable };
}

/** The missing or damaged payloads of these entries. */
export async function findDamaged(
  store: Store,
  tenant: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const damaged = new Map<string, string>();
  const read = async (some: readonly string[]) => {
    await store.findEntries(tenant, some, true, true);
  };
  if ((await damageOf(() => read(ids))) === undefined) return damaged;
  for (const id of ids) {
    const reason = await damageOf(() => read([id]));
    if (reason !== undefined) damaged.set(id, reason);
  }
  return damaged;
}
