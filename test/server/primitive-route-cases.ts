/** Requests of the routes that adapters for other frameworks are built on. */

import type { Ids, RouteCase } from "./route-cases.ts";

const none = "session_not_found";

export const PRIMITIVE_ROUTE_CASES: Readonly<Record<string, (ids: Ids) => RouteCase>> = {
  ensureSession: () => ({
    path: "/v1/origins",
    body: { key: "chat/42 left", agent: "coder", origin: { project_path: "/srv" } },
    stranger: "empty",
  }),

  appendEntries: ({ session }) => ({
    path: `/v1/sessions/${session}/entries/batch`,
    body: {
      entries: [
        { role: "developer", content: [], raw: { a: [1] }, external_id: "m/1 x" },
        { kind: "custom", type: "state", data: { b: null }, external_id: "c/1" },
        { kind: "custom_message", type: "note", content: "by the way", display: false },
      ],
      existing: "replace",
    },
    stranger: none,
  }),
  getByExternalId: ({ session }) => ({
    path: `/v1/sessions/${session}/external-entry?external_id=first%2F1`,
    stranger: "entry_not_found",
  }),
  removeEntry: ({ session, last }) => ({
    path: `/v1/sessions/${session}/entries/${last}`,
    stranger: "entry_not_found",
  }),
  replaceSuffix: ({ session }) => ({
    path: `/v1/sessions/${session}/suffix`,
    body: { expected: [], replacement: [{ role: "assistant", content: "instead" }] },
    stranger: none,
  }),
};
