/** Sessions: the fields of a conversation, without its entries. */

import type { Usage } from "./entry.ts";
import { isPlainObject, type JsonObject } from "./json.ts";
import {
  type FIGURE_FIELDS,
  type ORIGIN_FIELDS,
  type SESSION_FIELDS,
  SETTABLE_FIELDS,
  type SettableField,
} from "./session-fields.ts";
import type { Special } from "./shape.ts";

/** Of a new session, where the caller names no other. */
export const NEW_SESSION = { agent: "assistant", createdBy: "user" } as const;

/**
 * Retention of content that a compaction covers: all of it, rows without content, or tombstones.
 * The compaction applies it at its end, and a sweep after an interruption.
 */
export const RETENTIONS = ["full", "audit-only", "ephemeral"] as const;
export type Retention = (typeof RETENTIONS)[number];

/** The type of each kind of field. Times are epoch milliseconds. */
interface FieldKinds {
  readonly text: string;
  readonly count: number;
  readonly amount: number;
  readonly time: number;
  readonly retention: Retention;
  readonly names: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  readonly json: JsonObject;
  readonly origin: Origin;
  readonly figures: IngestFigures;
  readonly tokens: Usage;
}

type FieldValue<Row> = Row extends { readonly kind: infer Kind extends keyof FieldKinds }
  ? Row extends { readonly nullable: true }
    ? FieldKinds[Kind] | null
    : FieldKinds[Kind]
  : never;

/** A table's fields as an object; `optional` ones may be absent. */
type FieldValues<Table> = {
  readonly [Name in keyof Table as Table[Name] extends { readonly optional: true }
    ? never
    : Name]: FieldValue<Table[Name]>;
} & {
  readonly [Name in keyof Table as Table[Name] extends { readonly optional: true }
    ? Name
    : never]?: FieldValue<Table[Name]>;
};

/** The origin of an ingested or imported session. */
export type Origin = { readonly [Name in keyof typeof ORIGIN_FIELDS]?: string };

export const PROVENANCES = ["own", "team", "foreign"] as const;
export type Provenance = (typeof PROVENANCES)[number];

/**
 * Whose words a session has. Stores of 0.1.0 did not keep it: there, what was read on a machine or
 * written live is the person's own, and what was imported without a machine is foreign.
 */
export function provenanceOf({ origin }: Pick<Session, "origin">): Provenance {
  const known = PROVENANCES.find((each) => each === origin.provenance);
  if (known !== undefined) return known;
  if (origin.provenance !== undefined) return "foreign";
  return origin.source === undefined || origin.workstation !== undefined ? "own" : "foreign";
}

/** Figures of an ingested session, for lists. */
export interface IngestFigures extends FieldValues<typeof FIGURE_FIELDS> {}

/** A session: see `SESSION_FIELDS`. */
export interface Session extends FieldValues<typeof SESSION_FIELDS> {}

export const SESSION: Special<Session> = { special: "session" };

/** The caller-settable fields of a session. */
export function settableOf(session: Session): Pick<Session, SettableField> {
  const set = SETTABLE_FIELDS.map((name) => [name, session[name]]);
  return Object.fromEntries(set) as unknown as Pick<Session, SettableField>;
}

/**
 * The metadata key of late files, which became branches: each with its path and its branch's end.
 */
export const LATE_FILES_KEY = "lateFiles";

/**
 * The metadata key, of an imported entry, of its call's tokens that were written to a cache of an
 * hour; and of a session, of their sums by model. They cost more than other cache writes.
 */
export const HOUR_CACHE_KEY = "hourCacheTokens";

/** The metadata key that counts permanently removed entries. */
export const REMOVED_KEY = "removedEntries";

/** The branch ends of late files. */
export function lateLeavesOf(metadata: JsonObject): readonly string[] {
  const listed = metadata[LATE_FILES_KEY];
  if (!Array.isArray(listed)) return [];
  return listed.flatMap((file) =>
    isPlainObject(file) && typeof file["leaf"] === "string" ? [file["leaf"]] : [],
  );
}

/** Whether another session started it for part of its work, as a sub-agent. */
export function isSubAgent({ origin, metadata }: Pick<Session, "origin" | "metadata">): boolean {
  const parent = metadata["parent"];
  if (!isPlainObject(parent) || typeof parent["key"] !== "string") return false;
  const isBelow = origin.key?.startsWith(`${parent["key"]}/`) === true;
  return isBelow || origin.source?.startsWith("opencode") === true;
}

/** Whether a person speaks in it: not to a sub-agent, and not a client's warm-up. */
export function isPersons(session: Pick<Session, "origin" | "metadata">): boolean {
  return !isSubAgent(session) && session.metadata["machineMade"] !== true;
}

/** The project id of imported sessions without a folder: they have no project in common. */
export const NO_PROJECT_ID = "e3b0c442";

/** Metadata fields and their required values. */
export type MetadataFilter = Readonly<Record<string, string | number | boolean>>;
