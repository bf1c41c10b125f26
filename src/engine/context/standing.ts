/** Entries that stay in the context through compactions: pinned ones with their tool pairs. */

import { toolGroups } from "../../compaction/choose-cut.ts";
import type { Entry } from "../../model/entry.ts";
import { MAX_PAGE } from "../../model/limits.ts";
import type { EntryPage } from "../../store/entry-query.ts";
import { toolTraffic } from "../../transcript/tool-pairs.ts";
import type { CompactionView } from "../compaction/compaction-entry.ts";
import type { EngineContext } from "../engine-context.ts";
import { toEntry } from "../entry-view.ts";
import { asShown } from "./read-context.ts";

const NOTHING: EntryPage = { entries: [], payloads: new Map(), total: 0 };

/** The newest 500 pinned entries of the path. */
function readPinned(
  engine: EngineContext,
  sessionId: string,
  leaf: string | undefined,
): Promise<EntryPage> {
  return engine.store.readEntries(engine.tenant, {
    select: "marked",
    sessionId,
    mark: "pinned",
    leaf: leaf ?? null,
    limit: MAX_PAGE,
    payloads: true,
  });
}

/**
 * Entries pinned on the path, now or at the newest compaction, in order, without those already
 * `present` in the context. `hasPins` false: the session has no pins.
 */
export async function readStanding(
  engine: EngineContext,
  sessionId: string,
  compaction: CompactionView | null,
  present: ReadonlySet<string>,
  leaf: string | undefined,
  hasPins = true,
): Promise<readonly Entry[]> {
  const marked = hasPins ? await readPinned(engine, sessionId, leaf) : NOTHING;
  const pinned = marked.entries.map((record) => toEntry(record, marked.payloads));
  const found = new Map(pinned.map((entry) => [entry.id, entry]));
  const missing = (compaction?.pinned ?? []).filter((id) => !found.has(id));
  for (const entry of await findAll(engine, missing)) found.set(entry.id, entry);
  for (const entry of pinned) {
    if (present.has(entry.id) || isAlone(entry)) continue;
    for (const member of await readGroup(engine, sessionId, entry, leaf)) {
      found.set(member.id, member);
    }
  }
  return [...found.values()]
    .filter((entry) => entry.sessionId === sessionId && !present.has(entry.id))
    .filter((entry) => entry.status === "committed" && entry.blocks.length > 0)
    .toSorted((a, b) => a.sequence - b.sequence)
    .map((entry) => asShown(entry, compaction, engine.counter));
}

/** The existing ones, with content. */
export async function findAll(engine: EngineContext, ids: readonly string[]): Promise<Entry[]> {
  if (ids.length === 0) return [];
  const page = await engine.store.findEntries(engine.tenant, ids, true);
  return page.entries.map((record) => toEntry(record, page.payloads));
}

function isAlone({ blocks }: Entry): boolean {
  const { calls, results } = toolTraffic(blocks);
  return calls.length === 0 && results.length === 0;
}

/** How far from a pinned call or result the rest of its group is searched. */
const GROUP_REACH = 32;

/** The messages of the path that tool calls tie the entry to: calls before it, results after it. */
export async function readGroup(
  engine: EngineContext,
  sessionId: string,
  entry: Entry,
  leaf: string | undefined,
): Promise<readonly Entry[]> {
  const place = {
    sessionId,
    limit: GROUP_REACH,
    payloads: true,
    ...(leaf === undefined ? {} : { leaf }),
  };
  const { store, tenant } = engine;
  const before = await store.readEntries(tenant, {
    ...place,
    select: "history",
    include: "messages",
    before: entry.id,
  });
  const after = await store.readEntries(tenant, { ...place, select: "path", after: entry.id });
  const toEntries = ({ entries, payloads }: EntryPage) =>
    entries
      .filter(({ kind, status }) => kind === "message" && status === "committed")
      .map((record) => toEntry(record, payloads));
  const all = [...toEntries(before), entry, ...toEntries(after)];
  const groups = toolGroups(all.map(({ blocks }) => toolTraffic(blocks)));
  const own = groups[all.indexOf(entry)];
  return all.filter((_, i) => groups[i] === own);
}
