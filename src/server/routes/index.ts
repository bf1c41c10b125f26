/** Every route, in the order of the reference. */

import type { Route } from "../route.ts";
import { ACCESS_ROUTES, ADMIN_ROUTES, TOKEN_ROUTES } from "./admin.ts";
import { BACKUP_ROUTES } from "./backup.ts";
import { CHANGE_ROUTES } from "./changes.ts";
import { ENTRY_BATCH_ROUTES, ENTRY_ROUTES, MESSAGE_ROUTES } from "./entries.ts";
import { GATEWAY_ROUTES } from "./gateway.ts";
import { INGEST_ROUTES } from "./ingest.ts";
import { BLAME_ROUTES, INSIGHT_ROUTES, QUERY_ROUTES, RECAP_ROUTES } from "./insights.ts";
import { NOTE_ROUTES } from "./notes.ts";
import { RECORD_ROUTES } from "./records.ts";
import { SEARCH_ROUTES } from "./search.ts";
import { SESSION_ROUTES } from "./sessions.ts";
import { SHARE_ROUTES } from "./shares.ts";
import { STREAM_ROUTES } from "./streams.ts";
import { TRANSFER_ROUTES } from "./transfer.ts";

export const ROUTES: readonly Route[] = [
  ...SESSION_ROUTES,
  ...MESSAGE_ROUTES,
  ...STREAM_ROUTES,
  ...ENTRY_ROUTES,
  ...ENTRY_BATCH_ROUTES,
  ...SEARCH_ROUTES,
  ...RECAP_ROUTES,
  ...BLAME_ROUTES,
  ...QUERY_ROUTES,
  ...INSIGHT_ROUTES,
  ...NOTE_ROUTES,
  ...RECORD_ROUTES,
  ...GATEWAY_ROUTES,
  ...CHANGE_ROUTES,
  ...TRANSFER_ROUTES,
  ...SHARE_ROUTES,
  ...INGEST_ROUTES,
  ...ACCESS_ROUTES,
  ...ADMIN_ROUTES,
  ...TOKEN_ROUTES,
  ...BACKUP_ROUTES,
];
