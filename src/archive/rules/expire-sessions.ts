/**
 * Deletes what has been kept for as long as the person wants: sessions that this machine ingested,
 * by the age of their last message. The tombstones keep their files from being ingested again.
 */

import { BackscrollError } from "../../model/errors.ts";
import { MAX_PAGE } from "../../model/limits.ts";
import type { IngestSetting } from "../ingest-setting.ts";

/** Gives the number of deleted sessions. */
export async function expireSessions(
  { tenant, workstation, rules, dryRun }: IngestSetting,
  now: number = Date.now(),
): Promise<number> {
  if (rules.keepMs === null || dryRun) return 0;
  const until = now - rules.keepMs;
  const old: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await tenant.listSessions({
      workstation,
      until,
      machineMade: true,
      limit: MAX_PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    old.push(...page.sessions.filter(({ origin }) => origin.source != null).map(({ id }) => id));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  let deleted = 0;
  for (const id of old) {
    try {
      await tenant.deleteSession(id);
      deleted++;
    } catch (error) {
      // Deleted meanwhile.
      if (!BackscrollError.is(error, "session_not_found")) throw error;
    }
  }
  return deleted;
}
