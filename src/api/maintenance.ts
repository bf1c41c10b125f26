/** Results of deletions, sweeps and verifications, on the wire. */

import type { Tombstone } from "../engine/forget.ts";
import type { SweepReport } from "../engine/sweep.ts";
import type { Problem, VerifyReport } from "../engine/verify/verify.ts";
import { fromWireTime, toWireTime } from "./wire.ts";

export interface WireTombstone {
  readonly session_id: string;
  readonly origin_key: string | null;
  readonly entry_count: number;
  /** SHA-256 over the hashes of the session's entries, in hex. */
  readonly digest: string;
  readonly reason: string;
  readonly deleted_at: string;
}

export interface WireSweep {
  readonly deleted_sessions: readonly { readonly tenant: string; readonly session_id: string }[];
  readonly aborted_messages: readonly { readonly tenant: string; readonly entry_id: string }[];
  readonly forgotten_keys: number;
  readonly collected_blobs: number;
  readonly deleted_records: number;
  readonly erased_entries: number;
}

export interface WireProblem {
  readonly tenant: string;
  readonly session_id: string | null;
  readonly entry_id: string | null;
  readonly problem: string;
}

export interface WireVerification {
  readonly ok: boolean;
  readonly tenants: number;
  readonly sessions: number;
  readonly entries: number;
  readonly changes: number;
  /** Findings of the database's own file check. */
  readonly damage: readonly string[];
  /** The first thousand. */
  readonly problems: readonly WireProblem[];
  readonly problem_count: number;
  /** The feed heads that were verified, by tenant. */
  readonly heads: Readonly<Record<string, string>>;
}

export function toWireTombstone(tombstone: Tombstone): WireTombstone {
  return {
    session_id: tombstone.sessionId,
    origin_key: tombstone.originKey,
    entry_count: tombstone.entryCount,
    digest: tombstone.digest,
    reason: tombstone.reason,
    deleted_at: toWireTime(tombstone.deletedAt),
  };
}

export function toWireSweep(result: SweepReport): WireSweep {
  return {
    deleted_sessions: result.deletedSessions.map(({ tenant, sessionId }) => ({
      tenant,
      session_id: sessionId,
    })),
    aborted_messages: result.abortedMessages.map(({ tenant, entryId }) => ({
      tenant,
      entry_id: entryId,
    })),
    forgotten_keys: result.forgottenKeys,
    collected_blobs: result.collectedBlobs,
    deleted_records: result.deletedRecords,
    erased_entries: result.erasedEntries,
  };
}

export function toWireVerification(report: VerifyReport): WireVerification {
  return {
    ok: report.ok,
    tenants: report.tenants,
    sessions: report.sessions,
    entries: report.entries,
    changes: report.changes,
    damage: report.damage,
    problems: report.problems.map(toWireProblem),
    problem_count: report.problemCount,
    heads: report.heads,
  };
}

export function fromWireTombstone(tombstone: WireTombstone): Tombstone {
  return {
    sessionId: tombstone.session_id,
    originKey: tombstone.origin_key,
    entryCount: tombstone.entry_count,
    digest: tombstone.digest,
    reason: tombstone.reason,
    deletedAt: fromWireTime(tombstone.deleted_at),
  };
}

/** A reported sweep is complete, so `more` is always false. */
export function fromWireSweep(result: WireSweep): SweepReport {
  return {
    deletedSessions: result.deleted_sessions.map(({ tenant, session_id }) => ({
      tenant,
      sessionId: session_id,
    })),
    abortedMessages: result.aborted_messages.map(({ tenant, entry_id }) => ({
      tenant,
      entryId: entry_id,
    })),
    forgottenKeys: result.forgotten_keys,
    collectedBlobs: result.collected_blobs,
    deletedRecords: result.deleted_records,
    erasedEntries: result.erased_entries,
    more: false,
  };
}

export function fromWireVerification(report: WireVerification): VerifyReport {
  return {
    ok: report.ok,
    tenants: report.tenants,
    sessions: report.sessions,
    entries: report.entries,
    changes: report.changes,
    damage: report.damage,
    problems: report.problems.map(({ tenant, session_id, entry_id, problem }) => ({
      tenant,
      sessionId: session_id,
      entryId: entry_id,
      problem,
    })),
    problemCount: report.problem_count,
    heads: report.heads,
  };
}

function toWireProblem(problem: Problem): WireProblem {
  return {
    tenant: problem.tenant,
    session_id: problem.sessionId,
    entry_id: problem.entryId,
    problem: problem.problem,
  };
}
