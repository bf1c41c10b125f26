/** The protocol between a crash test and its writers. */

import { hash } from "node:crypto";
import type { Durability, Entry } from "../../src/index.ts";

export interface CrashTask {
  readonly address: string;
  readonly durability: Durability;
  readonly inThread: boolean;
  readonly mode: "single" | "batch" | "stream" | "edit" | "reopen";
  readonly ownSession: string;
  readonly sharedSession: string;
  readonly leaseMs: number;
}

/** `entries`: the number of entries that the announced operation adds. */
export type CrashLine =
  | { readonly will: "append"; readonly session: string; readonly entries: number }
  | { readonly did: "append"; readonly session: string; readonly entries: readonly Written[] }
  | { readonly did: "flush"; readonly id: string; readonly text: string }
  | { readonly did: "create" };

export interface Written {
  readonly id: string;
  readonly sequence: number;
  readonly digest: string;
}

export function written(entry: Entry): Written {
  const digest = hash("sha256", JSON.stringify(entry.blocks)).slice(0, 16);
  return { id: entry.id, sequence: entry.sequence, digest };
}
