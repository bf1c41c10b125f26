/**
 * Input fields that several tools share, with their limits, and the session filter that they make.
 */

import { z } from "zod";
import { shapeSchema } from "../../api/shape-schema.ts";
import { QUERY_HELP } from "../../api/text/session-heading.ts";
import { parseTime, TIME_FORMS } from "../../api/text/times.ts";
import { toWireName } from "../../api/wire.ts";
import { defined } from "../../model/defined.ts";
import { BackscrollError } from "../../model/errors.ts";
import { MAX_HITS, MAX_ID_LENGTH, MAX_NAME_BYTES, MAX_QUERY_BYTES } from "../../model/limits.ts";
import {
  type FilteredCall,
  type FilterFields,
  filterKinds,
  filtersOf,
} from "../../model/session-filters.ts";

export const SESSION_ID: z.ZodString = z
  .string()
  .min(1)
  .max(MAX_ID_LENGTH)
  .describe("A session's short id, such as k3f9, or its id.");

/** A ULID for examples. */
export const EXAMPLE_ID = "01JABCDEFGHJKMNPQRSTVWXYZ0";

export const QUERY: z.ZodString = z.string().min(1).max(MAX_QUERY_BYTES).describe(QUERY_HELP);

export function name(description: string): z.ZodString {
  return z.string().min(1).max(MAX_NAME_BYTES).describe(description);
}

export function id(description: string): z.ZodString {
  return z.string().min(1).max(MAX_ID_LENGTH).describe(description);
}

export function hits(
  preset: number,
  description: string,
  most: number = MAX_HITS,
): z.ZodDefault<z.ZodNumber> {
  return z.number().int().min(1).max(most).default(preset).describe(description);
}

/** In every answer. */
export const TRUNCATED: z.ZodNullable<z.ZodString> = z
  .string()
  .nullable()
  .describe("A note on parts that were left out or cut to keep the answer small; null if none.");

/** In every answer that quotes stored text. */
export const ABOUT: z.ZodString = z.string();

type OptionalText = z.ZodOptional<z.ZodString>;

function nameOf(filter: string): string {
  return filter === "workstation" ? "workstation_id" : toWireName(filter);
}

/** The filters of a call that have words for models. */
export function filterFields(
  call: FilteredCall,
): Readonly<Record<"agent" | "project", OptionalText>> {
  const fields = filtersOf(call).flatMap(([filter, { mcp, kind }]) => {
    if (mcp === undefined) return [];
    const isText = kind === undefined || kind === "time";
    const field = isText ? name(mcp) : shapeSchema(kind).describe(mcp);
    const named = [nameOf(filter), field.optional()] as const;
    return filter === "project" ? [named, ["project_id", OLDER] as const] : [named];
  });
  return Object.fromEntries(fields) as unknown as Record<"agent" | "project", OptionalText>;
}

/** The older name of `project`. */
const OLDER = name("The same as project.").optional();

function projectOf({ project, project_id }: Readonly<Record<string, unknown>>): unknown {
  if (project !== undefined && project_id !== undefined && project !== project_id) {
    const message = "project and project_id differ; give project alone";
    throw new BackscrollError("invalid_input", message, { details: { field: "project_id" } });
  }
  return project ?? project_id;
}

/** Lists omit them: the session that started them shows their results. */
export const SUB_AGENTS: z.ZodOptional<z.ZodBoolean> = z
  .boolean()
  .optional()
  .describe("Also sessions of sub-agents.");

/** Days in the server's time zone, both ends inclusive. */
export const TIMES: Record<"since" | "until", OptionalText> = {
  since: name(`From then on: ${TIME_FORMS}.`).optional(),
  until: name("Up to then; a day counts whole.").optional(),
};

/** The filters of a call in a tool's input. Relative times count from `now`. */
export function sessionFilter<Call extends FilteredCall>(
  call: Call,
  input: Readonly<Record<string, unknown>>,
  now: number,
): FilterFields<Call> & { readonly since?: Date; readonly until?: Date } {
  const kinds = Object.entries({ ...filterKinds(call), since: "time", until: "time" });
  const fields = kinds.map(([filter, kind]) => {
    const field = nameOf(filter);
    const value = filter === "project" ? projectOf(input) : input[field];
    if (kind !== "time" || value === undefined) return [filter, value];
    const edge = filter === "until" ? filter : "since";
    return [filter, parseTime(value as string, field, edge, now)];
  });
  return defined(Object.fromEntries(fields)) as never;
}
