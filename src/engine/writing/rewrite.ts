/** Branching: another leaf, another version of a message. Entries are never overwritten. */

import { textOf } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { sessionNotFound } from "../../store/store-errors.ts";
import { type ContentInput, normalizeContent } from "../../transcript/normalize.ts";
import { type AppendOptions, appendDrafts } from "../append.ts";
import { checkInput, checkKeyOrNull, invalid } from "../check.ts";
import { listSummaries, type Summary } from "../compaction/summarize.ts";
import { findCompaction } from "../context/read-context.ts";
import type { EngineContext } from "../engine-context.ts";
import { type Draft, draftEntry, draftMessage, type MessageInput } from "../message-input.ts";
import type { BranchInput, EditInput } from "./entry-input.ts";

/**
 * Makes `entryId` the active leaf; with a summary, through an entry that records the abandoned
 * branch.
 */
export async function branchSession(
  engine: EngineContext,
  sessionId: string,
  entryId: string | null,
  options: BranchInput,
): Promise<void> {
  const { store, tenant } = engine;
  const { expectedLeaf, summary } = checkInput(options, "options", INPUTS.branch);
  checkKeyOrNull(entryId, "entryId");
  const expected = expectedLeaf === undefined ? {} : { expectedLeaf };
  engine.contextSizes.forget(engine.tenant, sessionId);
  if (summary === undefined) {
    await store.moveLeaf(tenant, { sessionId, leaf: entryId, now: engine.now(), ...expected });
  } else {
    const session = await store.findSession(tenant, sessionId);
    if (session === undefined) throw sessionNotFound(sessionId);
    const branch = {
      kind: "branch_summary",
      blocks: normalizeContent(summary, "summary"),
      data: { fromId: session.leaf },
      parentId: entryId,
    } as const;
    const draft = draftEntry(branch, engine.newId(), engine.now());
    await appendDrafts(engine, sessionId, [draft], expected);
  }
  await settleSummary(engine, sessionId);
}

export async function editMessage(
  engine: EngineContext,
  old: Entry,
  content: ContentInput,
  options: EditInput,
): Promise<Entry> {
  const { actor = old.actor, metadata = old.metadata, ...rest } = options;
  if (old.kind !== "message" || old.status !== "committed") {
    throw new BackscrollError(
      "invalid_input",
      `entry ${old.id} is no committed message; only messages can be edited`,
      { details: { field: "entryId", entryId: old.id } },
    );
  }
  const edited = {
    kind: "message",
    role: old.role,
    actor,
    blocks: normalizeContent(content),
    metadata,
    parentId: old.parentId,
    supersedes: old.id,
    ...(old.externalId === null ? {} : { externalId: old.externalId }),
  } as const;
  const draft = draftEntry(edited, engine.newId(), engine.now());
  const [entry] = await appendDrafts(engine, old.sessionId, [draft], rest);
  await settleSummary(engine, old.sessionId);
  return entry as Entry;
}

/** Gives the entries of the message that replaces `old`. */
export async function replaceMessage(
  engine: EngineContext,
  old: Entry,
  message: MessageInput,
  options: AppendOptions,
): Promise<Entry[]> {
  if (message.externalId !== undefined) {
    throw invalid(
      "externalId",
      'a message that takes the place of another one has its external id; use appendEntries with existing: "replace"',
    );
  }
  const [first, ...rest] = draftMessage(message, () => engine.newId(), engine.now());
  if (first === undefined) throw new Error("a message has at least one entry");
  const entry = { ...first.entry, parentId: old.parentId, supersedes: old.id };
  const drafts: Draft[] = [{ ...first, entry }, ...rest];
  const entries = await appendDrafts(engine, old.sessionId, drafts, options);
  await settleSummary(engine, old.sessionId);
  return entries;
}

/** How often the summary is settled again after concurrent compactions. */
const MAX_ROUNDS = 16;

/**
 * The session's summary is that of the newest compaction on its path: after the path changed, it is
 * set again or cleared. A summary of no compaction, which a host could set in version 0.1.0, stays.
 * After an update both are compared again, because a concurrent compaction stores its summary with its entry.
 */
export async function settleSummary(engine: EngineContext, sessionId: string): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const session = await engine.store.findSession(engine.tenant, sessionId);
    if (session === undefined) return;
    const compaction = await findCompaction(engine, sessionId, undefined);
    const text = compaction === null ? null : textOf(compaction.entry.blocks);
    if (text === session.summary) return;
    if (session.summary !== null) {
      const written = await listSummaries(engine, sessionId);
      const isOurs = ({ kind, text: words }: Summary) =>
        kind === "compaction" && words === session.summary;
      if (!written.some(isOurs)) return;
    }
    await engine.store.updateSession(engine.tenant, sessionId, { summary: text }, engine.now());
  }
}
