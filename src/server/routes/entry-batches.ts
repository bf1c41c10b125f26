/** Entries of several kinds: appended together, found by external id, replaced. */

import { z } from "zod";
import { fromWireEntryInput } from "../../api/entry-input.ts";
import { ENTRIES } from "../../api/operations.ts";
import { toWire } from "../../api/shape.ts";
import type { EntryInput } from "../../engine/writing/entry-input.ts";
import { ENTRY } from "../../model/entry.ts";
import { MAX_BATCH_ENTRIES } from "../../model/limits.ts";
import { actorField } from "../actor.ts";
import { sessionRoute } from "../plain-routes.ts";
import { APPEND_LIMITS, type Caller, defineRoute, type Route } from "../route.ts";
import { key, sessionParams } from "../schemas/common.ts";
import { entryInput } from "../schemas/entry.ts";
import { schemaOf } from "../schemas/shape.ts";

export const ENTRY_BATCH_ROUTES: readonly Route[] = [
  defineRoute({
    method: "post",
    path: "/v1/sessions/{session_id}/entries/batch",
    operation: "appendEntries",
    tag: "entries",
    scope: "write",
    summary: "Append entries of several kinds, atomically.",
    takesKey: true,
    takesLeaf: true,
    params: sessionParams,
    limits: APPEND_LIMITS,
    body: z.strictObject({
      entries: z.array(entryInput).min(1).max(MAX_BATCH_ENTRIES),
      parent: key.nullable().optional().meta({
        description: "The entry to continue from; null starts a new root.",
      }),
      existing: z.enum(["keep", "replace"]).optional().meta({
        description: "How to treat an entry that exists under its external id.",
      }),
    }),
    answer: {
      status: 201,
      description: "The entries with their places.",
      schema: schemaOf(ENTRIES),
    },
    handle: async (caller, { params, body }) => {
      const handle = caller.tenant.session(params.session_id);
      const { parent, existing } = body;
      const appended = await handle.appendEntries(readEntries(caller, body.entries, "entries"), {
        ...(parent === undefined ? {} : { parent }),
        ...(existing === undefined ? {} : { existing }),
        ...caller.expected,
        ...caller.idempotency,
      });
      return { entries: toWire([ENTRY], appended) };
    },
  }),
  sessionRoute("getByExternalId", { external_id: key }),
  defineRoute({
    method: "post",
    path: "/v1/sessions/{session_id}/suffix",
    operation: "replaceSuffix",
    tag: "entries",
    scope: "write",
    summary: "Replace the end of the active path, atomically.",
    takesKey: true,
    params: sessionParams,
    limits: APPEND_LIMITS,
    body: z.strictObject({
      expected: z.array(key).max(MAX_BATCH_ENTRIES).meta({
        description: "The ids of the last entries of the active path, in order.",
      }),
      replacement: z.array(entryInput).max(MAX_BATCH_ENTRIES),
    }),
    answer: {
      status: 201,
      description: "The entries of the replacement.",
      schema: schemaOf(ENTRIES),
    },
    handle: async (caller, { params, body }) => {
      const handle = caller.tenant.session(params.session_id);
      const { idempotencyKey } = caller.idempotency;
      const added = await handle.replaceSuffix({
        expected: body.expected,
        replacement: readEntries(caller, body.replacement, "replacement"),
        ...(idempotencyKey === undefined ? {} : { key: idempotencyKey }),
      });
      return { entries: toWire([ENTRY], added) };
    },
  }),
  sessionRoute("removeEntry"),
];

/** Entries from the wire, with the caller's permitted actors. */
function readEntries(
  { access }: Caller,
  values: readonly unknown[],
  field: string,
): readonly EntryInput[] {
  return values.map((value, i) => {
    const input = fromWireEntryInput(value, `${field}[${i}]`);
    if (input.kind !== undefined && input.kind !== "message") return input;
    return { ...input, ...actorField(access, input.actor) };
  });
}
