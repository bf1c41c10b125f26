/** Finds the labelled sets in a folder, by names and shapes of files and of checked-out repositories. */

import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { BEAM_SIZES, beamHaystacks, readBeamClone, readBeamFile } from "./memory-beam.ts";
import { readLabelledLocomo, readLocomo } from "./memory-locomo.ts";
import { readLongMemEval } from "./memory-longmemeval.ts";
import { readSdeClone, readSdeFile, sdeHaystack } from "./memory-sde.ts";
import type { BeamHalf, Haystack, MemorySet } from "./memory-set.ts";

/** What is missing, for a person. */
export const WHAT_IS_READ = `Any of these, in FOLDER or in a folder in it:
  locomo10.json             of https://github.com/snap-research/LoCoMo (data/locomo10.json)
  sessions.jsonl            with questions.jsonl: LoCoMo as labelled lines
  BEAM/                     a clone of https://github.com/mohammadtavakoli78/BEAM (chats/100K, chats/500K)
  beam-100k.json            or beam-500k.json: the same as one file
  sde-bench/                a clone of https://github.com/vectorize-io/sde-bench
  sde.json                  the same as one file
  longmemeval_s*.json       of https://github.com/xiaowu0162/LongMemEval (its README says where)`;

/** Where a set is in several forms, the first counts: made files, then clones. */
export function findSets(folder: string, half?: BeamHalf): MemorySet[] {
  const inside = foldersIn(folder);
  const folders = [folder, ...inside, ...[folder, ...inside].map((each) => join(each, "data"))];
  const files = folders.flatMap((each) => filesIn(each));
  const file = (name: RegExp) => files.find((path) => name.test(basename(path)));
  const holding = (...parts: readonly string[]) =>
    folders.find((each) => parts.every((part) => existsSync(join(each, part))));
  const found: MemorySet[] = [];
  const add = (name: MemorySet["name"], haystacks: () => Iterable<Haystack>) =>
    found.push({ name, haystacks });

  const locomo = file(/^locomo10.*\.json$/i);
  const labelled = holding("sessions.jsonl", "questions.jsonl");
  if (locomo !== undefined) add("locomo", () => readLocomo(locomo));
  else if (labelled !== undefined) add("locomo", () => readLabelledLocomo(labelled));

  const beam = BEAM_SIZES.flatMap((size) => {
    const made = file(new RegExp(`^beam-${size}\\.json$`, "i"));
    const clone = holding(join("chats", size));
    if (made !== undefined) return [() => beamHaystacks(readBeamFile(made), size, half)];
    return clone === undefined ? [] : [() => beamHaystacks(readBeamClone(clone, size), size, half)];
  });
  if (beam.length > 0) add("beam", () => inTurn(beam));

  const sde = file(/^sde\.json$/i);
  const sdeClone = holding(join("gen", "decoy_conversations.json"));
  if (sde !== undefined) add("sde-bench", () => [sdeHaystack(readSdeFile(sde))]);
  else if (sdeClone !== undefined) add("sde-bench", () => [sdeHaystack(readSdeClone(sdeClone))]);

  const longMemEval = file(/^longmemeval_s.*\.json$/i);
  if (longMemEval !== undefined) add("longmemeval", () => readLongMemEval(longMemEval));
  return found;
}

function* inTurn(all: readonly (() => Iterable<Haystack>)[]): Generator<Haystack> {
  for (const haystacks of all) yield* haystacks();
}

function foldersIn(folder: string): string[] {
  return entriesOf(folder).filter((path) => isFolder(path));
}

function filesIn(folder: string): string[] {
  return entriesOf(folder).filter((path) => !isFolder(path));
}

/** By name; none if `folder` is missing. */
function entriesOf(folder: string): string[] {
  if (!isFolder(folder)) return [];
  const names = readdirSync(folder).sort();
  return names.map((name) => join(folder, name));
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
