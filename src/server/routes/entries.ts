/**
 * Messages and other entries of a session's tree: append, page, edit, label, pin, replace; and its
 * branches.
 */

import { z } from "zod";
import { fromWireEntryInput, fromWireMessage } from "../../api/message-input.ts";
import { ENTRIES } from "../../api/operations.ts";
import { toWire } from "../../api/shape.ts";
import { fromWireFields } from "../../api/wire.ts";
import type { MessageInput } from "../../engine/message-input.ts";
import type { EntryInput } from "../../engine/writing/entry-input.ts";
import { ENTRY } from "../../model/entry.ts";
import { MAX_BATCH_ENTRIES } from "../../model/limits.ts";
import type { ContentInput } from "../../transcript/normalize.ts";
import { actorField } from "../actor.ts";
import { sessionRoute, tenantRoute } from "../plain-routes.ts";
import { APPEND_LIMITS, type Caller, defineRoute, type Route } from "../route.ts";
import {
  entryParams,
  jsonObject,
  jsonValue,
  key,
  limitQuery,
  sessionParams,
} from "../schemas/common.ts";
import { content, entryInput, messageInput } from "../schemas/entry.ts";
import { schemaOf } from "../schemas/shape.ts";

const PARENT = key.nullable().optional().meta({
  description: "The entry to continue from; null starts a new root.",
});

const APPENDED = {
  status: 201,
  description: "The entries with their places.",
  schema: schemaOf(ENTRIES),
} as const;

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
      parent: PARENT,
    }),
    answer: APPENDED,
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
function readMessage({ access }: Caller, value: unknown, field: string): MessageInput {
  const message = fromWireMessage(value, field);
  return { ...message, ...actorField(access, message.actor) };
}

export const ENTRY_ROUTES: readonly Route[] = [
  sessionRoute("listEntries", { limit: limitQuery.optional() }),
  defineRoute({
    method: "post",
    path: "/v1/sessions/{session_id}/entries",
    operation: "appendCustom",
    tag: "entries",
    scope: "write",
    summary: "Add an extension's state, or text for the model that is not a message.",
    params: sessionParams,
    limits: APPEND_LIMITS,
    body: z.discriminatedUnion("kind", [
      z.strictObject({ kind: z.literal("custom"), type: key, data: jsonValue }),
      z.strictObject({
        kind: z.literal("custom_message"),
        type: key,
        content,
        display: z.boolean().optional(),
        metadata: jsonObject.optional(),
      }),
    ]),
    answer: { status: 201, description: "The entry.", schema: schemaOf(ENTRY) },
    handle: async ({ tenant }, { params, body }) => {
      const handle = tenant.session(params.session_id);
      if (body.kind === "custom") {
        return toWire(ENTRY, await handle.appendCustom(body.type, body.data));
      }
      const { kind: _, content, ...rest } = body;
      const added = { ...fromWireFields(rest), content: content as ContentInput };
      return toWire(ENTRY, await handle.appendCustomMessage(added));
    },
  }),
  tenantRoute("getEntry"),
  sessionRoute("getEntry"),
  sessionRoute(
    "edit",
    { content, actor: key.optional(), metadata: jsonObject.optional() },
    { limits: APPEND_LIMITS, prepare: asAuthor },
  ),
  defineRoute({
    method: "post",
    path: "/v1/sessions/{session_id}/entries/{entry_id}/regenerate",
    operation: "regenerate",
    tag: "entries",
    scope: "write",
    summary: "Regenerate an answer: a new one takes its place, on a branch.",
    takesKey: true,
    takesLeaf: true,
    params: entryParams,
    limits: APPEND_LIMITS,
    body: z.strictObject({ message: messageInput }),
    answer: { status: 201, description: "The new message.", schema: schemaOf(ENTRY) },
    handle: async (caller, { params, body }) => {
      const handle = caller.tenant.session(params.session_id);
      const message = readMessage(caller, body.message, "message");
      const options = { ...caller.expected, ...caller.idempotency };
      return toWire(ENTRY, await handle.regenerate(params.entry_id, message, options));
    },
  }),
  sessionRoute("label", { label: z.string().nullable() }),
  defineRoute({
    method: "get",
    path: "/v1/sessions/{session_id}/labels",
    operation: "labels",
    tag: "entries",
    summary: "The labels, by entry.",
    scope: "read",
    params: sessionParams,
    answer: {
      status: 200,
      description: "Labels by entry id.",
      schema: z.object({ labels: z.record(z.string(), z.string()) }).meta({ id: "Labels" }),
    },
    handle: async ({ tenant }, { params }) => {
      const handle = tenant.session(params.session_id);
      return { labels: Object.fromEntries(await handle.labels()) };
    },
  }),
  sessionRoute("mark", { reason: z.string().min(1) }, { prepare: asActor }),
  sessionRoute("unmark", {}, { prepare: asActor }),
  sessionRoute("marks"),
  sessionRoute("pin"),
  sessionRoute("unpin"),
  sessionRoute("branches"),
  sessionRoute(
    "branch",
    { entry_id: key.nullable(), summary: content.optional() },
    { limits: APPEND_LIMITS },
  ),
];

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
      parent: PARENT,
      existing: z.enum(["keep", "replace"]).optional().meta({
        description: "How to treat an entry that exists under its external id.",
      }),
    }),
    answer: APPENDED,
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

/**
 * Without a named actor the original's is kept, and the caller must be allowed to write as it.
 */
function asActor({ access }: Caller, fields: { readonly actor?: string }): object {
  return { ...fields, ...actorField(access, fields.actor) };
}

async function asAuthor(
  { tenant, access }: Caller,
  fields: { readonly session_id: string; readonly entry_id: string; readonly actor?: string },
): Promise<object> {
  const isNamed = fields.actor !== undefined || access.actor !== null;
  const actor = isNamed
    ? fields.actor
    : (await tenant.session(fields.session_id).getEntry(fields.entry_id)).actor;
  return { ...fields, ...actorField(access, actor ?? undefined) };
}
