/** The port of a writer of another agent's session files. */

import type { LineMark, SessionMark } from "../../transcript/copy-mark.ts";
import { parseExact } from "../../transcript/exact-json.ts";
import type { CarriedMessage, Reader } from "./carried.ts";

export interface NativeFormat {
  /** The name of its reader. */
  readonly name: string;
  readonly reader: Reader;
  /** The whole file. */
  write(input: NativeInput): string;
}

export interface NativeInput {
  /** Id of the new session, in the agent's own form. */
  readonly id: string;
  readonly cwd: string;
  readonly gitBranch: string | null;
  readonly title: string;
  /** Epoch milliseconds: the time of writing. */
  readonly now: number;
  readonly messages: readonly CarriedMessage[];
  readonly mark: SessionMark;
  /** A new UUID for a line. */
  readonly newUuid: () => string;
}

export function lineMark({ entry, injected }: CarriedMessage): LineMark {
  return { ...(entry === null ? {} : { entry }), ...(injected ? { injected: true } : {}) };
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

export function jsonLines(records: readonly object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

/** Arguments as an object, as most formats keep them; other values go into `input`. */
export function toArguments(input: string): object {
  try {
    const value = parseExact(input);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    // A number of many digits is raw JSON.
    if (isObject && !("rawJSON" in value && Object.getPrototypeOf(value) === null)) return value;
  } catch {
    // A model's arguments may be invalid JSON.
  }
  return { input };
}
