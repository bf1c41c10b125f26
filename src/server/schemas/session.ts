/** A session in answers. */

import { z } from "zod";
import { sessionShape, type WireSession, wireNameOf } from "../../api/session.ts";
import type { WireOf } from "../../api/shape.ts";
import { toWireName, type WireName } from "../../api/wire.ts";
import type { USAGE } from "../../model/entry.ts";
import { RETENTIONS, type Session } from "../../model/session.ts";
import {
  FIGURE_FIELDS,
  type FieldKind,
  fieldsOf,
  ORIGIN_FIELDS,
  SESSION_FIELDS,
  type SettableField,
} from "../../model/session-fields.ts";
import { count, counts, jsonObject, key, path, time } from "./common.ts";

const text = z.string();
const textOrNull = text.nullable();

export const usage: z.ZodType<WireOf<typeof USAGE>> = z
  .object({
    input_tokens: count,
    output_tokens: count,
    cache_creation_tokens: count,
    cache_read_tokens: count,
  })
  .meta({ id: "Usage" });

const origin = z
  .object(
    Object.fromEntries(Object.keys(ORIGIN_FIELDS).map((name) => [toWireName(name), textOrNull])),
  )
  .meta({ id: "Origin" });

const KINDS: Readonly<Record<Exclude<FieldKind, "figures">, z.ZodType>> = {
  text,
  count,
  amount: z.number(),
  time,
  retention: z.enum(RETENTIONS),
  names: z.array(text),
  counts,
  json: jsonObject,
  origin,
  tokens: usage,
};

const sessionFields = z.object({
  ...sessionShape(SESSION_FIELDS, KINDS, (schema) => schema.nullable()),
  workstation_id: textOrNull,
  project_id: textOrNull,
  project_path: textOrNull,
  git_branch: textOrNull,
  ...sessionShape(FIGURE_FIELDS, KINDS, (schema) => schema.nullable()),
});

export const session: z.ZodType<WireSession> = sessionFields.meta({
  id: "Session",
}) as unknown as z.ZodType<WireSession>;

/** The settable fields of a session in a body, all optional. */
export type SettableBody = {
  readonly [Name in SettableField as WireName<Name>]?: Session[Name] | undefined;
};

type SettableShape = {
  readonly [Name in keyof SettableBody]-?: z.ZodOptional<
    z.ZodType<NonNullable<SettableBody[Name]>>
  >;
};

/** Inputs that are narrower than the answer, or have more detail. */
const INPUT_SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  owner: key,
  participants: z.array(key),
  ttl: z
    .number()
    .min(0)
    .meta({ description: "Seconds after the last write at which a sweep deletes the session." }),
};

export const settable: SettableShape = Object.fromEntries(
  fieldsOf(SESSION_FIELDS)
    .filter(([, { set }]) => set !== undefined)
    .map(([name, field]) => {
      const given = INPUT_SCHEMAS[name] ?? KINDS[field.kind as keyof typeof KINDS];
      return [wireNameOf(name, field), (field.nullable ? given.nullable() : given).optional()];
    }),
) as unknown as SettableShape;

export const originInput: z.ZodType<object> = originFields(Object.keys(ORIGIN_FIELDS));

/** Without the key, which the request gives beside it. */
export const keyedOriginInput: z.ZodType<object> = originFields(
  Object.keys(ORIGIN_FIELDS).filter((name) => name !== "key"),
);

function originFields(names: readonly string[]): z.ZodType<object> {
  return z.strictObject(
    Object.fromEntries(names.map((name) => [toWireName(name), path.optional()])),
  );
}

export const sessionPage: z.ZodType = z
  .object({
    sessions: z.array(
      sessionFields
        .extend({ cost_microusd: count.optional().meta({ description: "Only with `costs`." }) })
        .meta({ id: "ListedSession" }),
    ),
    next_cursor: textOrNull,
  })
  .meta({ id: "SessionPage" });
