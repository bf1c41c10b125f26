/** The schemas of answers that are shapes. */

import type { z } from "zod";
import { ACCESS_TOKEN } from "../../model/access-token.ts";
import {
  BRANCH,
  CLEARING,
  COMPACTION_PLAN,
  COMPACTION_RESULT,
  CONTEXT_USAGE,
  RECAP,
  RECAP_LINE,
  RELATED,
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
  FOLLOWER_STATUS,
  INDEX_STATUS,
  INDEX_SUMMARY,
  LOSS,
  SHARE,
  STORE_STATUS,
  SWEEP,
  TENANT_STATUS,
  TOMBSTONE,
  VERIFY_REPORT,
} from "../../model/answers/store.ts";
import { CHANGE } from "../../model/change.ts";
import { ENTRY } from "../../model/entry.ts";
import { FACT, MEMORY } from "../../model/note.ts";
import { RECORD_INFO } from "../../model/record.ts";
import { REVIEW } from "../../model/review.ts";
import { ROUTE_SESSION, SESSION_ROUTE } from "../../model/route.ts";
import { answer } from "./shape.ts";

export const entry: z.ZodType = answer("Entry", ENTRY);
export const entries: z.ZodType = answer("EntryList", { entries: [ENTRY] });
export const entryPage: z.ZodType = answer("EntryPage", { entries: [ENTRY], next: "text|null" });
export const messagePage: z.ZodType = answer("MessagePage", {
  messages: [ENTRY],
  offset: "count",
  total: "count",
});
export const branches: z.ZodType = answer("BranchList", { branches: [BRANCH] });

export const memory: z.ZodType = answer("Memory", MEMORY);
export const memories: z.ZodType = answer("MemoryList", { memories: [MEMORY] });
export const fact: z.ZodType = answer("Fact", FACT);
export const facts: z.ZodType = answer("FactList", { facts: [FACT] });
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
export const extraction: z.ZodType = answer("Extraction", {
  facts: [FACT],
  parts: {
    of: [EXTRACTED_PART],
    about: "The result of each part of the conversation that was read.",
  },
});

export const windowItem: z.ZodType = answer("WindowItem", WINDOW_ITEM);
export const hit: z.ZodType = answer("Hit", SEARCH_HIT);
export const searchResult: z.ZodType = answer("SearchResult", SEARCH_RESULT);
export const compaction: z.ZodType = answer("Compaction", COMPACTION_RESULT);
export const summary: z.ZodType = answer("Summary", SUMMARY);
export const summaries: z.ZodType = answer("SummaryList", { summaries: [SUMMARY] });
export const compactionPlan: z.ZodType = answer("CompactionPlan", COMPACTION_PLAN);
export const planAnswer: z.ZodType = answer("CompactionPlanAnswer", {
  plan: { of: COMPACTION_PLAN, null: true },
});
export const contextUsage: z.ZodType = answer("ContextUsage", CONTEXT_USAGE);

export const recapLine: z.ZodType = answer("RecapLine", RECAP_LINE);
export const recap: z.ZodType = answer("Recap", RECAP);
export const related: z.ZodType = answer("Related", RELATED);
export const span: z.ZodType = answer("Span", SPAN);
export const tracedCall: z.ZodType = answer("TracedCall", TRACED_CALL);
export const clearing: z.ZodType = answer("Clearing", CLEARING);
export const trace: z.ZodType = answer("Trace", TRACE);
export const review: z.ZodType = answer("Review", REVIEW);

export const change: z.ZodType = answer("Change", CHANGE);
export const changePage: z.ZodType = answer("ChangePage", {
  changes: [CHANGE],
  next: { of: "text", about: "The cursor after this page: pass it as `after`." },
  end: "flag",
});

export const indexStatus: z.ZodType = answer("IndexStatus", INDEX_SUMMARY);
export const indexReport: z.ZodType = answer("IndexReport", INDEX_STATUS);
export const tenantStatus: z.ZodType = answer("TenantStatus", TENANT_STATUS);
export const loss: z.ZodType = answer("Loss", LOSS);
export const followerStatus: z.ZodType = answer("FollowerStatus", FOLLOWER_STATUS);
export const storeStatus: z.ZodType = answer("StoreStatus", STORE_STATUS);
export const sweep: z.ZodType = answer("Sweep", SWEEP);
export const verification: z.ZodType = answer("Verification", VERIFY_REPORT);
export const tombstone: z.ZodType = answer("Tombstone", TOMBSTONE);
export const derived: z.ZodType = answer("Derived", DERIVED);
export const maintenance: z.ZodType = answer("Maintenance", MAINTENANCE_REPORT);

export const route: z.ZodType = answer("Route", SESSION_ROUTE);
export const routeList: z.ZodType = answer("RouteList", {
  routes: [SESSION_ROUTE],
  next: "text|null",
});
export const routeSession: z.ZodType = answer("RouteSession", ROUTE_SESSION);
export const routeSessions: z.ZodType = answer("RouteSessionList", { sessions: [ROUTE_SESSION] });

export const token: z.ZodType = answer("AccessToken", ACCESS_TOKEN);
export const tokenList: z.ZodType = answer("AccessTokenList", { tokens: [ACCESS_TOKEN] });
export const share: z.ZodType = answer("Share", SHARE);
export const shareList: z.ZodType = answer("ShareList", { shares: [SHARE] });
export const recordInfo: z.ZodType = answer("RecordInfo", RECORD_INFO);
export const recordPage: z.ZodType = answer("RecordPage", {
  records: [RECORD_INFO],
  next_cursor: "text|null",
});
export const written: z.ZodType = answer("RecordsWritten", {
  records: [{ of: RECORD_INFO, null: true }],
});
export const record: z.ZodType = answer("Record", {
  ...RECORD_INFO,
  text: "text|null",
  value: { of: "json", about: "Null if the record holds bytes: read its value." },
});
export const recordHits: z.ZodType = answer("RecordHits", {
  records: [{ ...RECORD_INFO, text: "text" }],
});

export const sessionStatus: z.ZodType = answer("SessionStatus", SESSION_STATUS);
export const inbound: z.ZodType = answer("Inbound", REPLY);
