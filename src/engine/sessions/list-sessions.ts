/** Pages of sessions, the newest interaction first. */

import type { Session } from "../../model/session.ts";
import type { SessionFilter } from "../../store/records.ts";
import { checkKey, checkLimit, checkTime } from "../check.ts";
import { formatPageCursor, parsePageCursor } from "../cursor.ts";
import type { Scope } from "../scope.ts";

/** Each field narrows the list. Times may be dates. */
export interface ListSessionsInput extends Omit<SessionFilter, "since" | "until"> {
  readonly since?: number | Date;
  readonly until?: number | Date;
  /** At most 500; 50 if left out. */
  readonly limit?: number;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string;
}

export interface SessionListPage {
  readonly sessions: readonly Session[];
  /** Absent on the last page. */
  readonly nextCursor?: string;
}

/** Answered from columns: no entry is read. */
export async function listSessions(
  { store, tenant }: Scope,
  input: ListSessionsInput,
): Promise<SessionListPage> {
  const { since, until, limit, cursor, ...filter } = input;
  for (const [field, value] of Object.entries(filter)) {
    if (value !== undefined) checkKey(value, field);
  }
  const page = await store.listSessions(
    tenant,
    {
      ...filter,
      ...(since === undefined ? {} : { since: checkTime(since, "since") }),
      ...(until === undefined ? {} : { until: checkTime(until, "until") }),
    },
    {
      limit: checkLimit(limit),
      ...(cursor === undefined ? {} : { after: parsePageCursor(cursor) }),
    },
  );
  const { sessions, next } = page;
  return next === undefined ? { sessions } : { sessions, nextCursor: formatPageCursor(next) };
}
