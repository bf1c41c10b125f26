/** Replaces a message of the active path that other messages follow. */

import type { SessionApi } from "../../engine/interfaces.ts";
import type { MessageEntryInput } from "../../engine/writing/entry-input.ts";
import type { Entry } from "../../model/entry.ts";
import { MAX_BATCH_ENTRIES } from "../../model/limits.ts";
import { storeOrBare } from "./settle.ts";

/** Whether entries can be stored again: messages, and no more than one append takes. */
export function canReplace(suffix: readonly Entry[]): boolean {
  return suffix.length <= MAX_BATCH_ENTRIES && suffix.every(({ kind }) => kind === "message");
}

/**
 * Puts a message in the place of the first of the last entries of the active path; the others are stored
 * again below it, so that they stay on the path. Gives the new end of the path. `stale_leaf` if the path ends
 * otherwise.
 */
export async function replaceInPath(
  session: SessionApi,
  suffix: readonly Entry[],
  input: MessageEntryInput,
): Promise<Entry[]> {
  const expected = suffix.map(({ id }) => id);
  const others = suffix.slice(1).filter(({ erased }) => !erased);
  const copies = others.map(toCopy);
  return storeOrBare([input], (entries) =>
    session.replaceSuffix({ expected, replacement: [...entries, ...copies] }),
  );
}

function toCopy(entry: Entry): MessageEntryInput {
  const { role, actor, blocks, adapter, raw, metadata, model, createdAt } = entry;
  return {
    role: role ?? "assistant",
    content: blocks,
    raw,
    metadata,
    createdAt,
    ...(actor === null ? {} : { actor }),
    ...(adapter === null ? {} : { adapter }),
    ...(model === null ? {} : { model }),
  };
}
