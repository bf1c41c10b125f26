/** Replacing the end of the active path by other entries, or by nothing. */

import type { Entry } from "../../model/entry.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { MAX_BATCH_ENTRIES } from "../../model/limits.ts";
import { appendDrafts } from "../append.ts";
import { checkInput, checkKey, checkList, tooLarge } from "../check.ts";
import type { EngineContext } from "../engine-context.ts";
import { requestOf } from "../message-input.ts";
import { draftEntries, type EntryInput } from "./entry-input.ts";
import { entryIds } from "./external-ids.ts";
import { settleSummary } from "./rewrite.ts";

export interface ReplaceSuffixInput {
  /**
   * The last entries of the active path that are no annotations, in order: their ids. `stale_leaf` if the
   * path ends otherwise.
   */
  readonly expected: readonly string[];
  /** The entries in their place; it may be empty. */
  readonly replacement: readonly EntryInput[];
  /** The same request under the same key is carried out once, for as long as the session is there. */
  readonly key?: string;
}

/** Gives the entries of the replacement. The replaced entries stay in the tree, on a branch of their own. */
export async function replaceSuffix(
  engine: EngineContext,
  sessionId: string,
  input: ReplaceSuffixInput,
): Promise<Entry[]> {
  const { expected, replacement, key } = checkInput(input, "options", INPUTS.replaceSuffix);
  const replaced = checkList(expected, "expected").map((id, i) => checkKey(id, `expected[${i}]`));
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
