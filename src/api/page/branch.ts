/** Branches of a session, on the wire. */

import type { Branch } from "../../engine/read.ts";
import { fromWireEntry, toWireEntry, type WireEntry } from "../entry.ts";

export interface WireBranch {
  readonly leaf: WireEntry;
  readonly messages: number;
  readonly active: boolean;
  readonly parent_leaf: string | null;
  readonly fork_index: number;
}

export function toWireBranch({ leaf, parentLeaf, forkIndex, ...same }: Branch): WireBranch {
  return { ...same, leaf: toWireEntry(leaf), parent_leaf: parentLeaf, fork_index: forkIndex };
}

export function fromWireBranch(branch: WireBranch): Branch {
  const { leaf, parent_leaf: parentLeaf, fork_index: forkIndex, ...same } = branch;
  return { ...same, leaf: fromWireEntry(leaf), parentLeaf, forkIndex };
}
