/**
 * Files without a message yet.
 *
 * An agent creates its file when it starts and writes with the first message; no session is stored
 * until then. Older stores have empty sessions for such files: the first messages replace them.
 */

import { BackscrollError } from "../model/errors.ts";
import type { FileInput, Ingested } from "./file-input.ts";
import { formatState, parseState } from "./file-state.ts";
import type { IngestSetting } from "./ingest-setting.ts";
import { outcomeOf } from "./outcome.ts";

export function ingestEmpty(setting: IngestSetting, input: FileInput): Ingested {
  const { file, hint } = input.candidate;
  const source = setting.only ?? hint;
  const outcome = outcomeOf(file.path, "empty");
  if (source === undefined) return { outcome };
  // An emptied file still belongs to its session.
  const { key, empty } = parseState(input.known?.state ?? null);
  const kept = {
    ...(key === undefined ? {} : { key }),
    ...(empty === undefined ? {} : { empty }),
  };
  const { path, mtimeUs, size } = file;
  const place = { path, source: source.name, size, mtimeUs, offset: 0, lines: 0, tailHash: null };
  return { outcome, record: { ...place, state: formatState(kept), seenAt: Date.now() } };
}

/** Deletes an empty session, unless it is in `kept` or has been written to. */
export async function dropEmpty(
  { tenant, dryRun }: IngestSetting,
  id: string,
  kept: ReadonlySet<string>,
): Promise<void> {
  if (dryRun || kept.size === 0 || kept.has(id)) return;
  try {
    const { entryCount } = await tenant.getSessionMeta(id);
    if (entryCount === 0) await tenant.deleteSession(id);
  } catch (error) {
    // Deleted meanwhile.
    if (!BackscrollError.is(error, "session_not_found")) throw error;
  }
}
