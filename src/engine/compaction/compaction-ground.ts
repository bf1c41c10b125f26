/** The input of a compaction plan: the current context as figures. */

import { planCompaction } from "../../compaction/plan.ts";
import type { PlanItem } from "../../compaction/plan-input.ts";
import { continuationMessage } from "../../compaction/render.ts";
import { resultTokens } from "../../context/cut-results.ts";
import { quoteSummary } from "../../context/quote.ts";
import { fromEntry, fromText } from "../../context/sent-tokens.ts";
import type { TokenCounter } from "../../context/tokens.ts";
import { type Entry, replyToOf } from "../../model/entry.ts";
import type { SummaryProfile } from "../../model/inputs/choices.ts";
import type { Session } from "../../model/session.ts";
import { toolTraffic } from "../../transcript/tool-pairs.ts";
import { readContextAs } from "../context/read-context.ts";
import { readStanding } from "../context/standing.ts";
import type { EngineContext } from "../engine-context.ts";
import type { CheckedCompaction } from "./compact-options.ts";
import type { CompactionView } from "./compaction-entry.ts";

export interface CompactionGround {
  readonly session: Session;
  /** The newest compaction on the path. */
  readonly previous: CompactionView | null;
  readonly previousTokens: number;
  /** The context without the summary, in order: pinned entries first. */
  readonly items: readonly PlanItem[];
}

/** Reads the path to the session's current leaf, a snapshot beside appends. */
export async function surveyContext(
  engine: EngineContext,
  session: Session,
): Promise<CompactionGround> {
  const { id, leaf } = session;
  if (leaf === null) return { session, previous: null, previousTokens: 0, items: [] };
  const { counter } = engine;
  const context = await readContextAs(engine, id, { leaf, counter }, (entry) =>
    toPlanItem(entry, counter),
  );
  const { compaction: previous, entries } = context;
  const present = new Set(entries.map((entry) => entry.id));
  const standing = await readStanding(engine, id, previous, present, leaf);
  const items = [...standing.map((entry) => toPlanItem(entry, counter)), ...entries];
  return {
    session,
    previous,
    previousTokens: previous === null ? 0 : summaryTokens(engine, previous.text, previous.profile),
    items,
  };
}

export function planOn(
  ground: CompactionGround,
  options: CheckedCompaction,
  expectedTokens: number,
): ReturnType<typeof planCompaction> {
  const { limitTokens, preset } = options;
  return planCompaction(ground.items, {
    ...preset,
    ...(limitTokens === undefined ? {} : { limitTokens }),
    summaryTokens: expectedTokens,
    previousSummaryTokens: ground.previousTokens,
  });
}

/** Tokens of a summary in a context, with its enclosing text. */
export function summaryTokens(
  engine: EngineContext,
  text: string,
  profile: SummaryProfile,
): number {
  const shown =
    profile === "claw" ? continuationMessage(text, { tailKept: true }) : quoteSummary(text);
  return fromText(shown, "summary", [], engine.counter).tokens;
}

function toPlanItem(entry: Entry, counter: TokenCounter): PlanItem {
  const { id, sequence, kind, role, pinned, blocks } = entry;
  const replyTo = role === "assistant" ? replyToOf(entry) : null;
  return {
    ...(replyTo === null ? {} : { replyTo }),
    id,
    sequence,
    kind,
    role,
    pinned,
    ...toolTraffic(blocks),
    tokens: fromEntry(entry, "recent", counter).tokens,
    resultTokens: resultTokens(blocks, counter),
  };
}
