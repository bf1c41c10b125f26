/** Makes the schemas of values on the wire from shapes: see `model/shape.ts`. */

import { z } from "zod";
import { USAGE } from "../model/entry.ts";
import { RETENTIONS } from "../model/session.ts";
import {
  FIGURE_FIELDS,
  type Field,
  type FieldKind,
  fieldsOf,
  ORIGIN_FIELDS,
  SESSION_FIELDS,
} from "../model/session-fields.ts";
import { readShapeKind, type Shape, type ShapeKind } from "../model/shape.ts";
import { wireNameOf } from "./session.ts";
import type { WireOf } from "./shape.ts";
import { toWireName } from "./wire.ts";

const text = z.string();
const count = z.number().int().min(0);
const time = z.iso.datetime();
const counts = z.record(text, z.number());

/** The kinds that are the same in every surface. */
export const PLAIN_KINDS: Readonly<Record<string, z.ZodType>> = {
  text,
  count,
  integer: z.number().int(),
  number: z.number(),
  share: z.number().min(0).max(1),
  flag: z.boolean(),
  time,
  bytes: text,
  counts,
  texts: z.record(text, text),
  unknown: z.unknown(),
  actors: z.union([z.literal("any"), z.array(text)]),
};

/** The schema of a shape without kinds of a surface's own. */
export function shapeSchema<const Kind>(kind: Kind): z.ZodType<WireOf<Kind>> {
  return schemaWith(kind as ShapeKind, PLAIN_KINDS, new Map()) as z.ZodType<WireOf<Kind>>;
}

/** `known` shapes have schemas of their own. */
export function schemaWith(
  kind: ShapeKind,
  kinds: Readonly<Record<string, z.ZodType>>,
  known: ReadonlyMap<ShapeKind, z.ZodType>,
): z.ZodType {
  const { base, null: isNull, absent, about } = readShapeKind(kind);
  const plain = known.get(base) ?? plainSchema(base, kinds, known);
  const isNullable = (isNull || absent) && base !== "unknown";
  const schema = isNullable ? plain.nullable() : plain;
  return about === undefined ? schema : schema.meta({ description: about });
}

function plainSchema(
  kind: ShapeKind,
  kinds: Readonly<Record<string, z.ZodType>>,
  known: ReadonlyMap<ShapeKind, z.ZodType>,
): z.ZodType {
  if (typeof kind === "string") return kinds[kind] as z.ZodType;
  if (Array.isArray(kind)) return z.array(schemaWith(kind[0], kinds, known));
  if ("special" in kind) return kinds[kind["special"] as string] as z.ZodType;
  if ("one" in kind) return z.enum(kind["one"] as readonly string[]);
  if ("some" in kind) return text;
  const fields = Object.entries(kind as Shape).map(([name, part]) => {
    return [readShapeKind(part).wire ?? toWireName(name), schemaWith(part, kinds, known)];
  });
  return z.object(Object.fromEntries(fields));
}

type SessionKinds = Readonly<Record<Exclude<FieldKind, "figures">, z.ZodType>>;

const textOrNull = text.nullable();

/** The kinds of a session's fields. */
export const SESSION_KINDS: SessionKinds = {
  text,
  count,
  amount: z.number(),
  time,
  retention: z.enum(RETENTIONS),
  names: z.array(text),
  counts,
  json: z.record(text, z.json()),
  origin: z.object(
    Object.fromEntries(Object.keys(ORIGIN_FIELDS).map((name) => [toWireName(name), textOrNull])),
  ),
  tokens: shapeSchema(USAGE),
};

/** The fields of a session on the wire. Those of an ingested one are null for others. */
export function sessionFields(kinds: SessionKinds): Readonly<Record<string, z.ZodType>> {
  const fields: Record<string, z.ZodType> = {};
  const add = (table: Readonly<Record<string, Field>>) => {
    for (const [name, field] of fieldsOf(table)) {
      if (field.kind === "figures") continue;
      const schema = kinds[field.kind];
      const isNullable = field.nullable === true || table === FIGURE_FIELDS;
      fields[wireNameOf(name, field)] = isNullable ? schema.nullable() : schema;
    }
  };
  add(SESSION_FIELDS);
  for (const name of ["workstation_id", "project_id", "project_path", "git_branch"]) {
    fields[name] = textOrNull;
  }
  add(FIGURE_FIELDS);
  return fields;
}
