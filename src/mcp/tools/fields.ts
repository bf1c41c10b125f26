/** Fields that several tools take, with their limits. */

import { z } from "zod";
import { QUERY_HELP } from "../../api/memory-words.ts";
import { MAX_HITS, MAX_ID_LENGTH, MAX_NAME_BYTES, MAX_QUERY_BYTES } from "../../model/limits.ts";

export const SESSION_ID: z.ZodString = z
  .string()
  .min(1)
  .max(MAX_ID_LENGTH)
  .describe("The id of a session, as search_sessions and list_sessions give it.");

/** A ULID of the same look as any other, for examples. */
export const EXAMPLE_ID = "01JABCDEFGHJKMNPQRSTVWXYZ0";

export const QUERY: z.ZodString = z.string().min(1).max(MAX_QUERY_BYTES).describe(QUERY_HELP);

export function name(description: string): z.ZodString {
  return z.string().min(1).max(MAX_NAME_BYTES).describe(description);
}

export function id(description: string): z.ZodString {
  return z.string().min(1).max(MAX_ID_LENGTH).describe(description);
}

export function hits(preset: number, description: string): z.ZodDefault<z.ZodNumber> {
  return z.number().int().min(1).max(MAX_HITS).default(preset).describe(description);
}

/** In every answer. */
export const TRUNCATED: z.ZodNullable<z.ZodString> = z
  .string()
  .nullable()
  .describe("What was left out or cut to keep the answer small; null if nothing was.");

/** In every answer that recites what others wrote. */
export const ABOUT: z.ZodString = z.string();
