/**
 * Finds the files to check: those in the agents' folders, or those that the caller named. They come
 * in groups, as a machine may have a million of them.
 */

import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { type FoundFile, noCounts, toFound, type WalkCounts, walk } from "../ingest/files/walk.ts";
import type { Environment, TranscriptSource } from "../ingest/source.ts";

export interface Candidate {
  readonly file: FoundFile;
  /** The source whose place contains it: its most likely format. */
  readonly hint: TranscriptSource | undefined;
  /** The root of that place, as the source names it. */
  readonly place?: string;
  /** The caller named this file. */
  readonly named: boolean;
}

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

/** Named files, and all possible transcripts in named folders. */
export async function* findNamed(
  paths: readonly string[],
  counts: WalkCounts,
  onMissing: (missing: Missing) => void,
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
        onMissing({ path: name, message: `${name} is neither a file nor a folder` });
        continue;
      }
    } catch (error) {
      onMissing({ path: name, message: `${name} cannot be read: ${(error as Error).message}` });
      continue;
    }
    for await (const group of walk({ root: path, matches: couldBeTranscript, skips }, counts)) {
      yield group.map((file) => ({ file, hint: undefined, named: false }));
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
