/** Requests of the routes that adapters for other frameworks are built on. */

import type { Ids, RouteCase } from "./route-cases.ts";

export const PRIMITIVE_ROUTE_CASES: Readonly<Record<string, (ids: Ids) => RouteCase>> = {
  ensureSession: () => ({
    path: "/v1/origins",
    body: { key: "chat/42 left", agent: "coder", origin: { project_path: "/srv" } },
    stranger: "empty",
  }),
};
