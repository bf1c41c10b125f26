/** A session on the wire: ConversationMeta by its own names, and our fields. */

import type { Usage } from "../model/entry.ts";
import type { IngestFigures, Origin, Session } from "../model/session.ts";
import {
  FIGURE_FIELDS,
  type Field,
  fieldsOf,
  ORIGIN_FIELDS,
  SESSION_FIELDS,
} from "../model/session-fields.ts";
import {
  fromWireFields,
  fromWireTime,
  toWireFields,
  toWireName,
  toWireTime,
  type WireName,
} from "./wire.ts";

type Fields = typeof SESSION_FIELDS;
type Figures = typeof FIGURE_FIELDS;

/** Times are ISO 8601; composed fields have their own types. */
type WireValue<Row, Value> = Row extends { readonly kind: "time" }
  ? string | Extract<Value, null>
  : Row extends { readonly kind: "tokens" }
    ? { readonly [Name in keyof Usage as WireName<Name>]: number }
    : Row extends { readonly kind: "origin" }
      ? WireOrigin
      : Value;

export type WireOrigin = {
  readonly [Name in keyof typeof ORIGIN_FIELDS as WireName<Name>]: string | null;
};

/** Figures of an ingested session; all null for others. */
export type WireFigures = {
  readonly [Name in keyof Figures as Figures[Name] extends {
    readonly wire: infer Wire extends string;
  }
    ? Wire
    : WireName<Name>]: WireValue<Figures[Name], NonNullable<IngestFigures[Name]>> | null;
};

/** The origin's filter fields, repeated. */
interface WireProject {
  readonly workstation_id: string | null;
  readonly project_id: string | null;
  readonly project_path: string | null;
  readonly git_branch: string | null;
}

export type WireSession = {
  readonly [Name in Exclude<keyof Fields, "figures"> as WireName<Name>]: WireValue<
    Fields[Name],
    Session[Name]
  >;
} & WireProject &
  WireFigures;

export function toWireSession(session: Session): WireSession {
  const wire: Record<string, unknown> = {};
  for (const [name, field] of fieldsOf(SESSION_FIELDS)) {
    if (name === "figures") Object.assign(wire, toWireFigures(session.figures));
    else if (name === "origin") Object.assign(wire, toWireOrigins(session.origin));
    else if (name === "tokens") wire[name] = toWireFields({ ...session.tokens });
    else wire[wireNameOf(name, field)] = toWireValue(field, session[name]);
  }
  return wire as unknown as WireSession;
}

export function fromWireSession(wire: WireSession): Session {
  const session: Record<string, unknown> = {};
  const values = wire as unknown as Readonly<Record<string, unknown>>;
  for (const [name, field] of fieldsOf(SESSION_FIELDS)) {
    if (name === "figures") Object.assign(session, fromWireFigures(wire));
    else if (name === "origin") session[name] = fromWireOrigin(wire.origin);
    else if (name === "tokens") session[name] = fromWireFields(wire.tokens);
    else {
      // An older server omits unknown fields.
      const value = values[wireNameOf(name, field)] ?? values[field.fallbackTo ?? ""] ?? null;
      session[name] = fromWireValue(field, value);
    }
  }
  return session as unknown as Session;
}

function toWireOrigins(origin: Origin): WireProject & { readonly origin: WireOrigin } {
  const { workstation = null, projectId = null, projectPath = null, gitBranch = null } = origin;
  const names = Object.keys(ORIGIN_FIELDS) as (keyof Origin)[];
  const wire = names.map((name) => [toWireName(name), origin[name] ?? null]);
  return {
    origin: Object.fromEntries(wire) as WireOrigin,
    workstation_id: workstation,
    project_id: projectId,
    project_path: projectPath,
    git_branch: gitBranch,
  };
}

/** Null becomes absent. */
function fromWireOrigin(origin: WireOrigin): Origin {
  const values = origin as Readonly<Record<string, string | null>>;
  const known = Object.keys(ORIGIN_FIELDS).flatMap((name) => {
    const value = values[toWireName(name)] ?? null;
    return value === null ? [] : [[name, value] as const];
  });
  return Object.fromEntries(known) as Origin;
}

export function toWireFigures(figures: IngestFigures | undefined): WireFigures {
  const wire = fieldsOf(FIGURE_FIELDS).map(([name, field]) => [
    wireNameOf(name, field),
    toWireValue(field, figures?.[name] ?? null),
  ]);
  return Object.fromEntries(wire) as WireFigures;
}

/** The figures of a session, if any. */
export function fromWireFigures(wire: WireFigures): { readonly figures?: IngestFigures } {
  if (wire.exchange_count === null) return {};
  const values = wire as Readonly<Record<string, unknown>>;
  const figures = fieldsOf(FIGURE_FIELDS).flatMap(([name, field]) => {
    const value = fromWireValue(field, values[wireNameOf(name, field)] ?? null);
    return value === null && field.optional === true ? [] : [[name, value] as const];
  });
  return { figures: Object.fromEntries(figures) as unknown as IngestFigures };
}

/** The name of a field on the wire. */
export function wireNameOf(name: string, field: Field): string {
  return field.wire ?? toWireName(name);
}

function toWireValue({ kind }: Field, value: unknown): unknown {
  return kind === "time" && value !== null ? toWireTime(value as number) : value;
}

function fromWireValue({ kind }: Field, value: unknown): unknown {
  return kind === "time" && value !== null ? fromWireTime(value as string) : value;
}

/** Whether the session is machine-made: lists leave it out unless requested. */
export function isMachineMade({ metadata }: Pick<Session, "metadata">): boolean {
  return metadata["machineMade"] === true;
}
