/**
 * Ingests the transcripts of this machine's agents as sessions of a store.
 *
 * Policy on top of the engine: where to look, how to title a session, when to read a file.
 */

import type { TenantApi } from "../engine/interfaces.ts";
import { noCounts, type WalkCounts } from "../ingest/files/walk.ts";
import { checkFields } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { type Candidate, findInPlaces, findNamed, type Missing } from "./find-files.ts";
import { ingestFiles, planGroup, type RunHandlers } from "./ingest-files.ts";
import { ingestNotes, NO_NOTES, type NoteTotals } from "./ingest-notes.ts";
import { createSetting, type IngestOptions, type IngestSetting } from "./ingest-setting.ts";
import type { Totals } from "./outcome.ts";
import { expireSessions } from "./rules/expire-sessions.ts";

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
  /** Sessions that were deleted because they are older than `keep`; none if paths are given. */
  readonly expired: number;
}

export async function ingest(tenant: TenantApi, input: IngestInput = {}): Promise<IngestReport> {
  checkFields(input, "options", INPUTS.ingest);
  const setting = await createSetting(tenant, input);
  const skipped = noCounts();
  const missing: Missing[] = [];
  const groups = findCandidates(setting, input.paths, skipped, (each) => missing.push(each));
  const totals = await ingestFiles(setting, groups, input);
  const isAborted = input.signal?.aborted ?? false;
  const hasNotes = input.paths === undefined && !isAborted;
  const notes = hasNotes ? await ingestNotes(setting) : NO_NOTES;
  const expired = hasNotes ? await expireSessions(setting) : 0;
  return { workstation: setting.workstation, totals, notes, skipped, missing, expired };
}

export interface Survey {
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
  for await (const group of findCandidates(setting, input.paths, noCounts(), () => undefined)) {
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
  skipped: WalkCounts,
  onMissing: (missing: Missing) => void,
): AsyncIterable<readonly Candidate[]> {
  const { only, sources, environment } = setting;
  if (paths !== undefined) return findNamed(paths, skipped, onMissing);
  return findInPlaces(only === undefined ? sources : [only], environment, skipped);
}
