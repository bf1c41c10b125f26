/** The settings of an ingest run. */

import { KeyedQueue } from "../async/keyed-queue.ts";
import type { TenantApi } from "../engine/interfaces.ts";
import { Slots } from "../ingest/batches.ts";
import type { Oversize } from "../ingest/files/limit-lines.ts";
import { GitLookup } from "../ingest/identity/git.ts";
import { shortHash, thisMachine, workstationId } from "../ingest/identity/identity.ts";
import type { Environment, TranscriptSource } from "../ingest/source.ts";
import { SOURCES } from "../ingest/sources.ts";
import { BackscrollError } from "../model/errors.ts";
import { checkMethods } from "../model/input.ts";
import { isSwitchedOff } from "../model/variables.ts";
import { ArchiveRules } from "./rules/archive-rules.ts";

export interface IngestOptions {
  /** Locates files and identifies the machine. Default: this one. */
  readonly environment?: Environment;
  /** Only files of this format. A named file is read as one, whatever its content. */
  readonly source?: string;
  /** How to treat lines over 1 MB. Default: `cut` their long values. */
  readonly oversize?: Oversize;
  /** Also reads unchanged files, and restores forgotten sessions of files that the caller names. */
  readonly force?: boolean;
  /** A dry run: counts and stores nothing. */
  readonly dryRun?: boolean;
  /** Whether to keep the original bytes. Default: true. */
  readonly originals?: boolean;
  /** The known formats. Default: all. */
  readonly sources?: readonly TranscriptSource[];
}

export interface IngestSetting {
  readonly tenant: TenantApi;
  readonly environment: Environment;
  readonly workstation: string;
  readonly sources: readonly TranscriptSource[];
  readonly only: TranscriptSource | undefined;
  readonly oversize: Oversize;
  readonly force: boolean;
  readonly dryRun: boolean;
  readonly originals: boolean;
  readonly git: GitLookup;
  readonly rules: ArchiveRules;
  /** A keyed mutex: parts of one session are sequential. */
  readonly turns: KeyedQueue;
  /**
   * A semaphore for files whose size does not bound their memory: compressed ones, and those with
   * companions.
   */
  readonly unmeasured: Slots;
  /** A semaphore for companion files that are held in memory until they are stored. */
  readonly held: Slots;
  /** A semaphore for lines of more than a megabyte, across all files. */
  readonly longLines: Slots;
  /** The remembered format of a file that none of `sources` recognises. */
  readonly unrecognised: string;
}

/** Each may hold tens of megabytes; most are small, and four hardly keep the store waiting. */
const UNMEASURED_AT_ONCE = 4;

/**
 * Throws `invalid_input` for an unknown format, an invalid `WORKSTATION_ID` or configuration, and
 * where the environment says that nothing is to be stored.
 */
export async function createSetting(
  tenant: TenantApi,
  options: IngestOptions,
): Promise<IngestSetting> {
  const { environment = thisMachine(), sources = SOURCES, oversize = "cut" } = options;
  checkMethods(tenant, "tenant", ["importSession", "findIngestedFiles"]);
  if (isSwitchedOff("BACKSCROLL", environment.variables)) {
    const message =
      "BACKSCROLL is off in this environment, so that nothing of it is stored; unset it to ingest";
    throw new BackscrollError("invalid_input", message, { details: { field: "BACKSCROLL" } });
  }
  const only =
    options.source === undefined ? undefined : sources.find(({ name }) => name === options.source);
  if (options.source !== undefined && only === undefined) {
    const known = sources.map(({ name }) => name).join(", ");
    throw new BackscrollError(
      "invalid_input",
      `there is no format ${options.source}; known are ${known}`,
      { details: { field: "source" } },
    );
  }
  const git = new GitLookup();
  const agents = [...SOURCES, ...sources].map(({ name }) => name);
  const rules = new ArchiveRules(environment, git, [...new Set(agents)]);
  await rules.refresh();
  return {
    tenant,
    environment,
    sources,
    only,
    oversize,
    force: options.force ?? false,
    dryRun: options.dryRun ?? false,
    originals: options.originals ?? !isSwitchedOff("BACKSCROLL_ORIGINALS", environment.variables),
    workstation: await workstationId(environment),
    git,
    rules,
    turns: new KeyedQueue(),
    unmeasured: new Slots(UNMEASURED_AT_ONCE),
    held: new Slots(1),
    longLines: new Slots(1),
    unrecognised: `?${shortHash(sources.map(({ name }) => name).join())}`,
  };
}
