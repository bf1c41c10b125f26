/** The schemas of answers that are shapes: see `model/shape.ts`. */

import { z } from "zod";
import { ENTRIES, FACTS, MEMORIES, SESSION_CALLS, TENANT_CALLS } from "../../api/operations.ts";
import {
  ENGINE_CALLS,
  RECORD_CALLS,
  ROUTE_CALLS,
  ROUTE_SESSIONS,
} from "../../api/part-operations.ts";
import { toWireName } from "../../api/wire.ts";
import { ACCESS_TOKEN } from "../../model/access.ts";
import {
  CLEARING,
  COMPACTION_PLAN,
  COMPACTION_RESULT,
  CONTEXT_USAGE,
  RECAP,
  RECAP_LINE,
  RELATED,
  RESUME_COMMAND,
  SEARCH_HIT,
  SEARCH_RESULT,
  SPAN,
  SUMMARY,
  TRACE,
  TRACED_CALL,
  WINDOW_ITEM,
} from "../../model/answers/context.ts";
import { MAINTENANCE_REPORT, REPLY, SESSION_STATUS } from "../../model/answers/gateway.ts";
import {
  DERIVED,
  FACETS,
  FOLLOWER_STATUS,
  INDEX_STATUS,
  INDEX_SUMMARY,
  INGESTED_FILE,
  LOSS,
  SHARE,
  STORE_STATUS,
  SWEEP,
  TENANT_STATUS,
  TOMBSTONE,
  VERIFY_REPORT,
} from "../../model/answers/store.ts";
import { CHANGE } from "../../model/change.ts";
import { ENTRY, USAGE } from "../../model/entry.ts";
import { FACT, MEMORY } from "../../model/note.ts";
import { RECORD_INFO } from "../../model/record.ts";
import { REVIEW } from "../../model/review.ts";
import { ROUTE_SESSION, SESSION_ROUTE } from "../../model/route.ts";
import { readShapeKind, type Shape, type ShapeKind } from "../../model/shape.ts";
import { count, counts, jsonObject, jsonValue, time } from "./common.ts";
import { block } from "./entry.ts";
import { ingestedFile } from "./import.ts";
import { session, usage } from "./session.ts";

const text = z.string();

const KINDS: Readonly<Record<string, z.ZodType>> = {
  text,
  count,
  integer: z.number().int(),
  number: z.number(),
  share: z.number().min(0).max(1),
  flag: z.boolean(),
  time,
  bytes: text,
  json: jsonValue,
  object: jsonObject,
  fields: jsonObject,
  counts,
  texts: z.record(text, text),
  unknown: z.unknown(),
  actors: z.union([z.literal("any"), z.array(text)]),
  block,
  session,
  data: jsonValue,
};

/** Named shapes are components of the document; a component's parts are named before it. */
const known = new Map<ShapeKind, z.ZodType>([
  [USAGE, usage],
  [INGESTED_FILE, ingestedFile],
]);

export function schemaOf(kind: ShapeKind): z.ZodType {
  const { base, null: isNull, absent, about } = readShapeKind(kind);
  const plain = known.get(base) ?? plainSchema(base);
  const isNullable = (isNull || absent) && base !== "unknown";
  const schema = isNullable ? plain.nullable() : plain;
  return about === undefined ? schema : schema.meta({ description: about });
}

function plainSchema(kind: ShapeKind): z.ZodType {
  if (typeof kind === "string") return KINDS[kind] as z.ZodType;
  if (Array.isArray(kind)) return z.array(schemaOf(kind[0]));
  if ("special" in kind) return KINDS[kind["special"] as string] as z.ZodType;
  if ("one" in kind) return z.enum(kind["one"] as readonly string[]);
  if ("some" in kind) return text;
  const fields = Object.entries(kind as Shape).map(([name, each]) => {
    return [readShapeKind(each).wire ?? toWireName(name), schemaOf(each)];
  });
  return z.object(Object.fromEntries(fields));
}

