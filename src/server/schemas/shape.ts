/** The schema of a shape: see `model/shape.ts`. Shapes with a name are components of the document. */

import { z } from "zod";
import { toWireName } from "../../api/wire.ts";
import { USAGE } from "../../model/entry.ts";
import { readShapeKind, type Shape, type ShapeKind } from "../../model/shape.ts";
import { count, counts, jsonObject, jsonValue, time } from "./common.ts";
import { block } from "./entry.ts";
import { session, usage } from "./session.ts";

const text = z.string();

const KINDS: Readonly<Record<string, z.ZodType>> = {
  text,
  count,
  integer: z.number().int(),
  number: z.number(),
  share: z.number().min(0).max(1),
  flag: z.boolean(),
  time,
  bytes: text,
  json: jsonValue,
  object: jsonObject,
  fields: jsonObject,
  counts,
  texts: z.record(text, text),
  unknown: z.unknown(),
  actors: z.union([z.literal("any"), z.array(text)]),
  block,
  session,
  data: jsonValue,
};

/** One schema for each shape, so that the document has each component once. */
const known = new Map<ShapeKind, z.ZodType>([[USAGE, usage]]);

/** Gives the schema of a shape, which is a component of the document under `id`. */
export function answer(id: string, shape: Shape): z.ZodType {
  const schema = schemaOf(shape).meta({ id });
  known.set(shape, schema);
  return schema;
}

export function schemaOf(kind: ShapeKind): z.ZodType {
  const { base, null: isNull, absent, about } = readShapeKind(kind);
  const plain = known.get(base) ?? plainSchema(base);
  const isNullable = (isNull || absent) && base !== "unknown";
  const schema = isNullable ? plain.nullable() : plain;
  return about === undefined ? schema : schema.meta({ description: about });
}

function plainSchema(kind: ShapeKind): z.ZodType {
  if (typeof kind === "string") return KINDS[kind] as z.ZodType;
  if (Array.isArray(kind)) return z.array(schemaOf(kind[0]));
  if ("special" in kind) return KINDS[kind["special"] as string] as z.ZodType;
  if ("one" in kind) return z.enum(kind["one"] as readonly string[]);
  if ("some" in kind) return text;
  const fields = Object.entries(kind as Shape).map(([name, each]) => {
    return [readShapeKind(each).wire ?? toWireName(name), schemaOf(each)];
  });
  return z.object(Object.fromEntries(fields));
}
