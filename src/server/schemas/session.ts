/** A session in answers. */

import { z } from "zod";
import { type WireSession, wireNameOf } from "../../api/session.ts";
import type { WireOf } from "../../api/shape.ts";
import { SESSION_KINDS, sessionFields, shapeSchema } from "../../api/shape-schema.ts";
import { toWireName, type WireName } from "../../api/wire.ts";
import { OUTCOME } from "../../model/answers/context.ts";
import { USAGE } from "../../model/entry.ts";
import type { Session } from "../../model/session.ts";
import {
  fieldsOf,
  ORIGIN_FIELDS,
  SESSION_FIELDS,
  type SettableField,
} from "../../model/session-fields.ts";
import { count, jsonObject, key, path } from "./common.ts";

export const usage: z.ZodType<WireOf<typeof USAGE>> = shapeSchema(USAGE).meta({ id: "Usage" });

const KINDS = {
  ...SESSION_KINDS,
  json: jsonObject,
  origin: SESSION_KINDS.origin.meta({ id: "Origin" }),
  tokens: usage,
};

const answered = z.object(sessionFields(KINDS));

export const session: z.ZodType<WireSession> = answered.meta({
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
      answered
        .extend({
          cost_microusd: count.optional().meta({ description: "Only with `costs`." }),
          outcome: shapeSchema(OUTCOME)
            .nullable()
            .optional()
            .meta({ description: "How it ended; only with `outcomes`." }),
          sub_agents: count.optional().meta({ description: "Its sub-agents; only with `nested`." }),
          repeats: z
            .array(key)
            .optional()
            .meta({ description: "Ids of the runs folded into it; only with `nested`." }),
        })
        .meta({ id: "ListedSession" }),
    ),
    notes: z
      .array(z.string())
      .meta({ description: "Of an empty page: what its filters may have meant." }),
    next_cursor: z.string().nullable(),
  })
  .meta({ id: "SessionPage" });