const EXTRACTED_PART = {
  from: "text",
  through: "text",
  messages: "count",
  added: "count",
  duplicates: "count",
  withheld: "count",
  unsupported: "count",
  unread: "count",
} as const;

export const EXTRACTION: Shape = {
  facts: [FACT],
  parts: {
    of: [EXTRACTED_PART],
    about: "The result of each part of the conversation that was read.",
  },
};
export const CHANGE_PAGE: Shape = {
  changes: [CHANGE],
  next: { of: "text", about: "The cursor after this page: pass it as `after`." },
  end: "flag",
};
export const SHARES: Shape = { shares: [SHARE] };
export const RECORD_PAGE: Shape = { records: [RECORD_INFO], next_cursor: "text|null" };
export const RECORDS_WRITTEN: Shape = { records: [{ of: RECORD_INFO, null: true }] };
export const RECORD: Shape = {
  ...RECORD_INFO,
  text: "text|null",
  value: { of: "json", about: "Null if the record holds bytes: read its value." },
};

const NAMED: Readonly<Record<string, Shape>> = {
  Entry: ENTRY,
  EntryList: ENTRIES,
  EntryPage: SESSION_CALLS.listEntries.answer,
  MessagePage: TENANT_CALLS.listMessages.answer,
  BranchList: SESSION_CALLS.branches.answer,
  Memory: MEMORY,
  MemoryList: MEMORIES,
  Fact: FACT,
  FactList: FACTS,
  Extraction: EXTRACTION,
  WindowItem: WINDOW_ITEM,
  Hit: SEARCH_HIT,
  SearchResult: SEARCH_RESULT,
  Compaction: COMPACTION_RESULT,
  Summary: SUMMARY,
  SummaryList: SESSION_CALLS.summaries.answer,
  CompactionPlan: COMPACTION_PLAN,
  CompactionPlanAnswer: SESSION_CALLS.planCompaction.answer,
  ContextUsage: CONTEXT_USAGE,
  Erased: SESSION_CALLS.applyRetention.answer,
  RecapLine: RECAP_LINE,
  Recap: RECAP,
  Related: RELATED,
  Span: SPAN,
  TracedCall: TRACED_CALL,
  Clearing: CLEARING,
  Trace: TRACE,
  Review: REVIEW,
  ResumeCommand: RESUME_COMMAND,
  Facets: FACETS,
  Change: CHANGE,
  ChangePage: CHANGE_PAGE,
  IndexStatus: INDEX_SUMMARY,
  IndexReport: INDEX_STATUS,
  TenantStatus: TENANT_STATUS,
  TenantStatusAnswer: TENANT_CALLS.tenantStatus.answer,
  Loss: LOSS,
  FollowerStatus: FOLLOWER_STATUS,
  StoreStatus: STORE_STATUS,
  Sweep: SWEEP,
  Verification: VERIFY_REPORT,
  Integrity: ENGINE_CALLS.checkIntegrity.answer,
  IngestedFileList: TENANT_CALLS.findIngestedFiles.answer,
  Tombstone: TOMBSTONE,
  Derived: DERIVED,
  Maintenance: MAINTENANCE_REPORT,
  Route: SESSION_ROUTE,
  RouteList: ROUTE_CALLS.list.answer,
  RouteSession: ROUTE_SESSION,
  RouteSessionList: ROUTE_SESSIONS,
  AccessToken: ACCESS_TOKEN,
  CreatedToken: TENANT_CALLS.createToken.answer,
  AccessTokenList: TENANT_CALLS.listTokens.answer,
  Share: SHARE,
  ShareList: SHARES,
  RecordInfo: RECORD_INFO,
  RecordPage: RECORD_PAGE,
  RecordsWritten: RECORDS_WRITTEN,
  Record: RECORD,
  RecordHits: RECORD_CALLS.search.answer,
  SessionStatus: SESSION_STATUS,
  Inbound: REPLY,
};
for (const [id, shape] of Object.entries(NAMED)) known.set(shape, schemaOf(shape).meta({ id }));
