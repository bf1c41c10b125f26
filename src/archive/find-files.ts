/**
 * Finds the files to check: those in the agents' folders, or those that the caller named. They come
 * in groups, as a machine may have a million of them.
 */

import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { isInside } from "../ingest/files/file-access.ts";
import { noCounts, toFound, type WalkCounts, walk } from "../ingest/files/walk.ts";
import { repositoryAt } from "../ingest/identity/git.ts";
import type { Environment, TranscriptSource } from "../ingest/source.ts";
import type { Candidate } from "./candidate.ts";
import { findInRepository, isHistory, type RepositoryFound } from "./find-in-repository.ts";
import type { IngestSetting } from "./ingest-setting.ts";

/** A named path that cannot be read. */
export interface Missing {
  readonly path: string;
  readonly message: string;
}

/** All files in the agents' places. */
export async function* findInPlaces(
  sources: readonly TranscriptSource[],
  environment: Environment,
  counts: WalkCounts,
): AsyncGenerator<readonly Candidate[]> {
  for (const source of sources) {
    for (const place of source.places?.(environment) ?? []) {
      for await (const group of walk(place, counts)) {
        yield group.map((file) => ({ file, hint: source, place: place.root, named: false }));
      }
    }
  }
}

/** Only files of agents at work in `cwd` at `now`: see `near` of a place. */
export async function* findNear(
  sources: readonly TranscriptSource[],
  environment: Environment,
  { cwd, now }: { readonly cwd: string; readonly now: number },
): AsyncGenerator<readonly Candidate[]> {
  for (const source of sources) {
    for (const place of source.places?.(environment) ?? []) {
      for (const folder of place.near?.(cwd, now) ?? []) {
        // Paths and confinement are those of the whole place.
        for await (const group of walk(place, noCounts(), folder)) {
          yield group.map((file) => ({ file, hint: source, named: false }));
        }
      }
    }
  }
}

/** What came to light beside the files. */
export interface Finding {
  readonly skipped: WalkCounts;
  readonly missing: Missing[];
  readonly repositories: RepositoryFound[];
}

export function noFinding(): Finding {
  return { skipped: noCounts(), missing: [], repositories: [] };
}

/** Named files, and all possible transcripts in named folders and repositories. */
export async function* findNamed(
  setting: IngestSetting,
  paths: readonly string[],
  { skipped, missing, repositories }: Finding,
): AsyncGenerator<readonly Candidate[]> {
  for (const name of paths) {
    const path = resolve(name);
    try {
      const facts = await stat(path);
      if (facts.isFile()) {
        yield [{ file: toFound(dirname(path), path, facts), hint: undefined, named: true }];
        continue;
      }
      if (!facts.isDirectory()) {
        missing.push({ path: name, message: `${name} is neither a file nor a folder` });
        continue;
      }
    } catch (error) {
      missing.push({ path: name, message: `${name} cannot be read: ${(error as Error).message}` });
      continue;
    }
    // Agents' folders in a home that is a repository came with no repository.
    const isHome = isInside(setting.environment.home, path);
    const repository = isHome ? undefined : await repositoryAt(path);
    const found = { path: name, sessions: 0, histories: 0, problems: [] };
    if (repository !== undefined) {
      repositories.push(found);
      yield* findInRepository(setting, repository, found);
    }
    if (repository?.isBare) continue;
    const mark = repository === undefined ? {} : { repository: { remote: repository.remote } };
    for await (const group of walk({ root: path, matches: couldBeTranscript, skips }, skipped)) {
      found.histories += group.filter((file) => isHistory(file.path)).length;
      yield group.map((file) => ({ file, hint: undefined, named: false, ...mark }));
    }
  }
}

/** By the extensions of the supported formats, compressed or not. */
function couldBeTranscript(path: string): boolean {
  return /\.(jsonl|json|ndjson|md|txt|db|sqlite3?|vscdb)(\.[^/]*)?$/i.test(path);
}

function skips(path: string): boolean {
  return /(^|\/)(node_modules|\.git)$/.test(path);
}
