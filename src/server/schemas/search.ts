/** Schemas of search results. */

import { z } from "zod";
import { BackscrollError } from "../../model/errors.ts";

const text = z.string();

/** Search parameters, with the same names in a query string and in a body. */
export const asked: {
  readonly query: z.ZodOptional<z.ZodString>;
  readonly q: z.ZodOptional<z.ZodString>;
} = {
  query: text.optional().meta({
    description: "Required, here or as q. Any text is a valid query.",
  }) as z.ZodOptional<z.ZodString>,
  q: text.optional().meta({ description: "Short for query." }) as z.ZodOptional<z.ZodString>,
};

/**
 * Splits the query from the other options. Throws `invalid_input` unless exactly one name is given.
 */
export function splitQuery<Options extends { query?: string | undefined; q?: string | undefined }>(
  fields: Options,
): { readonly query: string; readonly options: Omit<Options, "query" | "q"> } {
  const { query, q, ...options } = fields;
  if ((query === undefined) === (q === undefined)) {
    const what = query === undefined ? "query is missing" : "query and q are the same";
    throw new BackscrollError("invalid_input", `${what}: give one of query and q`, {
      details: { field: "query" },
    });
  }
  return { query: query ?? q ?? "", options };
}

/** As `splitQuery`, for routes of tables. */
export function oneQuery(_: unknown, fields: { query?: string; q?: string }): object {
  const { query, options } = splitQuery(fields);
  return { ...options, query };
}
