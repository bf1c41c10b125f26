/**
 * Ids that writers choose for their entries.
 *
 * The entry's own id is derived from the external one, as in imports, so it is unique and found as
 * long as the session exists, without a table. A later version has its own id and is found by
 * following `supersedes`.
 */

import type { Entry } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import { checkName } from "../../model/ids.ts";
import type { EntryRecord } from "../../store/records.ts";
import { readEntries } from "../append.ts";
import type { EngineContext } from "../engine-context.ts";
import { ImportedIds } from "../import/imported-id.ts";
import type { NewEntryId } from "../message-input.ts";

/** Ids for new entries of a session. */
export function entryIds(engine: EngineContext, sessionId: string): NewEntryId {
  let external: ImportedIds | undefined;
  return (externalId) => {
    if (externalId === undefined) return engine.newId();
    // No origin key contains a NUL, so imports into the same session derive other ids.
    external ??= new ImportedIds(`${sessionId}\0external`);
    return external.of(externalId);
  };
}

/** The newest version of the entry with an external id; throws `entry_not_found`. */
export async function getByExternalId(
  engine: EngineContext,
  sessionId: string,
  externalId: string,
): Promise<Entry> {
  const id = entryIds(engine, sessionId)(checkName(externalId, "externalId"));
  const newest = (await newestVersions(engine, [id])).get(id);
  const [entry] = newest === undefined ? [] : await readEntries(engine, [newest.id]);
  if (entry !== undefined) return entry;
  throw new BackscrollError(
    "entry_not_found",
    `session ${sessionId} has no entry with the external id ${externalId}`,
    { details: { externalId, sessionId } },
  );
}

/** Each stored entry's newest version, by id, without payloads. */
export async function newestVersions(
  engine: EngineContext,
  ids: readonly string[],
): Promise<Map<string, EntryRecord>> {
  const versions = await readVersions(engine, ids);
  return new Map([...versions].map(([id, all]) => [id, all.at(-1) as EntryRecord]));
}

/** Each stored entry's versions, by id, oldest first. */
export async function readVersions(
  { store, tenant }: EngineContext,
  ids: readonly string[],
): Promise<Map<string, EntryRecord[]>> {
  const versions = new Map<string, EntryRecord[]>();
  let sought = new Map(ids.map((id) => [id, id]));
  while (sought.size > 0) {
    const { entries } = await store.findEntries(tenant, [...sought.values()], false);
    const found = new Map(entries.map((entry) => [entry.id, entry]));
    const further = new Map<string, string>();
    for (const [id, version] of sought) {
      const entry = found.get(version);
      if (entry === undefined) continue;
      versions.set(id, [...(versions.get(id) ?? []), entry]);
      if (entry.supersededBy !== null) further.set(id, entry.supersededBy);
    }
    sought = further;
  }
  return versions;
}
