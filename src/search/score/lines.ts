/**
 * Lines: runs that are the query as somebody read and copied it.
 *
 * The best messages with a run are read and compared with the query. What a message says literally
 * comes first, then what an output shows literally, then its words in an output. An output that
 * lists commits is an echo of the sessions that made them.
 */

import { indexedParts } from "../document/indexable-text.ts";
import type { Blobs } from "../index/blobs.ts";
import { CHUNK_DOCUMENTS, ROLES } from "../index/layout.ts";
import { ask, type SansIo, type WindowEntry } from "../port.ts";
import { isSubject, type LineMatcher, lineMatcher } from "../query/line-matcher.ts";
import type { TermQuery } from "../query/query.ts";
import type { TenantCache } from "../search-cache.ts";
import type { View } from "../snapshot.ts";
import { ECHO, type WeighedRun } from "./coverage.ts";
import type { RankingProfile } from "./profile.ts";
import type { Run } from "./runs.ts";

/** A run of fewer words is not compared: it is a name rather than a line. */
const LEAST_WORDS = 3;
/** The number of messages that are read at a time, and in all. */
const READ = 20;
const MAX_READ = 60;

/** What a session gains by its run. */
export interface RunGain extends WeighedRun {
  readonly run: Run;
  /** Whether the message is shown in place of the best one by words. */
  readonly isHit: boolean;
}

/** What a search needs to read messages. */
export interface LineSearch {
  readonly query: TermQuery;
  readonly profile: RankingProfile;
  readonly views: readonly View[];
  readonly blobs: Blobs;
  readonly cache: TenantCache;
}

const ROLE_OF_TOOLS = ROLES.indexOf("tool");
const [NO_LINE, SHOWN_WORDS, SHOWN, SAID] = [0, 1, 2, 3] as const;

/** `runs` are those of each session, the best session first. */
export function* weighRuns(
  runs: readonly (readonly Run[])[],
  search: LineSearch,
): SansIo<readonly RunGain[]> {
  if (runs.length === 0) return [];
  const { query, profile } = search;
  const isLong = query.verbatim.length >= LEAST_WORDS;
  const steps = isLong ? yield* compareRuns(runs, search) : new Map<Run, number>();
  const stepOf = (run: Run) => steps.get(run) ?? NO_LINE;
  // More than all other parts of a score together.
  const step = profile.verbatim * (1 + profile.coverage + profile.pairs);
  return runs.flatMap((own) => {
    const isTold = (run: Run) => roleAt(search.views, run) !== ROLE_OF_TOOLS;
    const isBetter = (a: Run, b: Run) =>
      stepOf(a) > stepOf(b) || (stepOf(a) === stepOf(b) && isTold(a) && !isTold(b));
    const run = own.reduce((best, each) => (isBetter(each, best) ? each : best));
    // Only a literal copy has the sign of an excluded word.
    if (query.excluded.length > 0 && stepOf(run) < SHOWN) return [];
    const isLine = stepOf(run) > NO_LINE;
    const isSaid = run.field === "message";
    const plain = profile.verbatim * (isSaid ? 1 : ECHO);
    return { run, gain: isLine ? stepOf(run) * step : plain, isHit: isLine || isSaid, isLine };
  });
}

/** An index into `ROLES`; that of users if the chunk is not loaded. */
function roleAt(views: readonly View[], { view, document }: Run): number {
  const columns = views[view]?.source.columns(Math.floor(document / CHUNK_DOCUMENTS));
  return columns?.roles[document % CHUNK_DOCUMENTS] ?? 0;
}

/** The best message of each session first, until one has the query literally. */
function* compareRuns(
  runs: readonly (readonly Run[])[],
  search: LineSearch,
): SansIo<ReadonlyMap<Run, number>> {
  const matcher = lineMatcher(search.query.typed);
  const firsts = runs.map((own) => own[0] as Run);
  const others = runs.flatMap((own) => own.slice(1));
  const all = [...firsts.slice(0, READ), ...others, ...firsts.slice(READ)].slice(0, MAX_READ);
  const steps = new Map<Run, number>();
  for (let from = 0; from < all.length; from += READ) {
    const batch = all.slice(from, from + READ);
    const entries = yield* readEntries(batch, search);
    for (const [i, run] of batch.entries()) {
      const entry = entries[i];
      if (entry !== undefined) steps.set(run, compare(run, entry, matcher));
    }
    if (batch.some((run) => (steps.get(run) ?? NO_LINE) >= SHOWN)) break;
  }
  return steps;
}

function compare({ field }: Run, { blocks }: WindowEntry, matches: LineMatcher): number {
  const texts = indexedParts(blocks, field);
  if (field === "message") return texts.some((text) => matches(text, "literal")) ? SAID : NO_LINE;
  const isShown = (text: string, from: number, to: number) => !isSubject(text, from, to);
  if (texts.some((text) => matches(text, "literal", isShown))) return SHOWN;
  return texts.some((text) => matches(text, "words", isShown)) ? SHOWN_WORDS : NO_LINE;
}

/** In the order of `runs`; undefined if deleted or erased. */
function* readEntries(
  runs: readonly Run[],
  { views, blobs, cache }: LineSearch,
): SansIo<readonly (WindowEntry | undefined)[]> {
  const sequences = yield* blobs.complete(() =>
    runs.map(({ view, document }) => views[view]?.source.facts(document)?.sequence ?? 0),
  );
  const windows = yield* ask<"windows">({
    need: "windows",
    windows: runs.map(({ session }, i) => {
      const head = cache.head(session);
      const wanted = { session, sequence: sequences[i] as number, before: 0, after: 0 };
      return head === undefined ? wanted : { ...wanted, head };
    }),
  });
  return runs.map(({ session }, i) => {
    const window = windows[i];
    if (window !== undefined) cache.rememberHead(session, window.head);
    const entry = window?.entries.find(({ sequence }) => sequence === sequences[i]);
    return entry?.erased === true ? undefined : entry;
  });
}
