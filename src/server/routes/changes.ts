/** The change feed: by page, or live. */

import { z } from "zod";
import { toWire } from "../../api/shape.ts";
import { fromWireFields } from "../../api/wire.ts";
import { CHANGE } from "../../model/change.ts";
import { eventStream } from "../live.ts";
import { type Caller, defineRoute, type Route } from "../route.ts";
import { flagQuery, limitQuery, sessionParams } from "../schemas/common.ts";
import { CHANGE_PAGE, schemaOf } from "../schemas/shape.ts";

const EVENTS = "text/event-stream";

const query = z.strictObject({
  after: z.string().optional().meta({
    description:
      "The cursor of the last change seen, `start`, or `end`: only changes from now on. Events begin now if left out.",
  }),
  limit: limitQuery.optional(),
  include_entries: flagQuery.optional().meta({
    description: "Events also carry appended entries and chunks of open messages.",
  }),
});

const answer = {
  status: 200,
  description: `A page; with \`Accept: ${EVENTS}\`, events until the caller disconnects.`,
  schema: schemaOf(CHANGE_PAGE),
  types: [EVENTS],
} as const;

export const CHANGE_ROUTES: readonly Route[] = [
  defineRoute({
    method: "get",
    path: "/v1/changes",
    operation: "listChanges",
    tag: "changes",
    summary: "The change feed of the tenant.",
    scope: "read",
    query,
    answer,
    handle: (caller, input) => changes(caller, input.query),
  }),
  defineRoute({
    method: "get",
    path: "/v1/sessions/{session_id}/changes",
    operation: "listSessionChanges",
    tag: "changes",
    scope: "read",
    query,
    answer,
    summary: "The changes of one session.",
    params: sessionParams,
    handle: async (caller, input) => {
      await caller.tenant.getSessionMeta(input.params.session_id);
      return changes(caller, input.query, input.params.session_id);
    },
  }),
];

async function changes(
  { tenant, access, request, signal, live, cutOff }: Caller,
  options: z.output<typeof query>,
  session?: string,
): Promise<unknown> {
  const { include_entries, ...page } = options;
  const ofSession = session === undefined ? {} : { session };
  if (!(request.headers.get("accept") ?? "").includes(EVENTS)) {
    const list = await tenant.listChanges({ ...fromWireFields(page), ...ofSession });
    return {
      changes: toWire([CHANGE], list.changes),
      next: list.next,
      end: list.end,
    };
  }
  const after = request.headers.get("last-event-id") || page.after;
  // An unusable cursor is refused with a status, before the events begin.
  if (after !== undefined) await tenant.listChanges({ after, limit: 1, ...ofSession });
  const body = eventStream(tenant, {
    ...ofSession,
    ...(after === undefined ? {} : { after }),
    includeEntries: include_entries ?? false,
    signal,
    ...live.open(access.tenant, cutOff),
  });
  return new Response(body, {
    headers: { "content-type": EVENTS, "cache-control": "no-store", "x-accel-buffering": "no" },
  });
}
