/** Verifies all sessions of a tenant beside writers. */

import { BackscrollError } from "../../model/errors.ts";
import type { Session } from "../../model/session.ts";
import { damageText, isDamage } from "../../store/damage/damage-errors.ts";
import type { SessionPosition } from "../../store/records.ts";
import type { TenantRun } from "./problems.ts";
import type { FeedErasures } from "./verify-erased.ts";
import { type SessionSum, verifySession } from "./verify-session.ts";

const PAGE = 200;

/** Gives the sum over the sessions. */
export async function verifySessions(
  run: TenantRun,
  erasures: FeedErasures,
): Promise<readonly SessionSum[]> {
  const { store, tenant, problems } = run;
  const sums: SessionSum[] = [];
  const seen = new Set<string>();
  const verify = async (session: Session) => {
    if (seen.has(session.id)) return;
    seen.add(session.id);
    await problems.attempt(tenant, session.id, async () => {
      const sum = await unlessDeleted(run, session, () => verifySession(run, session, erasures));
      if (sum !== undefined) sums.push(sum);
    });
  };
  let since = 0;
  // Sessions are listed by last interaction, so one written to meanwhile moves to the front, past
  // the reader: the front is read again until it has no new session.
  for (let before = -1; seen.size > before; ) {
    before = seen.size;
    await problems.attempt(tenant, null, async () => {
      since = Math.max(since, await walkSessions(run, since, seen, verify));
    });
  }
  for (const id of run.inFeed) {
    if (seen.has(id)) continue;
    await problems.attempt(tenant, id, async () => {
      const session = await store.findSession(tenant, id);
      if (session !== undefined) return verify(session);
      if ((await store.findTombstone(tenant, id)) !== undefined) return;
      problems.add(tenant, id, null, "the feed names this session, but the store lacks it");
    });
  }
  return sums;
}

/** Every session since a time, by its last interaction. Gives the newest time of all. */
async function walkSessions(
  run: TenantRun,
  since: number,
  seen: Set<string>,
  verify: (session: Session) => Promise<void>,
): Promise<number> {
  let newest = 0;
  let after: SessionPosition | undefined;
  do {
    const page = await readSessions(run, since, after, seen);
    newest = Math.max(newest, page.sessions[0]?.lastInteractionAt ?? 0);
    for (const session of page.sessions) await verify(session);
    after = page.next;
  } while (after !== undefined);
  return newest;
}

interface ReadPage {
  readonly sessions: readonly Session[];
  readonly next?: SessionPosition;
}

/** A page of sessions. Unreadable ones are reported and skipped. */
async function readSessions(
  run: TenantRun,
  since: number,
  after: SessionPosition | undefined,
  seen: Set<string>,
): Promise<ReadPage> {
  const { store, tenant, problems } = run;
  const read = (limit: number) =>
    store.listSessions(tenant, { since }, { limit, ...(after === undefined ? {} : { after }) });
  try {
    return await read(PAGE);
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  try {
    return await read(1);
  } catch (error) {
    const next = isDamage(error) ? positionIn(error) : undefined;
    if (next === undefined) throw error;
    const { sessionId, ...position } = next;
    if (!seen.has(sessionId)) {
      problems.add(tenant, sessionId, null, damageText(error as BackscrollError));
      seen.add(sessionId);
    }
    return { sessions: [], next: position };
  }
}

/** The place of the session that an error names. */
function positionIn({
  details,
}: BackscrollError): (SessionPosition & { readonly sessionId: string }) | undefined {
  const { sessionId, lastInteractionAt, number } = details;
  const isPlaced = typeof lastInteractionAt === "number" && typeof number === "number";
  return isPlaced ? { sessionId: String(sessionId), lastInteractionAt, number } : undefined;
}

async function unlessDeleted<Result>(
  { store, tenant, problems }: TenantRun,
  session: Session,
  verify: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await verify();
  } catch (error) {
    if (!BackscrollError.is(error, "session_not_found")) throw error;
    if ((await store.findTombstone(tenant, session.id)) === undefined) {
      const problem = "the session is listed, and cannot be found by its id";
      problems.add(tenant, session.id, null, problem);
    }
    return undefined;
  }
}
