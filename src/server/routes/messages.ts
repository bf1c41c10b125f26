/** Messages: append, page, stream. */

import { z } from "zod";
import { fromWireMessage } from "../../api/message-input.ts";
import { ENTRIES } from "../../api/operations.ts";
import { toWire } from "../../api/shape.ts";
import type { MessageInput } from "../../engine/message-input.ts";
import { ENTRY } from "../../model/entry.ts";
import { MAX_BATCH_ENTRIES } from "../../model/limits.ts";
import { actorField } from "../actor.ts";
import { sessionRoute, tenantRoute } from "../plain-routes.ts";
import { APPEND_LIMITS, type Caller, defineRoute, type Route } from "../route.ts";
import { key, limitQuery, sessionParams } from "../schemas/common.ts";
import { messageInput } from "../schemas/entry.ts";
import { schemaOf } from "../schemas/shape.ts";

export const MESSAGE_ROUTES: readonly Route[] = [
  tenantRoute("listMessages", { limit: limitQuery.optional() }),
  defineRoute({
    method: "post",
    path: "/v1/sessions/{session_id}/messages",
    operation: "append",
    tag: "messages",
    summary: "Append messages, atomically.",
    scope: "write",
    takesKey: true,
    takesLeaf: true,
    params: sessionParams,
    limits: APPEND_LIMITS,
    body: z.strictObject({
      messages: z.array(messageInput).min(1).max(MAX_BATCH_ENTRIES),
      parent: key.nullable().optional().meta({
        description: "The entry to continue from; null starts a new root.",
      }),
    }),
    answer: {
      status: 201,
      description: "The entries with their places.",
      schema: schemaOf(ENTRIES),
    },
    handle: async (caller, { params, body }) => {
      const handle = caller.tenant.session(params.session_id);
      const messages = body.messages.map((value, i) =>
        readMessage(caller, value, `messages[${i}]`),
      );
      const { parent } = body;
      const appended = await handle.append(messages, {
        ...(parent === undefined ? {} : { parent }),
        ...caller.expected,
        ...caller.idempotency,
      });
      return { entries: toWire([ENTRY], appended) };
    },
  }),
  sessionRoute("history", { limit: limitQuery.optional() }),
];

/** A message from the wire, with the caller's permitted actors. */
export function readMessage({ access }: Caller, value: unknown, field: string): MessageInput {
  const message = fromWireMessage(value, field);
  return { ...message, ...actorField(access, message.actor) };
}
