/** Makes the schemas of values on the wire from shapes: see `model/shape.ts`. */

import { z } from "zod";
import { readShapeKind, type Shape, type ShapeKind } from "../model/shape.ts";
import type { WireOf } from "./shape.ts";
import { toWireName } from "./wire.ts";

const text = z.string();

/** The kinds that are the same in every surface. */
export const PLAIN_KINDS: Readonly<Record<string, z.ZodType>> = {
  text,
  count: z.number().int().min(0),
  integer: z.number().int(),
  number: z.number(),
  share: z.number().min(0).max(1),
  flag: z.boolean(),
  time: z.iso.datetime(),
  bytes: text,
  counts: z.record(text, z.number()),
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
