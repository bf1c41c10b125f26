/** Messages: append, page, stream. */

import { z } from "zod";
import { fromWireMessage } from "../../api/message-input.ts";
import { toWire } from "../../api/shape.ts";
import { fromWireFields } from "../../api/wire.ts";
import type { MessageInput } from "../../engine/message-input.ts";
import { ENTRY } from "../../model/entry.ts";
import { MAX_BATCH_ENTRIES } from "../../model/limits.ts";
import { actorField } from "../actor.ts";
import { APPEND_LIMITS, type Caller, defineRoute, type Route } from "../route.ts";
import { entries, messagePage } from "../schemas/answers.ts";
import { key, limitQuery, sessionParams } from "../schemas/common.ts";
import { messageInput } from "../schemas/entry.ts";
import { inputOf } from "../schemas/input.ts";

export const MESSAGE_ROUTES: readonly Route[] = [
  defineRoute({
    method: "get",
    path: "/v1/sessions/{session_id}/messages",
    operation: "listMessages",
    tag: "messages",
    summary: "A page of messages along a path.",
    scope: "read",
    params: sessionParams,
    query: z.strictObject(inputOf("listMessages", "query", { limit: limitQuery.optional() })),
    answer: { status: 200, description: "Messages in order.", schema: messagePage },
    handle: async ({ tenant }, { params, query }) => {
      const page = await tenant.listMessages(params.session_id, fromWireFields(query));
      const { offset, total } = page;
      return { messages: toWire([ENTRY], page.messages), offset, total };
    },
  }),
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
    answer: { status: 201, description: "The entries with their places.", schema: entries },
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
  defineRoute({
    method: "get",
    path: "/v1/sessions/{session_id}/history",
    operation: "history",
    tag: "messages",
    summary: "The newest messages, in order.",
    scope: "read",
    params: sessionParams,
    query: z.strictObject(inputOf("history", "query", { limit: limitQuery.optional() })),
    answer: { status: 200, description: "Entries in order.", schema: entries },
    handle: async ({ tenant }, { params, query }) => {
      const handle = tenant.session(params.session_id);
      const found = await handle.history(fromWireFields(query));
      return { entries: toWire([ENTRY], found) };
    },
  }),
];

/** A message from the wire, with the caller's permitted actors. */
export function readMessage({ access }: Caller, value: unknown, field: string): MessageInput {
  const message = fromWireMessage(value, field);
  return { ...message, ...actorField(access, message.actor) };
}
