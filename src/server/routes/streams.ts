/**
 * Messages written piece by piece.
 *
 * The server is stateless between requests: the message's lease works on any node. A lease that is
 * not renewed expires, and the content so far is kept.
 */

import { z } from "zod";
import { toWire } from "../../api/shape.ts";
import { fromWireFields } from "../../api/wire.ts";
import type { MessageStream } from "../../engine/message-stream.ts";
import type { BlockInput } from "../../model/block.ts";
import { ENTRY } from "../../model/entry.ts";
import { actorField } from "../actor.ts";
import { APPEND_LIMITS, type Caller, defineRoute, type Route } from "../route.ts";
import { count, entryParams, jsonObject, key, sessionParams } from "../schemas/common.ts";
import { block, role, usageInput } from "../schemas/entry.ts";
import { schemaOf } from "../schemas/shape.ts";

const chunks = z
  .array(z.union([z.string(), block]))
  .max(10_000)
  .meta({ description: "Text, and whole blocks, in order. None renews the lease only." });

const opened = z
  .object({ id: z.string(), session_id: z.string(), lease: z.string(), lease_ms: count })
  .meta({ id: "OpenMessage" });

const described = {
  model: key.optional(),
  adapter: key.optional(),
  metadata: jsonObject.optional(),
};

export const STREAM_ROUTES: readonly Route[] = [
  defineRoute({
    method: "post",
    path: "/v1/sessions/{session_id}/streams",
    operation: "openMessage",
    tag: "streams",
    summary: "Open a message that is streamed in chunks.",
    scope: "write",
    takesKey: true,
    params: sessionParams,
    body: z.strictObject({ role, actor: key.optional(), ...described }),
    answer: { status: 201, description: "Its id, and the lease to write with.", schema: opened },
    handle: async ({ tenant, access, idempotency }, { params, body }) => {
      const handle = tenant.session(params.session_id);
      const { actor, ...rest } = body;
      const message = await handle.openMessage({
        ...fromWireFields(rest),
        ...actorField(access, actor),
        ...idempotency,
      });
      await message.detach();
      const { id, sessionId, lease, leaseMs } = message;
      return { id, session_id: sessionId, lease, lease_ms: leaseMs };
    },
  }),
  defineRoute({
    method: "post",
    path: "/v1/sessions/{session_id}/streams/{entry_id}/chunks",
    operation: "write",
    tag: "streams",
    scope: "write",
    summary: "Append chunks to an open message, or renew its lease.",
    params: entryParams,
    limits: APPEND_LIMITS,
    body: z.strictObject({ lease: key, chunks: chunks.optional() }),
    answer: { status: 204, description: "It is stored." },
    handle: (caller, { params, body }) =>
      withMessage(caller, params, body, async (message) => {
        if ((body.chunks ?? []).length === 0) await message.renew();
        else await message.flush();
      }),
  }),
  defineRoute({
    method: "post",
    path: "/v1/sessions/{session_id}/streams/{entry_id}/commit",
    operation: "commit",
    tag: "streams",
    scope: "write",
    summary: "Commit the message to the conversation.",
    takesKey: true,
    takesLeaf: true,
    params: entryParams,
    limits: APPEND_LIMITS,
    body: z.strictObject({
      lease: key,
      chunks: chunks.optional(),
      ...described,
      usage: usageInput.optional(),
      context_window: count.optional(),
      parent: key.nullable().optional(),
      supersedes: key.optional(),
    }),
    answer: { status: 200, description: "The message with its place.", schema: schemaOf(ENTRY) },
    handle: (caller, { params, body }) =>
      withMessage(caller, params, body, async (message) => {
        const { lease: _, chunks: __, usage, ...rest } = body;
        const committed = await message.commit({
          ...fromWireFields(rest),
          ...(usage === undefined ? {} : { usage: fromWireFields(usage as object) }),
          ...caller.expected,
          ...caller.idempotency,
        });
        return toWire(ENTRY, committed);
      }),
  }),
  defineRoute({
    method: "post",
    path: "/v1/sessions/{session_id}/streams/{entry_id}/abort",
    operation: "abort",
    tag: "streams",
    scope: "write",
    summary: "Abort the message: it stays off the conversation.",
    params: entryParams,
    limits: APPEND_LIMITS,
    body: z.strictObject({
      lease: key.optional().meta({ description: "Default: ends the message of any writer." }),
      chunks: chunks.optional(),
      reason: key.optional(),
    }),
    answer: {
      status: 200,
      description: "The aborted message; its chunks are kept.",
      schema: schemaOf(ENTRY),
    },
    handle: async (caller, { params, body }) => {
      const { lease, reason } = body;
      if (lease !== undefined) {
        return withMessage(caller, params, { ...body, lease }, async (message) =>
          toWire(ENTRY, await message.abort(reason)),
        );
      }
      const handle = caller.tenant.session(params.session_id);
      await handle.getEntry(params.entry_id);
      return toWire(ENTRY, await caller.tenant.abortMessage(params.entry_id, reason));
    },
  }),
];

/**
 * Stores the request's content and the effect of `use` atomically, so a failed request can be
 * retried without duplicates.
 */
async function withMessage<Result>(
  { tenant }: Caller,
  { session_id, entry_id }: { readonly session_id: string; readonly entry_id: string },
  { lease, chunks }: { readonly lease: string; readonly chunks?: readonly unknown[] | undefined },
  use: (message: MessageStream) => Promise<Result>,
): Promise<Result> {
  const handle = tenant.session(session_id);
  const message = await handle.continueMessage(entry_id, lease);
  try {
    for (const chunk of chunks ?? []) message.hold(chunk as string | BlockInput);
    return await use(message);
  } finally {
    message.leave();
  }
}
