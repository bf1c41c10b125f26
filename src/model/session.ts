/** Sessions: durable conversations, and what is known of one without reading its entries. */

import type { Usage } from "./entry.ts";
import { isPlainObject, type JsonObject } from "./json.ts";

/**
 * What stays of content once a compaction covers it: all of it, rows without content, or tombstones.
 * A compaction applies it when it is done, and a sweep where that was interrupted.
 */
export const RETENTIONS = ["full", "audit-only", "ephemeral"] as const;
export type Retention = (typeof RETENTIONS)[number];

/** Where a session came from, when it was not written by a live agent here. */
export interface Origin {
  /** The agent tool that wrote it, such as `claude-code`. */
  readonly source?: string;
  readonly workstation?: string;
  readonly projectId?: string;
  readonly projectPath?: string;
  readonly gitBranch?: string;
  /** The repository, by its remote: `github.com/acme/shop`. Clones and worktrees share it. */
  readonly repo?: string;
  readonly file?: string;
  /** The source's own identity of the session, unique within a tenant. */
  readonly key?: string;
}

/** What is counted of a session whose files are read, for lists. */
export interface IngestFigures {
  /** Requests of the user, each with what was done about it. */
  readonly exchangeCount: number;
  /** How often each tool was called. */
  readonly toolCounts: Readonly<Record<string, number>>;
  /** When the file was last written, as of the last reading. */
  readonly fileMtime: number | null;
  readonly firstMessageAt: number | null;
  readonly lastMessageAt: number | null;
  /** What the calls cost in US dollars, as far as the source says so. */
  readonly costUsd?: number;
}

export interface Session {
  readonly id: string;
  /** What people type: unique within the tenant, and the same for the session's whole life. */
  readonly shortId: string;
  readonly tenant: string;
  /** Set at creation, for good. */
  readonly agent: string;
  readonly createdBy: string;
  readonly createdAt: number;
  readonly owner: string;
  /** Empty until a client sets one. */
  readonly title: string;
  /** The copy of the newest compaction's summary. */
  readonly summary: string | null;
  /** In the order in which they joined. An actor who appends joins. */
  readonly participants: readonly string[];
  readonly metadata: JsonObject;
  /** Seconds after the last append at which a sweep deletes the session. */
  readonly ttl: number | null;
  readonly retention: Retention;
  readonly parentSessionId: string | null;
  /** The entry of the parent session at which this one forked off. */
  readonly forkPoint: string | null;
  readonly origin: Origin;
  /** Absent unless the session was read from files. */
  readonly figures?: IngestFigures;
  readonly startedAt: number;
  /** The last append, by the source's clock if ingested. */
  readonly updatedAt: number;
  /** The last real input of a person or channel: heartbeats and bookkeeping do not count. */
  readonly lastInteractionAt: number;
  /** The last change of any kind, bookkeeping included. */
  readonly lastWriteAt: number;
  /** Committed messages of all branches. */
  readonly messageCount: number;
  readonly entryCount: number;
  readonly tokens: Usage;
  /** The active leaf, stored and never guessed; null in an empty session. */
  readonly leaf: string | null;
  /** The last entry that the newest summary covers. */
  readonly summarizedThrough: string | null;
}

/**
 * The key of the metadata that lists the files of the session that came late and became branches. Each
 * has its path, and the entry that its branch ends with.
 */
export const LATE_FILES_KEY = "lateFiles";

/** The key of the metadata that counts the entries that were removed for good. */
export const REMOVED_KEY = "removedEntries";

/** Where the branches of late files end. */
export function lateLeavesOf(metadata: JsonObject): readonly string[] {
  const listed = metadata[LATE_FILES_KEY];
  if (!Array.isArray(listed)) return [];
  return listed.flatMap((file) =>
    isPlainObject(file) && typeof file["leaf"] === "string" ? [file["leaf"]] : [],
  );
}

/** Whether another session began it to have part of its work done, as agents start sub-agents. */
export function isSubAgent({ origin, metadata }: Pick<Session, "origin" | "metadata">): boolean {
  const parent = metadata["parent"];
  if (!isPlainObject(parent) || typeof parent["key"] !== "string") return false;
  const isBelow = origin.key?.startsWith(`${parent["key"]}/`) === true;
  return isBelow || origin.source?.startsWith("opencode") === true;
}
