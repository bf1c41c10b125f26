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
  /** The source in whose place it was found: its most likely format. */
  readonly hint: TranscriptSource | undefined;
  /** The caller named this file. */
  readonly named: boolean;
}

/** A named path that cannot be looked at. */
export interface Missing {
  readonly path: string;
  readonly message: string;
}

/** All that agents have in their own places. */
export async function* findInPlaces(
  sources: readonly TranscriptSource[],
  environment: Environment,
  counts: WalkCounts,
): AsyncGenerator<readonly Candidate[]> {
  for (const source of sources) {
    for (const place of source.places?.(environment) ?? []) {
      for await (const group of walk(place, counts)) {
        yield group.map((file) => ({ file, hint: source, named: false }));
      }
    }
  }
}

/** Only files that agents at work in `cwd` at `now` write: see `near` of a place. */
export async function* findNear(
  sources: readonly TranscriptSource[],
  environment: Environment,
  { cwd, now }: { readonly cwd: string; readonly now: number },
): AsyncGenerator<readonly Candidate[]> {
  for (const source of sources) {
    for (const place of source.places?.(environment) ?? []) {
      for (const folder of place.near?.(cwd, now) ?? []) {
        // Paths and what may be read beside a transcript are those of the whole place.
        for await (const group of walk(place, noCounts(), folder)) {
          yield group.map((file) => ({ file, hint: source, named: false }));
        }
      }
    }
  }
}

/** Files as they are named, and all in a folder that could be a transcript. */
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
        onMissing({ path: name, message: `${name} is no file and no folder` });
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

/** By the name: what the formats that we read end in, packed or not. */
function couldBeTranscript(path: string): boolean {
  return /\.(jsonl|json|ndjson|md|txt|db|sqlite3?|vscdb)(\.[^/]*)?$/i.test(path);
}

function skips(path: string): boolean {
  return /(^|\/)(node_modules|\.git)$/.test(path);
}
