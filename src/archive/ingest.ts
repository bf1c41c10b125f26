/**
 * Ingests the transcripts of this machine's agents as sessions of a store.
 *
 * Policy on top of the engine: where to look, how to title a session, when to read a file.
 */

import type { TenantApi } from "../engine/interfaces.ts";
import { limitLines } from "../ingest/files/limit-lines.ts";
import { toPlain } from "../ingest/files/unpack.ts";
import type { WalkCounts } from "../ingest/files/walk.ts";
import { ProblemLog } from "../ingest/problems.ts";
import { readTranscript } from "../ingest/read-transcript.ts";
import { ignoring } from "../model/errors.ts";
import { checkFields } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { MAX_PAGE } from "../model/limits.ts";
import type { Candidate } from "./candidate.ts";
import { type Finding, findInPlaces, findNamed, type Missing, noFinding } from "./find-files.ts";
import type { RepositoryFound } from "./find-in-repository.ts";
import { ingestFiles, planGroup, type RunHandlers } from "./ingest-files.ts";
import { ingestNotes, NO_NOTES, type NoteTotals } from "./ingest-notes.ts";
import { createSetting, type IngestOptions, type IngestSetting } from "./ingest-setting.ts";
import type { FileOutcome, SessionOutcome, Totals } from "./outcome.ts";
import { storeSession } from "./store-session.ts";

export interface IngestInput extends IngestOptions, RunHandlers {
  /** Files and folders. Default: the agents' own places. */
  readonly paths?: readonly string[];
}

export interface IngestReport {
  readonly workstation: string;
  readonly totals: Totals;
  /** Totals of agents' own notes, which are read if no paths are given. */
  readonly notes: NoteTotals;
  readonly skipped: WalkCounts;
  /** Named paths that cannot be read. */
  readonly missing: readonly Missing[];
  /** Named folders that are repositories, with what was found in their history. */
  readonly repositories: readonly RepositoryFound[];
  /** Sessions that were deleted because they are older than `keep`; none if paths are given. */
  readonly expired: number;
}

export async function ingest(tenant: TenantApi, input: IngestInput = {}): Promise<IngestReport> {
  checkFields(input, "options", INPUTS.ingest);
  const setting = await createSetting(tenant, input);
  const finding = noFinding();
  const groups = findCandidates(setting, input.paths, finding);
  const totals = await ingestFiles(setting, groups, input);
  const isAborted = input.signal?.aborted ?? false;
  const hasNotes = input.paths === undefined && !isAborted;
  const notes = hasNotes ? await ingestNotes(setting) : NO_NOTES;
  const expired = hasNotes ? await expireSessions(setting) : 0;
  return { workstation: setting.workstation, totals, notes, ...finding, expired };
}

interface Survey {
  /** To be read. */
  readonly files: number;
  readonly bytes: number;
  /** Files of which a rule keeps the only session out, by rule, as far as they were read before. */
  readonly ignoredBy: ReadonlyMap<string, number>;
  /** The rules of the configuration. */
  readonly rules: readonly string[];
  /** In milliseconds; null: for ever. */
  readonly keepMs: number | null;
}

/** The amount to read, for progress displays, and what is left out. */
export async function survey(tenant: TenantApi, input: IngestInput): Promise<Survey> {
  const setting = await createSetting(tenant, input);
  let files = 0;
  let bytes = 0;
  const ignoredBy = new Map<string, number>();
  for await (const group of findCandidates(setting, input.paths, noFinding())) {
    for (const { candidate, known, plan, rule } of await planGroup(setting, group)) {
      if (rule !== undefined) ignoredBy.set(rule, (ignoredBy.get(rule) ?? 0) + 1);
      if (plan === "unchanged" || plan === "ignored") continue;
      files++;
      bytes += candidate.file.size - (plan === "rest" ? (known?.offset ?? 0) : 0);
    }
    if (input.signal?.aborted) break;
  }
  const { names: rules, keepMs } = setting.rules;
  return { files, bytes, ignoredBy, rules, keepMs };
}

export function findCandidates(
  setting: IngestSetting,
  paths: readonly string[] | undefined,
  finding: Finding,
): AsyncIterable<readonly Candidate[]> {
  const { only, sources, environment } = setting;
  if (paths !== undefined) return findNamed(setting, paths, finding);
  return findInPlaces(only === undefined ? sources : [only], environment, finding.skipped);
}

/** Throws `unknown_format`, and `invalid_input` for a session without an id. */
export async function ingestStream(
  setting: IngestSetting,
  bytes: AsyncIterable<Uint8Array>,
): Promise<FileOutcome> {
  const problems = new ProblemLog();
  let length = 0;
  const counted = (async function* () {
    for await (const chunk of bytes) {
      length += chunk.length;
      yield chunk;
    }
  })();
  const transcript = await readTranscript({
    bytes: toPlain(counted, problems),
    ...(setting.only === undefined ? {} : { source: setting.only.name }),
    prepare: (lines) => limitLines(lines, setting.oversize, problems),
  });
  const sessions: SessionOutcome[] = [];
  for await (const session of transcript.sessions) {
    const {
      last: _,
      key: __,
      ignored,
      ...stored
    } = await storeSession(setting, session, {
      path: "",
      mtimeUs: Date.now() * 1000,
      isRest: false,
      last: null,
      index: 0,
      isNamed: true,
      revive: setting.force,
    });
    sessions.push(ignored === undefined ? stored : { ...stored, ignoredBy: ignored.rule });
  }
  const problemCounts = new Map<string, number>([
    ...transcript.problems.counts,
    ...problems.counts,
  ]);
  return {
    path: "-",
    how: "read",
    source: transcript.source,
    bytes: length,
    sessions,
    problems: [...transcript.problems.first, ...problems.first],
    problemCounts,
    ignoredCounts: transcript.problems.ignored,
  };
}

/**
 * Deletes what has been kept for as long as the person wants: sessions that this machine ingested, by
 * the age of their last message. The tombstones keep their files from being ingested again. Gives
 * the number of deleted sessions.
 */
export async function expireSessions(
  { tenant, workstation, rules, dryRun }: IngestSetting,
  now: number = Date.now(),
): Promise<number> {
  if (rules.keepMs === null || dryRun) return 0;
  const until = now - rules.keepMs;
  const old: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await tenant.listSessions({
      workstation,
      until,
      machineMade: true,
      limit: MAX_PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    old.push(...page.sessions.filter(({ origin }) => origin.source != null).map(({ id }) => id));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  let deleted = 0;
  for (const id of old) {
    await ignoring("session_not_found", async () => {
      await tenant.deleteSession(id);
      deleted++;
    });
  }
  return deleted;
}
