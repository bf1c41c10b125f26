/** Fixture of the conformance suite: small builders and a shared store. */

import { getRandomValues } from "node:crypto";
import { expect } from "vitest";
import type { ErrorCode } from "../../model/errors.ts";
import { createUlids } from "../../model/ids.ts";
import type { Session } from "../../model/session.ts";
import { fieldsOf, SESSION_FIELDS } from "../../model/session-fields.ts";
import { encodeContent } from "../../transcript/content.ts";
import type { EntryMark } from "../entry-query.ts";
import type {
  AppendResult,
  ChangeRecord,
  EntryRecord,
  NewEntry,
  NewSession,
  RowBatch,
} from "../records.ts";
import type { Store, StoreOptions } from "../store.ts";

/** A store, and where possible a second connection to the same data. */
export interface OpenedStore {
  readonly store: Store;
  /** Absent for an in-memory store. */
  readonly reopen?: (options?: StoreOptions) => Promise<Store>;
}

/**
 * The environment of a group of cases. Each case has its own tenant, so that one store serves all.
 */
export interface Cases {
  store(): Store;
  /** A tenant that no other case uses. */
  tenant(): string;
  /** An empty store for this case alone, closed after it. */
  fresh(): Promise<OpenedStore>;
  /** A second store on the shared data; the same store in memory. */
  another(): Promise<Store>;
}

/** The start time of the cases. */
export const T0 = 1_700_000_000_000;

export const nextId: () => string = createUlids({
  now: Date.now,
  random: (bytes) => getRandomValues(bytes),
});

/** Every nullable field of a session, set to null. */
export const NULL_FIELDS: Partial<Session> = Object.fromEntries(
  fieldsOf(SESSION_FIELDS)
    .filter(([, { nullable }]) => nullable === true)
    .map(([name]) => [name, null]),
);

export function newSession(over: Partial<NewSession> = {}): NewSession {
  return {
    id: nextId(),
    agent: "coder",
    createdBy: "ana",
    owner: "ana",
    title: "",
    participants: [],
    metadata: {},
    ttl: null,
    retention: "full",
    origin: {},
    startedAt: T0,
    now: T0,
    ...over,
  };
}

/** A user's message, with overrides. */
export function message(text: string, over: Partial<NewEntry> = {}): NewEntry {
  const content = encodeContent({ blocks: [{ type: "text", text }], data: null });
  return {
    id: nextId(),
    kind: "message",
    role: "user",
    actor: "ana",
    content: content.text,
    payloads: content.payloads,
    contentBytes: content.bytes,
    usage: null,
    model: null,
    adapter: null,
    metadata: null,
    createdAt: T0,
    interaction: true,
    ...over,
  };
}

/** An annotation: it does not move the leaf. */
export function label(text: string, target: string): NewEntry {
  return message("", {
    kind: "label",
    role: null,
    actor: null,
    interaction: false,
    content: JSON.stringify({ blocks: [], data: { label: text, targetId: target } }),
  });
}

export async function createSession(
  store: Store,
  tenant: string,
  over: Partial<NewSession> = {},
): Promise<Session> {
  return store.createSession(tenant, newSession(over));
}

/** Appends entries, and gives their ids with the result. */
export async function append(
  store: Store,
  tenant: string,
  sessionId: string,
  ...entries: readonly NewEntry[]
): Promise<AppendResult & { readonly ids: readonly string[] }> {
  const result = await store.append(tenant, { sessionId, entries, now: T0 });
  return { ...result, ids: entries.map((entry) => entry.id) };
}

/** The readable text of an entry. */
export function textOf(entry: EntryRecord | undefined): string {
  const [block] = JSON.parse(entry?.content ?? "[]") as { text: string }[];
  return block?.text ?? "";
}

/** Marked entries, of the session or of a path. */
export async function marked(
  store: Store,
  tenant: string,
  sessionId: string,
  mark: EntryMark,
  leaf?: string | null,
): Promise<readonly EntryRecord[]> {
  const page = await store.readEntries(tenant, {
    select: "marked",
    sessionId,
    mark,
    ...(leaf === undefined ? {} : { leaf }),
    limit: 500,
    payloads: false,
  });
  return page.entries;
}

export async function messagesOf(
  store: Store,
  tenant: string,
  sessionId: string,
  leaf?: string,
): Promise<string[]> {
  const page = await store.readEntries(tenant, {
    select: "messages",
    sessionId,
    ...(leaf === undefined ? {} : { leaf }),
    offset: 0,
    limit: 500,
    payloads: false,
  });
  return page.entries.map(textOf);
}

export async function treeOf(
  store: Store,
  tenant: string,
  sessionId: string,
): Promise<readonly EntryRecord[]> {
  const page = await store.readEntries(tenant, {
    select: "tree",
    sessionId,
    afterSequence: 0,
    limit: 500,
    payloads: false,
  });
  return page.entries;
}

export async function changesOf(
  store: Store,
  tenant: string,
  sessionId?: string,
): Promise<readonly ChangeRecord[]> {
  const page = await store.listChanges(tenant, 0, 10_000, sessionId);
  return page.changes;
}

/** Kind and details of each change, oldest first. */
export async function feedOf(store: Store, tenant: string, after = 0): Promise<unknown[]> {
  const page = await store.listChanges(tenant, after, 10_000, undefined);
  return page.changes.map(({ kind, details }) =>
    details === null ? kind : [kind, JSON.parse(details)],
  );
}

export async function expectCode(
  promise: Promise<unknown>,
  code: ErrorCode,
  details: Record<string, unknown> = {},
): Promise<void> {
  await expect(promise).rejects.toMatchObject({ name: "BackscrollError", code, details });
}

/** Every row of a store, by table, in an order independent of the backend. */
export function dumpOf(store: Store): Promise<Record<string, unknown[]>> {
  return tablesOf(store.dump());
}

export async function tablesOf(dump: AsyncIterable<RowBatch>): Promise<Record<string, unknown[]>> {
  const tables: Record<string, string[]> = {};
  for await (const { table, rows } of dump) {
    tables[table] ??= [];
    for (const row of rows) tables[table].push(JSON.stringify(row, hexBytes));
  }
  const sorted = Object.entries(tables).map(([table, rows]) => [
    table,
    rows.sort().map((row) => JSON.parse(row) as unknown),
  ]);
  return Object.fromEntries(sorted);
}

export async function* batches(...all: readonly RowBatch[]): AsyncGenerator<RowBatch> {
  yield* all;
}

/** Bytes as hex, because `toJSON` of a Buffer differs from a plain array's. */
function hexBytes(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const original = this[key];
  return original instanceof Uint8Array ? Buffer.from(original).toString("hex") : value;
}
