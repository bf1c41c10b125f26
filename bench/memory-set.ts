/** Labelled sets of `bench memory`: haystacks, and questions with their evidence. */

import { readFileSync } from "node:fs";
import type { LabelledSession, Question } from "./recall-data.ts";

export interface MemoryQuestion extends Question {
  /** The groups that it counts in beside `all`. */
  readonly groups: readonly string[];
  /** Messages, or sessions where `messages` is empty, that hold and that do so no longer. */
  readonly updated?: readonly string[];
  readonly outdated?: readonly string[];
  /** Those of `messages` that an assistant said. */
  readonly ofAssistant?: readonly string[];
}

/** What is searched for its questions, in a store of its own. */
export interface Haystack {
  readonly sessions: readonly LabelledSession[];
  readonly questions: readonly MemoryQuestion[];
}

export interface MemorySet {
  readonly name: SetName;
  /** One after another: some sets are larger than memory. */
  readonly haystacks: () => Iterable<Haystack>;
}

/** `beam` ranks the messages of a chat, the others sessions; `locomo` both. */
export type SetName = "locomo" | "beam" | "sde-bench" | "longmemeval";

/** In which half of BEAM a question is: `dev` has been seen while the ranking was made. */
export type BeamHalf = "dev" | "held";

/** An error names the file: a pointer of Git LFS, say, is no JSON. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (cause) {
    throw new Error(`${path} cannot be read: ${(cause as Error).message}`, { cause });
  }
}
