/** Parts shared by schemas of requests and answers. */

import { z } from "zod";
import { parseTime, TIME_FORMS } from "../../api/text/times.ts";
import { messageOf } from "../../model/errors.ts";
import type { JsonObject, JsonValue } from "../../model/json.ts";
import {
  DEFAULT_PAGE,
  MAX_FILTER_VALUES,
  MAX_METADATA_BYTES,
  MAX_NAME_BYTES,
  MAX_PAGE,
  MAX_PATH_BYTES,
  MAX_SESSION_KEY_BYTES,
} from "../../model/limits.ts";
import type { MetadataFilter } from "../../model/session.ts";

/** A caller's id or name; the library checks its form. */
export const key: z.ZodString = z.string().min(1).max(MAX_NAME_BYTES);

/** A gateway's key of a conversation. */
export const sessionKey: z.ZodString = z.string().min(1).max(MAX_SESSION_KEY_BYTES);

export const path: z.ZodString = z.string().min(1).max(MAX_PATH_BYTES);

export const count: z.ZodNumber = z.number().int().min(0);

/** A time in ISO 8601, as in every answer. */
export const time: z.ZodType<string> = z.iso.datetime();

/** A caller's time, with any offset. */
export const timeInput: z.ZodType<Date, string> = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text));

/** `since` and `until` of a filter: a day of the server's time zone counts whole on either end. */
export const period: Readonly<Record<"since" | "until", z.ZodOptional<z.ZodType<Date, string>>>> = {
  since: periodEdge("since", `From then on: ${TIME_FORMS}.`),
  until: periodEdge("until", "Up to then, exclusive; a day, a month or a year counts whole."),
};

function periodEdge(edge: "since" | "until", description: string) {
  return z
    .string()
    .meta({ description })
    .transform((text, context) => {
      try {
        return parseTime(text, edge, edge);
      } catch (error) {
        context.addIssue({ code: "custom", message: messageOf(error).replace(`${edge} `, "") });
        return z.NEVER;
      }
    })
    .optional();
}

export const jsonValue: z.ZodType<JsonValue> = z
  .unknown()
  .meta({ description: "Any JSON." }) as unknown as z.ZodType<JsonValue>;

export const jsonObject: z.ZodType<JsonObject> = z
  .record(z.string(), z.unknown())
  .meta({ description: "Any JSON object." }) as unknown as z.ZodType<JsonObject>;

/** A map of names to counts or values. */
export const counts: z.ZodType<Readonly<Record<string, number>>> = z.record(z.string(), z.number());

/** Query parameters are text. */
export const countQuery: z.ZodType<number, string> = z
  .string()
  .regex(/^\d{1,15}$/, "must be a whole number")
  .transform(Number);

/** A number from 0 to 1. */
export const shareQuery: z.ZodType<number, string> = z
  .string()
  .regex(/^(0(\.\d{1,15})?|1(\.0{1,15})?)$/, "must be a number from 0 to 1")
  .transform(Number);

export const limitQuery: z.ZodType<number, string> = countQuery.meta({
  description: `How many: at most ${MAX_PAGE}, ${DEFAULT_PAGE} if left out.`,
}) as z.ZodType<number, string>;

export const flagQuery: z.ZodType<boolean, "true" | "false"> = z
  .enum(["true", "false"])
  .transform((text) => text === "true");

/** Metadata fields and values as JSON. The library checks them. */
export const metadataQuery: z.ZodType<MetadataFilter, string> = z
  .string()
  .max(MAX_METADATA_BYTES)
  .transform((text, context) => {
    try {
      return JSON.parse(text) as MetadataFilter;
    } catch {
      context.addIssue({ code: "custom", message: "must be a JSON object" });
      return z.NEVER;
    }
  })
  .meta({ description: 'Fields that the metadata has, as JSON: {"ticket":"A-1"}.' });

/** One value, or several, of a filter in a body. */
export const oneOrMore: z.ZodType<string | string[]> = z.union([
  key,
  z.array(key).max(MAX_FILTER_VALUES),
]);

/** One value, or several as alternatives: `role=user&role=tool`. */
export const manyQuery: z.ZodType<string[], string | string[]> = z
  .union([key, z.array(key).min(1)])
  .transform((value) => (typeof value === "string" ? [value] : value));

export const sessionParams: z.ZodObject<{ session_id: z.ZodString }> = z.strictObject({
  session_id: key,
});

export const entryParams: z.ZodObject<{ session_id: z.ZodString; entry_id: z.ZodString }> =
  z.strictObject({ session_id: key, entry_id: key });
