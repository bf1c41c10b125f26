/** Finds what a reference names: `k3f9`, a session, or `k3f9#12`, its message with this number. */

import type { SessionApi, TenantApi } from "../engine/interfaces.ts";
import { BackscrollError } from "../model/errors.ts";

export interface FoundPlace {
  readonly session: SessionApi;
  /** Absent: the session itself. */
  readonly entryId?: string;
}

export async function findPlace(tenant: TenantApi, ref: string): Promise<FoundPlace> {
  const [, id = ref, number] = /^(.+)#(\d{1,15})$/.exec(ref) ?? [];
  const session = await tenant.getSession(id);
  if (number === undefined) return { session };
  const page = await session.listMessages({ offset: Number(number), limit: 1, preview: true });
  const [message] = page.messages;
  if (message !== undefined) return { session, entryId: message.id };
  throw new BackscrollError(
    "entry_not_found",
    `session ${id} has no message #${number} on its active path; it has ${page.total}`,
    { details: { sessionId: session.id } },
  );
}
