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

/**
 * What stays of content once a compaction covers it: all of it, rows without content, or tombstones.
 * A compaction applies it when it is done, and a sweep where that was interrupted.
 */
export const RETENTIONS = ["full", "audit-only", "ephemeral"] as const;
export type Retention = (typeof RETENTIONS)[number];

/** What each kind of field holds. Times are epoch milliseconds. */
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

/** The fields of a table as an object has them; those with `optional` may be absent. */
type FieldValues<Table> = {
  readonly [Name in keyof Table as Table[Name] extends { readonly optional: true }
    ? never
    : Name]: FieldValue<Table[Name]>;
} & {
  readonly [Name in keyof Table as Table[Name] extends { readonly optional: true }
    ? Name
    : never]?: FieldValue<Table[Name]>;
};

/** Where a session came from, when it was not written by a live agent here. */
export type Origin = { readonly [Name in keyof typeof ORIGIN_FIELDS]?: string };

/** What is counted of a session whose files are read, for lists. */
export interface IngestFigures extends FieldValues<typeof FIGURE_FIELDS> {}

/** What is known of a session: see `SESSION_FIELDS`. */
export interface Session extends FieldValues<typeof SESSION_FIELDS> {}

/** What callers have set of a session. */
export function settableOf(session: Session): Pick<Session, SettableField> {
  const set = SETTABLE_FIELDS.map((name) => [name, session[name]]);
  return Object.fromEntries(set) as unknown as Pick<Session, SettableField>;
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

/** Metadata fields that a session must have, with these values. */
export type MetadataFilter = Readonly<Record<string, string | number | boolean>>;
