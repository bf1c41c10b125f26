/** Records in requests and answers. */

import { z } from "zod";
import type { WireRecordWrites } from "../../api/record/record.ts";
import { MAX_NAMESPACE_BYTES, MAX_RECORD_KEY_BYTES } from "../../model/limits.ts";
import { RECORD_TYPES } from "../../model/record.ts";
import { count } from "./common.ts";

const text = z.string();
export const namespace: z.ZodString = z.string().min(1).max(MAX_NAMESPACE_BYTES);
export const recordKey: z.ZodString = z.string().min(1).max(MAX_RECORD_KEY_BYTES);

/** A record's options, beside its value. */
export const keeping: {
  readonly text: z.ZodOptional<z.ZodNullable<z.ZodString>>;
  readonly ttl: z.ZodOptional<z.ZodNullable<z.ZodNumber>>;
  readonly expected_version: z.ZodOptional<z.ZodNullable<z.ZodString>>;
} = {
  text: text.nullable().optional(),
  ttl: z.number().nullable().optional(),
  expected_version: text.nullable().optional(),
};

const condition = z.strictObject({
  namespace: text,
  key: text,
  expected_version: text.optional(),
});

/** The JSON part of a write: the values follow it. The library checks names. */
export const recordWrites: z.ZodType<WireRecordWrites> = z.strictObject({
  operations: z.array(
    z.strictObject({
      put: z
        .strictObject({
          namespace: text,
          key: text,
          type: z.enum(RECORD_TYPES),
          size: count,
          ...keeping,
          version: text.optional(),
        })
        .optional(),
      delete: condition.optional(),
      check: condition.optional(),
    }),
  ),
}) as z.ZodType<WireRecordWrites>;
