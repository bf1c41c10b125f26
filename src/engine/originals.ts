/** The bytes of ingested files: the engine keeps them; what they mean is the archive's. */

import { BackscrollError } from "../model/errors.ts";
import { MAX_BATCH_BYTES, MAX_PATH_BYTES } from "../model/limits.ts";
import type { Original, OriginalQuery, OriginalUpdate } from "../store/original.ts";
import { checkKey, checkLimit, checkName } from "./check.ts";
import type { Scope } from "./scope.ts";

export type ListOriginalsInput = Partial<OriginalQuery>;

export async function putOriginal(
  { store, tenant, now }: Scope,
  workstation: string,
  update: OriginalUpdate,
): Promise<boolean> {
  checkName(workstation, "workstation");
  checkName(update.path, "path", MAX_PATH_BYTES);
  const bytes = update.parts.reduce((sum, part) => sum + part.bytes.length, 0);
  if (bytes > MAX_BATCH_BYTES) {
    throw new BackscrollError(
      "too_large",
      `parts holds ${bytes} bytes; at most ${MAX_BATCH_BYTES} are kept at once: store the parts one by one`,
      { details: { field: "parts", limit: MAX_BATCH_BYTES, unit: "bytes" } },
    );
  }
  return store.putOriginal(tenant, workstation, update, now());
}

export async function listOriginals(
  { store, tenant }: Scope,
  { limit, ...query }: ListOriginalsInput,
): Promise<readonly Original[]> {
  return store.listOriginals(tenant, { ...query, limit: checkLimit(limit) });
}

export async function readOriginalPart(
  { store, tenant }: Scope,
  workstation: string,
  path: string,
  start: number,
): Promise<Uint8Array | undefined> {
  return store.readOriginalPart(
    tenant,
    checkKey(workstation, "workstation"),
    checkKey(path, "path"),
    start,
  );
}
