/** The schemas of answers that are shapes: see `model/shape.ts`. */

import type { z } from "zod";
import { ENTRIES, FACTS, MEMORIES, SESSION_CALLS, TENANT_CALLS } from "../../api/operations.ts";
import {
  ENGINE_CALLS,
  RECORD_CALLS,
  ROUTE_CALLS,
  ROUTE_SESSIONS,
} from "../../api/part-operations.ts";
import { PLAIN_KINDS, schemaWith } from "../../api/shape-schema.ts";
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
import { FACT, MEMORY, RULE, RULE_LIST } from "../../model/note.ts";
import { OUTLINE } from "../../model/outline.ts";
import { RECORD_INFO } from "../../model/record.ts";
import { REVIEW } from "../../model/review.ts";
import { ROUTE_SESSION, SESSION_ROUTE } from "../../model/route.ts";
import type { Shape, ShapeKind } from "../../model/shape.ts";
import { jsonObject, jsonValue } from "./common.ts";
import { block } from "./entry.ts";
import { ingestedFile } from "./import.ts";
import { session, usage } from "./session.ts";

const KINDS: Readonly<Record<string, z.ZodType>> = {
  ...PLAIN_KINDS,
  json: jsonValue,
  object: jsonObject,
  fields: jsonObject,
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
  return schemaWith(kind, KINDS, known);
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
  Mark: SESSION_CALLS.mark.answer,
  MarkList: SESSION_CALLS.marks.answer,
  BranchList: SESSION_CALLS.branches.answer,
  Memory: MEMORY,
  MemoryList: MEMORIES,
  Fact: FACT,
  FactList: FACTS,
  Rule: RULE,
  RuleList: RULE_LIST,
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
  Outline: OUTLINE,
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
