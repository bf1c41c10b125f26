/** A session parsed elsewhere, line by line, and read positions of files. */

import { z } from "zod";
import type {
  WireImportedEntry,
  WireImportLine,
  WireImportOptions,
  WireSessionHead,
} from "../../api/imported-session.ts";
import type { WireOriginalUpdate } from "../../api/original.ts";
import type { WireOf } from "../../api/shape.ts";
import type { INGESTED_FILE } from "../../model/answers/store.ts";
import { ENTRY_KINDS, type EntryKind, ROLES } from "../../model/entry.ts";
import { LATE_ENTRIES } from "../../model/inputs/choices.ts";
import { isPlainObject } from "../../model/json.ts";
import { PROVENANCES } from "../../model/session.ts";
import { count, counts, jsonObject, key, path, time } from "./common.ts";
import { usage } from "./session.ts";

const text = z.string();
const textOrNull = text.nullable();
const KINDS = Object.keys(ENTRY_KINDS) as [EntryKind, ...EntryKind[]];

/** An object with its field order preserved. */
const untouched = z.custom<Record<string, unknown>>(isPlainObject, "must be an object");

const sessionHead = z.strictObject({
  source: key,
  agent: key,
  id: textOrNull,
  title: textOrNull,
  cwd: textOrNull,
  git_branch: textOrNull,
  started_at: time.nullable(),
  parent_session: textOrNull,
  metadata: jsonObject,
  created_by: key.optional(),
  repo: path.optional(),
}) as unknown as z.ZodType<WireSessionHead>;

/** The first line. */
export const importHead: z.ZodType<{
  readonly session: WireSessionHead;
  readonly options: WireImportOptions;
}> = z.strictObject({
  session: sessionHead,
  options: z.strictObject({
    file: path.optional(),
    key: path.optional(),
    workstation: key.optional(),
    repo: path.optional(),
    project_id: key.optional(),
    provenance: z.enum(PROVENANCES).optional(),
    owner: key.optional(),
    metadata: jsonObject.optional(),
    skip_forgotten: z.boolean().optional(),
    after: key.optional(),
    dry_run: z.boolean().optional(),
    skip_empty: z.boolean().optional(),
    when_late: z.enum(LATE_ENTRIES).optional(),
    earlier: z
      .strictObject({
        kept: path.optional(),
        replaced: path.optional(),
        same: z.strictObject({ source: key, file: path.nullable() }),
      })
      .optional(),
  }),
}) as unknown as z.ZodType<{
  readonly session: WireSessionHead;
  readonly options: WireImportOptions;
}>;

const entry = z.strictObject({
  source_id: text.min(1),
  parent_source_id: textOrNull.optional(),
  kind: z.enum(KINDS),
  role: z.enum(ROLES).nullable(),
  actor: textOrNull,
  // Unchanged: stored bytes are hashed.
  blocks: z.array(untouched),
  data: untouched.nullable(),
  references: z.array(text).optional(),
  usage: usage.nullable(),
  answer: text.optional(),
  cost: z.number().optional(),
  model: textOrNull,
  created_at: time.nullable(),
  metadata: untouched,
}) as unknown as z.ZodType<WireImportedEntry>;

/** Any other line. The last one has `end`. */
export const importLine: z.ZodType<Exclude<WireImportLine, { readonly session: unknown }>> =
  z.union([
    z.strictObject({ entry }),
    z.strictObject({ end: z.strictObject({ leaf: textOrNull.optional() }) }),
  ]);

export const importResult: z.ZodType = z
  .object({
    session_id: textOrNull,
    created: z.boolean(),
    entries: count,
    skipped: count,
    last: textOrNull,
    forgotten: z.boolean(),
    key: text,
    problem_counts: counts,
    unsure: z
      .boolean()
      .optional()
      .meta({ description: "The tail of a file repeats ids: send the whole file." }),
    late: z
      .array(text)
      .nullable()
      .meta({ description: "The session's files in their order, if `when_late` kept it out." }),
    problems: z.array(z.object({ code: text, message: text })),
    stored: z
      .object({
        title: text,
        metadata: jsonObject,
        told_title: textOrNull,
        figures: z.object({
          exchange_count: count.nullable(),
          tool_counts: counts.nullable(),
          file_mtime: time.nullable(),
          first_msg_at: time.nullable(),
          last_msg_at: time.nullable(),
          cost_usd: z.number().nullable(),
        }),
      })
      .nullable()
      .meta({
        description: "The fields that a description depends on; null if nothing was stored.",
      }),
  })
  .meta({ id: "ImportResult" });

export const ingestedFile: z.ZodType<WireOf<typeof INGESTED_FILE>> = z
  .object({
    path,
    source: text,
    size: count,
    mtime_us: count,
    offset: count,
    lines: count,
    tail_hash: text.regex(/^([0-9a-f]{2})*$/).nullable(),
    state: textOrNull,
    seen_at: time,
  })
  .meta({ id: "IngestedFile" });

const originalFacts = {
  workstation: key,
  path,
  source: key,
  reader: count,
  size: count,
  mtime_us: count,
  session_ids: z.array(key),
};

export const originalUpdate: z.ZodType<WireOriginalUpdate> = z.strictObject({
  ...originalFacts,
  from: count.meta({ description: "Stored parts that start here or later are replaced." }),
  parts: z.array(
    z.strictObject({
      start: count,
      size: count,
      bytes: z.base64().meta({ description: "A zstd frame with a checksum." }),
    }),
  ),
});

export const originals: z.ZodType = z
  .object({
    originals: z.array(
      z.object({ ...originalFacts, parts: z.array(z.object({ start: count, size: count })) }),
    ),
  })
  .meta({ id: "OriginalList" });

export const originalPart: z.ZodType = z
  .object({ bytes: z.base64().nullable() })
  .meta({ id: "OriginalPart" });
