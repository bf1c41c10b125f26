/** Replaces the end of the active path by other entries, or by none. */

import type { Entry } from "../../model/entry.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { MAX_BATCH_ENTRIES } from "../../model/limits.ts";
import { appendDrafts } from "../append.ts";
import { checkInput, checkKey, tooLarge } from "../check.ts";
import type { EngineContext } from "../engine-context.ts";
import { requestOf } from "../message-input.ts";
import { draftEntries, type EntryInput } from "./entry-input.ts";
import { entryIds } from "./external-ids.ts";
import { settleSummary } from "./rewrite.ts";

export interface ReplaceSuffixInput {
  /**
   * Compare-and-swap: the ids of the path's last entries (without annotations), in order.
   * `stale_leaf` if the path ends otherwise.
   */
  readonly expected: readonly string[];
  /** The new entries; may be empty. */
  readonly replacement: readonly EntryInput[];
  /** A repeated request with the same key is carried out once, as long as the session exists. */
  readonly key?: string;
}

/** Gives the new entries. The replaced ones stay in the tree, on their own branch. */
export async function replaceSuffix(
  engine: EngineContext,
  sessionId: string,
  input: ReplaceSuffixInput,
): Promise<Entry[]> {
  const { expected, replacement, key } = checkInput(input, "options", INPUTS.replaceSuffix);
  const replaced = expected.map((id, i) => checkKey(id, `expected[${i}]`));
  if (replaced.length > MAX_BATCH_ENTRIES) {
    throw tooLarge("expected", MAX_BATCH_ENTRIES, replaced.length, "replace in several calls");
  }
  const ids = entryIds(engine, sessionId);
  const drafts = draftEntries(replacement, ids, engine.now(), "replacement");
  if (replaced.length === 0 && drafts.length === 0) return [];
  engine.contextSizes.forget(engine.tenant, sessionId);
  const absent = drafts.flatMap((draft) => (draft.externalId === undefined ? [] : draft.entry.id));
  const entries = await appendDrafts(
    engine,
    sessionId,
    drafts,
    key === undefined ? {} : { idempotencyKey: key },
    {
      replaced,
      request: ["replaceSuffix", replaced, drafts.map(requestOf)],
      isLasting: true,
      ...(absent.length === 0 ? {} : { guard: { absent } }),
    },
  );
  await settleSummary(engine, sessionId);
  return entries;
}
