/**
 * The options of a call as parameters of a query or fields of a body: from its table of inputs, so
 * that an option is declared once for the library, the client and REST.
 */

import { z } from "zod";
import { toWireName, type WireName } from "../../api/wire.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import type { Kind, TypeOf } from "../../model/inputs/kinds.ts";
import { filterRow } from "../../model/session-filters.ts";
import {
  count,
  countQuery,
  flagQuery,
  key,
  manyQuery,
  oneOrMore,
  path,
  period,
  shareQuery,
  timeInput,
} from "./common.ts";

export type Schemas = Readonly<Record<string, z.ZodType>>;

const QUERY: Schemas = {
  flag: flagQuery,
  count: countQuery,
  positive: countQuery,
  share: shareQuery,
  text: key,
  key,
  name: key,
  time: timeInput,
  "text|texts": manyQuery,
};

const BODY: Schemas = {
  flag: z.boolean(),
  count,
  positive: count,
  share: z.number().min(0).max(1),
  text: key,
  key,
  name: key,
  texts: z.array(key),
  time: timeInput,
  "text|texts": oneOrMore,
};

/** The calls whose filters have their own limits and descriptions. */
const FILTERED = ["listSessions", "facets", "stats", "recapSessions", "reviewSessions"];
const BOUNDS: Schemas = { path, text: z.string().min(1) };

type Calls = typeof INPUTS;

/** What code of this process alone can have: no request does. */
type Local = "signal" | "callback" | "object" | "instance" | { readonly or: string };

type SchemasOf<Table> = {
  readonly [Name in keyof Table as Table[Name] extends Local
    ? never
    : WireName<Name>]: z.ZodOptional<z.ZodType<TypeOf<Table[Name]>>>;
};

/** `own` are schemas of single fields in place of those of their kind, or beside them. */
export function inputOf<Call extends keyof Calls, Own extends Schemas = Record<never, never>>(
  call: Call,
  place: "query" | "body",
  own?: Own,
): Omit<SchemasOf<Calls[Call]>, keyof Own> & Own {
  const shape: Record<string, z.ZodType> = {};
  const kinds = place === "query" ? QUERY : BODY;
  for (const [name, kind] of Object.entries<Kind>(INPUTS[call])) {
    const wire = toWireName(name);
    const { bound = "", about } = FILTERED.includes(call) ? filterRow(name) : {};
    const plain = BOUNDS[bound]?.optional() ?? schemaOf(name, kind, kinds);
    const schema = own?.[wire] ?? (about ? plain?.meta({ description: about }) : plain);
    if (schema !== undefined) shape[wire] = schema;
  }
  return { ...shape, ...own } as Omit<SchemasOf<Calls[Call]>, keyof Own> & Own;
}

function schemaOf(name: string, kind: Kind, kinds: Schemas): z.ZodType | undefined {
  if (name === "since" || name === "until") return period[name];
  if (Array.isArray(kind)) return z.enum(kind as readonly string[]).optional();
  return typeof kind === "string" ? kinds[kind]?.optional() : undefined;
}
