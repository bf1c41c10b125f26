/**
 * Incognito sessions: the store keeps a mark, a hash of the id that the agent gave the session, and
 * nothing of the session itself.
 */

import { hash } from "node:crypto";
import type { TenantApi } from "../../engine/interfaces.ts";
import { ignoring } from "../../model/errors.ts";

/** The rule's name in reports. */
export const INCOGNITO = "incognito";

/** The namespace of the marks among the store's records. */
const NAMESPACE = "backscroll/incognito";

/** `ids` are the agent's own. */
export async function markIncognito(tenant: TenantApi, ids: readonly string[]): Promise<void> {
  const value = { since: new Date().toISOString() };
  await tenant.records.write(
    ids.map((id) => ({ put: { namespace: NAMESPACE, key: keyOf(id), value } })),
  );
}

/** Whether the session is marked, or the one that it worked for, or that it is a copy of. */
export async function isIncognito(
  tenant: TenantApi,
  id: string,
  parent: string | null,
): Promise<boolean> {
  // A sub-agent's id begins with that of its session.
  const above = id.slice(0, Math.max(0, id.lastIndexOf("/")));
  const ids = [id, above, parent ?? ""].filter((each) => each !== "");
  const marks = await tenant.records.getMany(NAMESPACE, [...new Set(ids.map(keyOf))]);
  return marks.some((mark) => mark !== undefined);
}

export async function unmarkIncognito(tenant: TenantApi, id: string): Promise<void> {
  await ignoring("record_not_found", () => tenant.records.delete(NAMESPACE, keyOf(id)));
}

function keyOf(id: string): string {
  return hash("sha256", id, "hex");
}
