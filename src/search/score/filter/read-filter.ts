/** Builds the message filter from a search's options and the filters in its text. */

import type { Role } from "../../../model/entry.ts";
import type { Blobs } from "../../index/blobs.ts";
import { ROLES } from "../../index/layout.ts";
import { toolTerm } from "../../index/special-terms.ts";
import { ask, type SansIo, type SessionCondition } from "../../port.ts";
import type { Condition, TermQuery } from "../../query/query.ts";
import type { SearchRequest } from "../../request.ts";
import type { TenantCache } from "../../search-cache.ts";
import type { View } from "../../snapshot.ts";
import { ALL_ROLES, type MessageFilter } from "./filter.ts";
import { findMachineMade } from "./machine-made.ts";

/** The caller's and the query's conditions must both hold: a query cannot widen its scope. */
export function* readMessageFilter(
  request: SearchRequest,
  { required, excluded, filters }: TermQuery,
  views: readonly View[],
  blobs: Blobs,
  cache: TenantCache,
): SansIo<Omit<MessageFilter, "path">> {
  const { role, tool, since, until, ...inText } = filters;
  const tools = [request.tools, tool].filter((names) => names !== undefined);
  const isNamed = request.scope.session !== undefined;
  const machineMade =
    request.machineMade === true || isNamed
      ? undefined
      : yield* blobs.complete(() => findMachineMade(views));
  // Excluded sessions are few: listing all others would take as long as the search.
  const { excludeSession: left = [], ...within } = request.scope;
  const leftOut = left.length === 0 ? [] : ((yield* numbers({ session: left }, cache)) ?? []);
  const barred = new Set([...(machineMade ?? []), ...leftOut]);
  return {
    barred: barred.size === 0 ? undefined : barred,
    required: [...required, ...tools.map((names) => names.map(toolCondition))],
    excluded,
    sessions: intersection(yield* numbers(within, cache), yield* numbers(inText, cache)),
    roles: roleMask([request.roles, role]),
    since: Math.max(request.since ?? Number.NEGATIVE_INFINITY, since ?? -Infinity),
    until: Math.min(request.until ?? Number.POSITIVE_INFINITY, until ?? Infinity),
    before: request.beforeSequence ?? Number.POSITIVE_INFINITY,
  };
}

function* numbers(scope: SessionCondition, cache: TenantCache): SansIo<Uint32Array | undefined> {
  if (Object.keys(scope).length === 0) return undefined;
  const key = JSON.stringify(scope);
  const known = cache.scope(key);
  if (known !== undefined) return known;
  const read = yield* ask<"scope">({ need: "scope", scope });
  cache.rememberScope(key, read);
  return read;
}

function intersection(
  a: Uint32Array | undefined,
  b: Uint32Array | undefined,
): Uint32Array | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const inB = new Set(b);
  return a.filter((number) => inB.has(number));
}

function toolCondition(name: string): Condition {
  return { kind: "terms", terms: [toolTerm(name)] };
}

function roleMask(lists: readonly (readonly Role[] | undefined)[]): Uint8Array {
  const mask = ALL_ROLES.slice();
  for (const roles of lists) {
    if (roles === undefined) continue;
    for (const [i, role] of ROLES.entries()) {
      if (!roles.includes(role === "acting" ? "assistant" : role)) mask[i] = 0;
    }
  }
  return mask;
}
