/**
 * A session from a transcript reader, on the wire.
 *
 * It is sent as JSON lines (`WireImportLine`), so that neither side holds it whole: the session
 * with its options, then one line per entry, and a last one with the leaf.
 */

import type { ImportResult } from "../engine/import/import-session.ts";
import type { Described, ImportOptions } from "../engine/import/import-subject.ts";
import type { ImportedEntry, ImportedSession } from "../ingest/source.ts";
import { USAGE } from "../model/entry.ts";
import type { JsonObject } from "../model/json.ts";
import type { Provenance } from "../model/session.ts";
import { fromWireBlock, toWireBlock, type WireBlock } from "./block.ts";
import { fromWireFigures, toWireFigures, type WireFigures } from "./session.ts";
import { fromWire, toWire, type WireOf } from "./shape.ts";
import { fromWireFields, fromWireTime, toWireFields, toWireTime } from "./wire.ts";

/** The session's fields before its entries are read. */
export type SessionHead = Omit<ImportedSession, "entries" | "leaf" | "problems" | "route">;

export interface WireSessionHead {
  readonly source: string;
  readonly agent: string;
  readonly created_by?: string | undefined;
  readonly repo?: string | undefined;
  readonly id: string | null;
  readonly title: string | null;
  readonly cwd: string | null;
  readonly git_branch: string | null;
  readonly started_at: string | null;
  readonly parent_session: string | null;
  readonly metadata: JsonObject;
}

export interface WireImportOptions {
  readonly file?: string | undefined;
  readonly key?: string | undefined;
  readonly earlier?: ImportOptions["earlier"] | undefined;
  readonly workstation?: string | undefined;
  readonly repo?: string | undefined;
  readonly provenance?: Provenance | undefined;
  readonly project_id?: string | undefined;
  readonly owner?: string | undefined;
  readonly metadata?: JsonObject | undefined;
  readonly skip_forgotten?: boolean | undefined;
  readonly after?: string | undefined;
  readonly dry_run?: boolean | undefined;
  readonly skip_empty?: boolean | undefined;
  readonly when_late?: ImportOptions["whenLate"] | undefined;
}

export interface WireImportedEntry {
  readonly source_id: string;
  readonly parent_source_id?: string | null | undefined;
  readonly kind: ImportedEntry["kind"];
  readonly role: ImportedEntry["role"];
  readonly actor: string | null;
  readonly blocks: readonly WireBlock[];
  /** By the stored names, which `references` refers to. */
  readonly data: JsonObject | null;
  readonly references?: readonly string[] | undefined;
  readonly usage: WireOf<typeof USAGE> | null;
  readonly answer?: string | undefined;
  readonly cost?: number | undefined;
  readonly model: string | null;
  readonly created_at: string | null;
  readonly metadata: JsonObject;
}

/** A line of an import: the first, one of the middle, the last. */
export type WireImportLine =
  | { readonly session: WireSessionHead; readonly options: WireImportOptions }
  | { readonly entry: WireImportedEntry }
  | { readonly end: { readonly leaf?: string | null | undefined } };

/** A session as its describer sees it. */
export interface WireDescribed {
  readonly title: string;
  readonly metadata: JsonObject;
  readonly figures: WireFigures;
  /** The title from the entries, if any. */
  readonly told_title: string | null;
}

export interface WireImportResult {
  readonly session_id: string | null;
  readonly created: boolean;
  readonly entries: number;
  readonly skipped: number;
  readonly last: string | null;
  readonly forgotten: boolean;
  /** Whether the tail of a file repeats ids, so that the whole file must be read. */
  readonly unsure?: boolean;
  /** The session's files in order, if `when_late` refused the import. */
  readonly late: readonly string[] | null;
  /** The session's origin key. */
  readonly key: string;
  /** Problems of storing, counted by code, and the first of them. */
  readonly problem_counts: Readonly<Record<string, number>>;
  readonly problems: readonly { readonly code: string; readonly message: string }[];
  /** Set if something was stored: the input of the sender's description. */
  readonly stored: WireDescribed | null;
}

export function toWireSessionHead(session: SessionHead): WireSessionHead {
  const { source, agent, id, title, cwd, gitBranch, startedAt, parentSession, metadata } = session;
  return {
    source,
    agent,
    id,
    title,
    cwd,
    git_branch: gitBranch,
    metadata,
    started_at: startedAt === null ? null : toWireTime(startedAt),
    parent_session: parentSession,
    ...(session.createdBy === undefined ? {} : { created_by: session.createdBy }),
    ...(session.repo === undefined ? {} : { repo: session.repo }),
  };
}

export function fromWireSessionHead(session: WireSessionHead): SessionHead {
  const { started_at, ...rest } = session;
  return {
    ...fromWireFields(rest),
    startedAt: started_at === null ? null : fromWireTime(started_at),
  };
}

/**
 * The serialisable options; `describe` and `onProgress` stay with the sender, a key is sent
 * separately.
 */
export function toWireImportOptions(options: ImportOptions): WireImportOptions {
  const { describe: _, onProgress: __, onKnown: ___, idempotencyKey: ____, ...rest } = options;
  return toWireFields(rest as JsonObject) as WireImportOptions;
}

export function toWireImportedEntry(entry: ImportedEntry): WireImportedEntry {
  const { sourceId, parentSourceId, kind, role, actor, blocks, data, references } = entry;
  const { usage, model, createdAt, metadata } = entry;
  return {
    source_id: sourceId,
    ...(parentSourceId === undefined ? {} : { parent_source_id: parentSourceId }),
    kind,
    role,
    actor,
    blocks: blocks.map(toWireBlock),
    data,
    ...(references === undefined ? {} : { references }),
    ...(entry.answer === undefined ? {} : { answer: entry.answer }),
    ...(entry.cost === undefined ? {} : { cost: entry.cost }),
    usage: usage === null ? null : toWire(USAGE, usage),
    model,
    created_at: createdAt === null ? null : toWireTime(createdAt),
    metadata,
  };
}

export function fromWireImportedEntry(entry: WireImportedEntry): ImportedEntry {
  const { blocks, usage, created_at: createdAt, ...fields } = entry;
  return {
    ...fromWireFields(fields),
    blocks: blocks.map(fromWireBlock),
    usage: usage && fromWire(USAGE, usage),
    createdAt: createdAt === null ? null : fromWireTime(createdAt),
  };
}

export function toWireDescribed(session: Described, told: string | undefined): WireDescribed {
  const { title, metadata, figures } = session;
  return { title, metadata, figures: toWireFigures(figures), told_title: told ?? null };
}

export function fromWireDescribed({ title, metadata, figures }: WireDescribed): Described {
  return { title, metadata, ...fromWireFigures(figures) };
}

export function fromWireImportResult(result: WireImportResult): Omit<ImportResult, "problems"> {
  const { session_id, created, entries, skipped, last, forgotten, key } = result;
  // An older server sends none.
  const late = result.late ?? undefined;
  return {
    sessionId: session_id,
    created,
    entries,
    skipped,
    last,
    forgotten,
    key,
    ...(late === undefined ? {} : { late }),
    ...(result.unsure ? { unsure: true } : {}),
  };
}
