/** The requests of `route-cases.ts` for the page: facets, reviews, shares. */

import type { Ids, RouteCase } from "./route-cases.ts";

const none = "session_not_found";

export const PAGE_ROUTE_CASES: Readonly<Record<string, (ids: Ids) => RouteCase>> = {
  facets: () => ({ path: "/v1/facets?since=2020-01-01T00:00:00Z", stranger: "empty" }),
  facetsByBody: () => ({
    path: "/v1/facets",
    body: { query: "quizzaciously", role: "user" },
    stranger: "empty",
  }),
  review: () => ({ path: "/v1/review?limit=5", stranger: "empty" }),
  outlineSession: ({ session }) => ({
    path: `/v1/sessions/${session}/outline?offset=0&find=a`,
    stranger: none,
  }),
  resumeCommand: ({ session }) => ({ path: `/v1/sessions/${session}/resume`, stranger: none }),
  createShare: ({ session }) => ({
    path: `/v1/sessions/${session}/shares`,
    body: {},
    stranger: none,
  }),
  listSessionShares: ({ session }) => ({
    path: `/v1/sessions/${session}/shares`,
    stranger: none,
  }),
  listShares: () => ({ path: "/v1/shares", stranger: "empty" }),
  revokeShare: ({ share }) => ({ path: `/v1/shares/${share}`, stranger: "token_not_found" }),
};
