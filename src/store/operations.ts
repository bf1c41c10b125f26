/** The operations of the port that a backend runs for one tenant: what a facade does beside each. */

import { bytesOfAppend, changesOfAppend } from "./indexer.ts";
import type { StoreReads, StoreWrites } from "./store.ts";

export type TenantWrite = Exclude<keyof StoreWrites, "takeLease" | "dropLease" | "sweep">;
export type TenantRead = Exclude<
  keyof StoreReads,
  "findToken" | "feedHead" | "indexStatus" | "listTenants" | "status" | "checkIntegrity"
>;

export interface WriteEffects<Args extends readonly unknown[]> {
  /** Approximate number of changes; absent: 1. 0: it writes nothing to the feed. */
  readonly changes?: number | "many" | ((...args: Args) => number);
  /** Bytes of content; absent: 0. */
  readonly bytes?: (...args: Args) => number;
  /** It takes ids that a soft-deleted session may still have: see `deleted-session.ts`. */
  readonly takesIds?: true;
}

export const TENANT_WRITES: {
  readonly [Name in TenantWrite]: WriteEffects<Parameters<StoreWrites[Name]>>;
} = {
  createSession: { takesIds: true },
  updateSession: {},
  deleteSession: {},
  append: {
    changes: (_tenant, request) => changesOfAppend(request),
    bytes: (_tenant, request) => bytesOfAppend(request),
    takesIds: true,
  },
  moveLeaf: {},
  setPinned: {},
  forkSession: { changes: "many", takesIds: true },
  eraseContent: {},
  openStream: {},
  writeStream: {},
  commitStream: {},
  abortStream: {},
  putMemory: {},
  deleteMemory: {},
  addFacts: {},
  retireFact: {},
  writeRecords: { changes: (_tenant, request) => request.operations.length },
  putIngestedFiles: { changes: 0 },
  putOriginal: { changes: 0 },
  setQuota: {},
  noteAct: {},
  createToken: {},
  revokeToken: {},
  putRoute: { takesIds: true },
  patchRoute: {},
  deleteRoute: {},
};

export interface ReadPlace<Answer = unknown, Args extends readonly unknown[] = readonly unknown[]> {
  /**
   * Where the read runs. `primary`: the answer decides about access (tokens), is not in the feed
   * (pending messages, ingested files, originals), has a version that the next compare-and-swap
   * needs (records, routes), or prepares a write (due retention).
   */
  readonly on: "primary" | "follower";
  /** Whether a follower's answer stands; absent: any does. */
  readonly isWhole?: (answer: Answer, ...args: Args) => boolean;
}

export const TENANT_READS: {
  readonly [Name in TenantRead]: ReadPlace<
    Awaited<ReturnType<StoreReads[Name]>>,
    Parameters<StoreReads[Name]>
  >;
} = {
  findSession: { on: "follower", isWhole: isFound },
  findSessionByOrigin: { on: "follower", isWhole: isFound },
  findSessionRefs: { on: "follower", isWhole: (found) => found.length > 0 },
  listSessions: { on: "follower" },
  readUsage: { on: "follower" },
  countModels: { on: "follower" },
  readSessionSizes: { on: "follower", isWhole: (sizes, _, ids) => sizes.length >= ids.length },
  findTombstone: { on: "follower", isWhole: isFound },
  findTombstoneByOrigin: { on: "follower", isWhole: isFound },
  findIngestedFiles: { on: "primary" },
  listOriginals: { on: "primary" },
  readOriginalPart: { on: "primary" },
  readEntries: { on: "follower" },
  findEntries: { on: "follower", isWhole: ({ entries }, _, ids) => entries.length >= ids.length },
  findUsage: { on: "follower", isWhole: (found, _, ids) => found.length >= ids.length },
  findPending: { on: "primary" },
  listLeaves: { on: "follower" },
  listRetentionDue: { on: "primary" },
  findMemory: { on: "follower", isWhole: isFound },
  listMemories: { on: "follower" },
  findFact: { on: "follower", isWhole: isFound },
  listFacts: { on: "follower" },
  readRecords: { on: "primary" },
  listTokens: { on: "primary" },
  findRoute: { on: "primary" },
  listRoutes: { on: "primary" },
  listRouteSessions: { on: "primary" },
  listSessionRoutes: { on: "primary" },
  listChanges: { on: "follower" },
};

function isFound(answer: unknown): boolean {
  return answer !== undefined;
}
