/**
 * Everything of one owner in a tenant: what `export --owner` writes is what `forget --owner` deletes.
 *
 * An owner is a name: of a session's owner, a message's actor, a memory's agent. Sessions come last,
 * since routes, memories and records are found by their ids.
 */

import type { AccessToken } from "../../model/access.ts";
import { type Entry, kindRules } from "../../model/entry.ts";
import { isPlainObject } from "../../model/json.ts";
import { MAX_PAGE, MAX_RECORD_BATCH_BYTES } from "../../model/limits.ts";
import type { Fact, Memory } from "../../model/note.ts";
import type { StoredRecord } from "../../model/record.ts";
import type { SessionRoute } from "../../model/route.ts";
import type { Session } from "../../model/session.ts";
import type { RecordPlace } from "../../store/record/record-port.ts";
import type { SessionFilter, SessionPosition } from "../../store/records.ts";
import type { EngineContext } from "../engine-context.ts";
import { findForks } from "../forget.ts";
import { getEntry, listEntries } from "../read.ts";
import { toStored } from "../records/records.ts";

export type OwnedItem =
  /** Theirs, or a fork of such a one, which has copies of its messages. */
  | { readonly type: "session"; readonly session: Session }
  /** Written by them in a session of another owner. */
  | { readonly type: "entry"; readonly entry: Entry }
  /** In a session of another owner: taken from such an entry, or with them as subject or object. */
  | { readonly type: "fact"; readonly fact: Fact }
  /** Under their name, or taken from one of the sessions. */
  | { readonly type: "memory"; readonly memory: Memory }
  /** With their name, or a session's id, as a part of its namespace or key, or as its owner. */
  | { readonly type: "record"; readonly record: StoredRecord }
  /** Leads to one of the sessions, or has their name as a part of its key. */
  | { readonly type: "route"; readonly route: SessionRoute }
  /** Valid ones that write as them, and shares of the sessions. */
  | { readonly type: "token"; readonly token: AccessToken }
  /** A session of another owner in which they took part; after its entries. */
  | { readonly type: "participation"; readonly session: Session };

export async function* eachOwned(engine: EngineContext, owner: string): AsyncGenerator<OwnedItem> {
  const { store, tenant } = engine;
  const own = new Set<string>();
  for await (const { id } of sessionsOf(engine, { owner })) {
    own.add(id);
    for (const fork of await findForks(engine, id)) own.add(fork);
  }
  const isTheirs = (name: string | null) => name !== null && (name === owner || own.has(name));
  const isNamed = (text: string, separator: string) => text.split(separator).some(isTheirs);

  for await (const token of pages((after?: AccessToken) =>
    store.listTokens(tenant, after?.id, MAX_PAGE),
  )) {
    const { revokedAt, actor, label } = token;
    const isShare = token.scope === "share" && isTheirs(label);
    if (revokedAt === null && (actor === owner || isShare)) yield { type: "token", token };
  }
  for await (const route of pages((after?: SessionRoute) =>
    store.listRoutes(tenant, after?.key, MAX_PAGE),
  )) {
    if (isTheirs(route.sessionId) || isNamed(route.key, ":")) yield { type: "route", route };
  }
  for await (const record of recordsOf(engine)) {
    const { namespace, key, value } = record;
    if (
      isNamed(decoded(namespace), "/") ||
      isNamed(decoded(key), "/") ||
      isOwned(value, isTheirs)
    ) {
      yield { type: "record", record };
    }
  }
  for await (const memory of pages((after?: Memory) =>
    store.listMemories(tenant, undefined, after, MAX_PAGE),
  )) {
    const { agent, metadata } = memory;
    const from = metadata["sessionId"];
    if (agent === owner || (typeof from === "string" && own.has(from))) {
      yield { type: "memory", memory };
    }
  }
  const isAbout = ({ subject, object }: Fact) => subject === owner || object === owner;
  for await (const fact of factsOf(engine)) {
    if (isAbout(fact) && !own.has(fact.sessionId)) yield { type: "fact", fact };
  }
  for await (const session of sessionsOf(engine, { participant: owner })) {
    if (own.has(session.id)) continue;
    const written = new Set<string>();
    for await (const { id, actor, erased, kind } of entriesOf(engine, session.id)) {
      if (actor === owner && !erased && kindRules(kind).erasable) written.add(id);
    }
    // Before the entries: a removed entry takes its facts along.
    for await (const fact of factsOf(engine, session.id)) {
      if (!isAbout(fact) && written.has(fact.sourceEntry ?? "")) yield { type: "fact", fact };
    }
    for (const id of written) yield { type: "entry", entry: await getEntry(engine, id) };
    yield { type: "participation", session };
  }
  for (const id of own) {
    const session = await store.findSession(tenant, id);
    if (session !== undefined) yield { type: "session", session };
  }
}

/** Pages by the last item of the page before; items may be deleted meanwhile. */
async function* pages<Item>(
  read: (after?: Item) => Promise<readonly Item[]>,
): AsyncGenerator<Item> {
  for (let after: Item | undefined; ; ) {
    const page = await read(after);
    yield* page;
    after = page.at(-1);
    if (page.length < MAX_PAGE) return;
  }
}

function factsOf({ store, tenant }: EngineContext, sessionId?: string): AsyncGenerator<Fact> {
  return pages((after?: Fact) => store.listFacts(tenant, sessionId, after?.id, MAX_PAGE, true));
}

async function* sessionsOf(engine: EngineContext, filter: SessionFilter): AsyncGenerator<Session> {
  for (let after: SessionPosition | undefined; ; ) {
    const page = { limit: MAX_PAGE, ...(after === undefined ? {} : { after }) };
    const { sessions, next } = await engine.store.listSessions(engine.tenant, filter, page);
    yield* sessions;
    if (next === undefined) return;
    after = next;
  }
}

/** Entries per page: few, because each may be large. */
const ENTRY_PAGE = 50;

async function* entriesOf(engine: EngineContext, sessionId: string): AsyncGenerator<Entry> {
  for (let after: string | undefined; ; ) {
    const input = { tree: true, limit: ENTRY_PAGE, ...(after === undefined ? {} : { after }) };
    const { entries, next } = await listEntries(engine, sessionId, input);
    yield* entries;
    if (next === undefined) return;
    after = next;
  }
}

/** Expired ones, too: their rows are still there. */
async function* recordsOf({ store, tenant }: EngineContext): AsyncGenerator<StoredRecord> {
  for (let after: RecordPlace | undefined; ; ) {
    const page = { prefix: "", limit: MAX_PAGE, maxBytes: MAX_RECORD_BATCH_BYTES };
    const which = after === undefined ? page : { ...page, after };
    const { records, more } = await store.readRecords(tenant, { which, now: 0, parts: "all" });
    yield* records.map(toStored);
    after = records.at(-1);
    if (!more) return;
  }
}

/** Adapters escape foreign names in keys. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Fields of values that name a person, as adapters and hosts write them. */
const OWNER_FIELD = /^(?:owner|user|actor|author|resource|participant|created_?by)(?:_?id)?$/i;

function isOwned(value: unknown, isTheirs: (name: string) => boolean): boolean {
  if (Array.isArray(value)) return value.some((part) => isOwned(part, isTheirs));
  if (!isPlainObject(value)) return false;
  return Object.entries(value).some(([name, part]) =>
    typeof part === "string" ? OWNER_FIELD.test(name) && isTheirs(part) : isOwned(part, isTheirs),
  );
}
