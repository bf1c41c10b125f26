/** Appends entries atomically, some of which may exist under their external ids. */

import type { Entry } from "../../model/entry.ts";
import { isGuardFailure } from "../../store/plan/append-guard.ts";
import type { EntryRecord } from "../../store/records.ts";
import { type AppendOptions, appendDrafts, readEntries } from "../append.ts";
import { invalid } from "../check.ts";
import type { EngineContext } from "../engine-context.ts";
import { type Draft, requestOf } from "../message-input.ts";
import { newestVersions, readVersions } from "./external-ids.ts";
import { settleSummary } from "./rewrite.ts";

export interface AppendEntriesOptions extends AppendOptions {
  /**
   * For an existing external id: `keep` (the default) returns the stored entry; `replace` adds the
   * new one as a superseding sibling, as an edit does, unless both are equal. An erased entry is
   * kept in either case.
   */
  readonly existing?: "keep" | "replace";
}

/** How often an append is planned again after concurrent writes of the same entries. */
const MAX_TRIES = 16;

/** The entries of the drafts, in order: new and existing ones. Callers have checked the options. */
export async function appendEntries(
  engine: EngineContext,
  sessionId: string,
  drafts: readonly Draft[],
  options: AppendEntriesOptions,
): Promise<Entry[]> {
  const { existing = "keep", ...rest } = options;
  const doesReplace = existing === "replace";
  const named = drafts.filter((draft) => draft.externalId !== undefined);
  if (named.length === 0) return appendDrafts(engine, sessionId, drafts, rest);
  const distinct = withoutRepeats(drafts, doesReplace);
  // The request's identity does not depend on which of its entries exist already.
  const from = rest.parent === undefined ? "leaf" : rest.parent;
  const request = [distinct.map(requestOf), existing, from];
  const ids = named.map(({ entry }) => entry.id);
  // Most are new: the append is planned without a read, and again if its guard meets existing ones.
  let known: ReadonlyMap<string, EntryRecord> = new Map();
  for (let tries = 1; ; tries++) {
    const wanted = planEntries(engine, distinct, known, doesReplace);
    try {
      const added =
        wanted.drafts.length === 0
          ? []
          : await appendDrafts(engine, sessionId, wanted.drafts, rest, {
              guard: wanted.guard,
              request,
            });
      if (wanted.guard.current.length > 0) await settleSummary(engine, sessionId);
      return await inOrder(engine, drafts, added);
    } catch (error) {
      if (!isGuardFailure(error) || tries === MAX_TRIES) throw error;
      known = await newestVersions(engine, ids);
    }
  }
}

/** A repeated external id in one request is one entry. */
function withoutRepeats(drafts: readonly Draft[], doesReplace: boolean): Draft[] {
  const seen = new Set<string>();
  return drafts.filter(({ externalId }) => {
    if (externalId === undefined) return true;
    if (seen.has(externalId) && doesReplace) {
      throw invalid("externalId", `the external id ${externalId} is given twice in one append`);
    }
    const isNew = !seen.has(externalId);
    seen.add(externalId);
    return isNew;
  });
}

interface EntryPlan {
  readonly drafts: readonly Draft[];
  readonly guard: { readonly absent: readonly string[]; readonly current: readonly string[] };
}

/** The drafts to write, given the stored versions as last read. */
function planEntries(
  engine: EngineContext,
  drafts: readonly Draft[],
  known: ReadonlyMap<string, EntryRecord>,
  doesReplace: boolean,
): EntryPlan {
  const absent: string[] = [];
  const current: string[] = [];
  const planned: Draft[] = [];
  for (const draft of drafts) {
    const { entry, externalId } = draft;
    const stored = externalId === undefined ? undefined : known.get(entry.id);
    if (stored === undefined) {
      if (externalId !== undefined) absent.push(entry.id);
      planned.push(draft);
    } else if (doesReplace && isOther(draft, stored)) {
      current.push(stored.id);
      const { parentId, id: supersedes } = stored;
      planned.push({ ...draft, entry: { ...entry, id: engine.newId(), parentId, supersedes } });
    }
  }
  return { drafts: planned, guard: { absent, current } };
}

/** Large payloads are compared by hash. */
function isOther({ entry }: Draft, stored: EntryRecord): boolean {
  if (stored.content === null) return false;
  return (
    entry.content !== stored.content ||
    entry.kind !== stored.kind ||
    entry.role !== stored.role ||
    entry.actor !== stored.actor ||
    entry.model !== stored.model ||
    entry.adapter !== stored.adapter ||
    entry.metadata !== stored.metadata ||
    JSON.stringify(entry.usage) !== JSON.stringify(stored.usage)
  );
}

/**
 * `added` is in the order of the drafts, also in a replay, without those that existed when the
 * request first came.
 */
async function inOrder(
  engine: EngineContext,
  drafts: readonly Draft[],
  added: readonly Entry[],
): Promise<Entry[]> {
  const named = new Map(added.map((entry) => [entry.externalId, entry]));
  const missing = drafts.filter(
    ({ externalId }) => externalId !== undefined && !named.has(externalId),
  );
  const versions = await readVersions(
    engine,
    missing.map(({ entry }) => entry.id),
  );
  // An erased entry loses its external id, but keeps its place among the versions.
  const ofNamed = new Set([...versions.values()].flatMap((all) => all.map(({ id }) => id)));
  const plain = added
    .filter(({ externalId, id }) => externalId === null && !ofNamed.has(id))
    .values();
  const newestOf = (id: string) => versions.get(id)?.at(-1)?.id ?? "";
  const read = await readEntries(
    engine,
    missing.map(({ entry }) => newestOf(entry.id)),
  );
  const byId = new Map(read.map((entry) => [entry.id, entry]));
  return drafts.map(({ entry, externalId }) => {
    const stored =
      externalId === undefined
        ? plain.next().value
        : (named.get(externalId) ?? byId.get(newestOf(entry.id)));
    if (stored === undefined) throw new Error(`entry ${entry.id} was appended and cannot be found`);
    return stored;
  });
}
