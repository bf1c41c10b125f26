/**
 * All data of a tenant, record by record; as a line of JSON a record is its fields on the wire,
 * after its type.
 */

import { maskEntry, maskFact, maskJson, maskMemory, maskSession, maskText } from "../api/mask.ts";
import { toWireSession } from "../api/session.ts";
import { toWire } from "../api/shape.ts";
import type { SessionApi, TenantApi } from "../engine/interfaces.ts";
import type { OwnedItem } from "../engine/owned/each-owned.ts";
import type { ListSessionsInput } from "../engine/sessions/list-sessions.ts";
import type { TenantEngine } from "../engine/tenant-engine.ts";
import { ACCESS_TOKEN } from "../model/access.ts";
import { ENTRY, type Entry } from "../model/entry.ts";
import { BackscrollError } from "../model/errors.ts";
import type { JsonValue } from "../model/json.ts";
import { MAX_PAGE } from "../model/limits.ts";
import { FACT, type Fact, MEMORY, type Memory } from "../model/note.ts";
import { RECORD_INFO } from "../model/record.ts";
import { SESSION_ROUTE } from "../model/route.ts";
import type { Session } from "../model/session.ts";

export type ExportedRecord =
  | { readonly type: "session"; readonly session: Session }
  | { readonly type: "entry"; readonly entry: Entry }
  | { readonly type: "fact"; readonly fact: Fact }
  | { readonly type: "memory"; readonly memory: Memory }
  | Extract<OwnedItem, { readonly type: "record" | "route" | "token" }>;

/** Entries per page: few, because each may be large. */
const ENTRY_PAGE = 50;

/**
 * Keyset pagination beside concurrent writers: a session that is appended to moves to the front of
 * the list, before the cursor. So the list is read again until it has no new session.
 */
export async function* exportTenant(
  tenant: TenantApi,
  filter: ListSessionsInput = {},
): AsyncGenerator<ExportedRecord> {
  const done = new Set<string>();
  let before: number;
  do {
    before = done.size;
    for await (const id of listIds(tenant, filter)) yield* exportOnce(tenant, id, done);
  } while (done.size > before);
  // Memories belong to an agent, not to a project.
  if (Object.keys(filter).length === 0) yield* exportMemories(tenant);
}

/** All data of one owner: their sessions as above, then what `eachOwned` names beside them. */
export async function* exportOwner(
  tenant: TenantEngine,
  owner: string,
): AsyncGenerator<ExportedRecord> {
  yield* exportTenant(tenant, { owner });
  for await (const item of tenant.owned(owner).each()) {
    if (item.type !== "session" && item.type !== "participation") yield item;
  }
}

async function* listIds(tenant: TenantApi, filter: ListSessionsInput): AsyncGenerator<string> {
  let cursor: string | undefined;
  do {
    const page = await tenant.listSessions({
      ...filter,
      machineMade: true,
      limit: MAX_PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const session of page.sessions) yield session.id;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}

async function* exportOnce(
  tenant: TenantApi,
  id: string,
  done: Set<string>,
): AsyncGenerator<ExportedRecord> {
  if (done.has(id)) return;
  done.add(id);
  try {
    const handle = tenant.session(id);
    yield { type: "session", session: await handle.meta() };
    let after: string | undefined;
    do {
      const page = await handle.listEntries({
        tree: true,
        limit: ENTRY_PAGE,
        ...(after === undefined ? {} : { after }),
      });
      for (const entry of page.entries) yield { type: "entry", entry };
      after = page.next;
    } while (after !== undefined);
    yield* exportFacts(handle);
  } catch (error) {
    // Deleted during the export: skip it.
    if (!BackscrollError.is(error, "session_not_found")) throw error;
  }
}

async function* exportFacts(session: SessionApi): AsyncGenerator<ExportedRecord> {
  let after: string | undefined;
  do {
    const page = await session.listFacts({
      limit: MAX_PAGE,
      superseded: true,
      ...(after === undefined ? {} : { after }),
    });
    for (const fact of page) yield { type: "fact", fact };
    after = page.length < MAX_PAGE ? undefined : page.at(-1)?.id;
  } while (after !== undefined);
}

async function* exportMemories(tenant: TenantApi): AsyncGenerator<ExportedRecord> {
  let after: Memory | undefined;
  do {
    const page = await tenant.listMemories({
      limit: MAX_PAGE,
      ...(after === undefined ? {} : { after }),
    });
    for (const memory of page) yield { type: "memory", memory };
    after = page.length < MAX_PAGE ? undefined : page.at(-1);
  } while (after !== undefined);
}

/** `raw` leaves secrets unmasked. */
export function toExportLine(record: ExportedRecord, raw: boolean): object {
  const json = (value: JsonValue) => (raw ? value : maskJson(value));
  switch (record.type) {
    case "session":
      return {
        type: record.type,
        ...toWireSession(raw ? record.session : maskSession(record.session)),
      };
    case "entry":
      return { type: record.type, ...toWire(ENTRY, raw ? record.entry : maskEntry(record.entry)) };
    case "fact":
      return { type: record.type, ...toWire(FACT, raw ? record.fact : maskFact(record.fact)) };
    case "memory":
      return {
        type: record.type,
        ...toWire(MEMORY, raw ? record.memory : maskMemory(record.memory)),
      };
    case "record": {
      const { text, value } = record.record;
      const { type: value_type, ...info } = toWire(RECORD_INFO, record.record);
      return {
        type: record.type,
        ...info,
        value_type,
        text: text === null || raw ? text : maskText(text),
        // Bytes in base64.
        value: value instanceof Uint8Array ? Buffer.from(value).toString("base64") : json(value),
      };
    }
    case "route": {
      const route = toWire(SESSION_ROUTE, record.route);
      return { type: record.type, ...route, fields: json(route.fields as JsonValue) };
    }
    case "token":
      return { type: record.type, ...toWire(ACCESS_TOKEN, record.token) };
  }
}
