/** The statements that write a session, and their values, derived from the table of its fields. */

import type { JsonObject } from "../../model/json.ts";
import type { IngestFigures, Origin, Session } from "../../model/session.ts";
import {
  FIGURE_FIELDS,
  type Field,
  fieldsOf,
  ORIGIN_FIELDS,
  SESSION_FIELDS,
} from "../../model/session-fields.ts";
import { filtersOf } from "../../model/session-filters.ts";
import { TITLE_FROM_KEY } from "../../transcript/title/title-text.ts";
import type { ForkOrigin, NewSession, SessionFilter, SessionPatch } from "../records.ts";
import { ownIdOf } from "../session-ref.ts";

type SessionValue = string | number | Uint8Array | null;

/** The backend's nth parameter: `?1` or `$1`. */
type Parameter = (position: number) => string;

const STORED = fieldsOf(SESSION_FIELDS).filter(([, { column }]) => column?.startsWith("s."));
const CHANGED = STORED.filter(([name, { set }]) => set !== undefined || name === "summary");
const ORIGIN = Object.entries(ORIGIN_FIELDS) as [keyof Origin, { column: string; later?: true }][];
const LATER = ORIGIN.filter(([, { later }]) => later === true);
type LaterName = keyof NonNullable<SessionPatch["origin"]>;
const FIGURES = fieldsOf(FIGURE_FIELDS);

const NEW_COLUMNS = [
  ...[...STORED, ...ORIGIN, ...FIGURES].map(([, field]) => columnOf(field)),
  "title_folded",
  "root_hash",
  "own_id",
];

/** Takes the tenant, the session's number and `newSessionValues`. */
export function insertSessionSql(parameter: Parameter): string {
  const columns = ["tenant", "session", ...NEW_COLUMNS];
  const values = columns.map((_, i) => parameter(i + 1));
  return `INSERT INTO sessions (${columns.join(", ")}) VALUES (${values.join(", ")})`;
}

/** The values of a list's filters, in the order of their table. */
export function filterValues(filter: SessionFilter): (string | number | null)[] {
  return filtersOf("list").map(([name]) => {
    const value = filter[name] ?? null;
    return name === "title" && typeof value === "string" ? foldTitle(value) : value;
  });
}

export function newSessionValues(
  session: NewSession,
  fork: ForkOrigin | undefined,
  shortId: string | null,
): SessionValue[] {
  const known: Readonly<Record<string, unknown>> = {
    ...session,
    createdAt: session.createdAt ?? session.now,
    shortId,
    parentSessionId: fork?.parentSessionId,
    forkPoint: fork?.forkPoint,
  };
  return [
    ...STORED.map(([name, field]) => toColumn(field, known[name])),
    ...ORIGIN.map(([name]) => session.origin[name] ?? null),
    ...figureValues(session.figures),
    foldTitle(session.title),
    fork?.rootHash ?? null,
    ownIdOf(session.origin),
  ];
}

/**
 * Takes the tenant, the session's number and `changedValues`. A new retention is due for all
 * earlier compactions. Unknown figures and origins stay.
 */
export function updateSessionSql(parameter: Parameter): string {
  const changed = CHANGED.map(([, field]) => columnOf(field));
  const kept = [...FIGURES, ...LATER].map(([, field]) => columnOf(field));
  const columns = [...changed, "title_folded", ...kept];
  const place = (column: string) => parameter(columns.indexOf(column) + 3);
  const sets = columns.map((column) =>
    kept.includes(column)
      ? `${column} = coalesce(${place(column)}, ${column})`
      : `${column} = ${place(column)}`,
  );
  return `UPDATE sessions SET ${sets.join(", ")}, retention_applied =
      CASE WHEN coalesce(retention, 'full') = ${place("retention")} THEN retention_applied END
    WHERE tenant = ${parameter(1)} AND session = ${parameter(2)}`;
}

export function changedValues(session: Session, patch: SessionPatch): SessionValue[] {
  const patched = { ...patch, metadata: patchedMetadata(session.metadata, patch) };
  const valueOfField = (name: string) => {
    const changed = (patched as Readonly<Record<string, unknown>>)[name];
    return changed === undefined ? session[name as keyof Session] : changed;
  };
  return [
    ...CHANGED.map(([name, field]) => toColumn(field, valueOfField(name))),
    foldTitle(patch.title ?? session.title),
    ...figureValues(patch.figures),
    ...LATER.map(([name]) => patch.origin?.[name as LaterName] ?? null),
  ];
}

function figureValues(figures: IngestFigures | undefined): SessionValue[] {
  return FIGURES.map(([name, field]) => toColumn(field, figures?.[name]));
}

/** Callers' JSON objects are bytes, so that any string round-trips; counts are text. */
function toColumn({ kind }: Field, value: unknown): SessionValue {
  if (value === undefined || value === null) return null;
  if (kind === "json") return Buffer.from(JSON.stringify(value));
  return kind === "counts" ? JSON.stringify(value) : (value as SessionValue);
}

/** The name of a column without its table: `title` of `s.title`. */
export function columnOf({ column = "" }: { readonly column?: string }): string {
  return column.slice(column.indexOf(".") + 1);
}

/** The folded form of a title for filters, equal on both backends. */
export function foldTitle(title: string): string {
  return title.normalize("NFKC").toLowerCase();
}

/** Merges at the top level; a null removes its key. */
export function mergeFields(current: JsonObject, patch: JsonObject): JsonObject {
  const merged = { ...current, ...patch };
  return Object.fromEntries(
    Object.entries(merged).filter(([key]) => !Object.hasOwn(patch, key) || patch[key] !== null),
  );
}

/** Merges a patch; a title that a caller sets clears the mark of a derived title. */
export function patchedMetadata(
  metadata: JsonObject,
  { title, metadata: patch = {} }: Pick<SessionPatch, "title" | "metadata">,
): JsonObject {
  const isSet = title !== undefined && metadata[TITLE_FROM_KEY] !== undefined;
  return mergeFields(metadata, { ...(isSet ? { [TITLE_FROM_KEY]: null } : {}), ...patch });
}
