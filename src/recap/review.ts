/**
 * Counts, without a model, the failed calls, retried calls and unfinished requests of sessions, and
 * the tools and files used.
 */

import { isMachineMade } from "../api/session.ts";
import { checkHits } from "../engine/check.ts";
import type { TenantApi } from "../engine/interfaces.ts";
import type { ListSessionsInput } from "../engine/sessions/list-sessions.ts";
import { checkFields } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import type { Review, SessionReview, ToolUse } from "../model/review.ts";
import type { FiltersOf } from "../model/session-filters.ts";
import { type Act, type Call, readActs } from "./read-acts.ts";

export interface ReviewInput
  extends Pick<ListSessionsInput, FiltersOf<"review"> | "since" | "until" | "cursor"> {
  /** The limit of sessions, newest first: at most 50. Default 20. */
  readonly limit?: number;
}

export const DEFAULT_REVIEWED = 20;
export const MAX_REVIEWED = 50;
/** The limit of named tools and files. */
const MAX_NAMES = 50;

export async function reviewSessions(tenant: TenantApi, input: ReviewInput = {}): Promise<Review> {
  const { limit: given, ...filter } = checkFields(input, "options", INPUTS.reviewSessions);
  const limit = checkHits(given, "limit", DEFAULT_REVIEWED, MAX_REVIEWED);
  const page = await tenant.listSessions({ ...filter, limit });
  const sessions: SessionReview[] = [];
  const tools = new Map<string, ToolUse>();
  const files = new Map<string, number>();
  for (const session of page.sessions) {
    if (isMachineMade(session)) continue;
    const { acts, messages, unread } = await readActs(tenant, session.id);
    const calls = acts.filter((act) => act.type === "call");
    sessions.push({ session, messages, unread, ...reviewActs(acts) });
    for (const call of calls) addCall(call, tools, files);
  }
  return {
    sessions,
    tools: top([...tools.values()], ({ calls }) => calls),
    files: top(
      [...files].map(([path, times]) => ({ path, times })),
      ({ times }) => times,
    ),
    ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }),
  };
}

export function reviewActs(
  acts: readonly Act[],
): Omit<SessionReview, "session" | "messages" | "unread"> {
  const calls = acts.filter((act) => act.type === "call");
  const failed = calls.filter(({ result }) => result?.failed === true);
  const known = new Set<string>();
  let retries = 0;
  for (const { tool, input, result } of calls) {
    const call = `${tool}\n${input}`;
    if (known.has(call)) retries++;
    if (result?.failed === true) known.add(call);
  }
  return {
    calls: calls.length,
    failed: failed.length,
    retries,
    unfinished: endOf(acts.at(-1)),
    firstFailure: failed[0]?.index ?? null,
  };
}

function endOf(last: Act | undefined): SessionReview["unfinished"] {
  if (last?.type === "call") return last.result === undefined ? "call" : null;
  return last?.role === "user" ? "request" : null;
}

function addCall(
  { tool, result, effects }: Call,
  tools: Map<string, ToolUse>,
  files: Map<string, number>,
): void {
  const failed = result?.failed === true;
  const { calls, failed: before } = tools.get(tool) ?? { calls: 0, failed: 0 };
  tools.set(tool, { tool, calls: calls + 1, failed: before + (failed ? 1 : 0) });
  if (failed) return;
  for (const path of effects.changed) files.set(path, (files.get(path) ?? 0) + 1);
}

function top<Item>(items: readonly Item[], rank: (item: Item) => number): readonly Item[] {
  return items.toSorted((a, b) => rank(b) - rank(a)).slice(0, MAX_NAMES);
}
