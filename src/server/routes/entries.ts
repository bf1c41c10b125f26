/** Entries of a session's tree: read, add, edit, label, pin; and its branches. */

import { z } from "zod";
import { toWire } from "../../api/shape.ts";
import { fromWireFields } from "../../api/wire.ts";
import { ENTRY } from "../../model/entry.ts";
import type { ContentInput } from "../../transcript/normalize.ts";
import { actorField } from "../actor.ts";
import { sessionRoute, tenantRoute } from "../plain-routes.ts";
import { APPEND_LIMITS, defineRoute, type Route } from "../route.ts";
import {
  entryParams,
  jsonObject,
  jsonValue,
  key,
  limitQuery,
  sessionParams,
} from "../schemas/common.ts";
import { content, messageInput } from "../schemas/entry.ts";
import { schemaOf } from "../schemas/shape.ts";
import { readMessage } from "./messages.ts";

const done = { status: 204, description: "No content." } as const;

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
  defineRoute({
    method: "post",
    path: "/v1/sessions/{session_id}/entries/{entry_id}/edit",
    operation: "edit",
    tag: "entries",
    scope: "write",
    summary: "Edit a message: a new one takes its place, on a branch.",
    takesKey: true,
    takesLeaf: true,
    params: entryParams,
    limits: APPEND_LIMITS,
    body: z.strictObject({ content, actor: key.optional(), metadata: jsonObject.optional() }),
    answer: { status: 201, description: "The new message.", schema: schemaOf(ENTRY) },
    handle: async (caller, { params, body }) => {
      const handle = caller.tenant.session(params.session_id);
      const { content, metadata } = body;
      // Without a named actor the original's is kept, and the caller must be allowed to write as
      // it.
      const isNamed = body.actor !== undefined || caller.access.actor !== null;
      const actor = isNamed ? body.actor : (await handle.getEntry(params.entry_id)).actor;
      const edited = await handle.edit(params.entry_id, content as ContentInput, {
        ...actorField(caller.access, actor ?? undefined),
        ...(metadata === undefined ? {} : { metadata }),
        ...caller.expected,
        ...caller.idempotency,
      });
      return toWire(ENTRY, edited);
    },
  }),
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
  sessionRoute("pin"),
  sessionRoute("unpin"),
  sessionRoute("branches"),
  defineRoute({
    method: "post",
    path: "/v1/sessions/{session_id}/branch",
    operation: "branch",
    tag: "branches",
    summary: "Make an entry the active leaf.",
    scope: "write",
    takesLeaf: true,
    params: sessionParams,
    limits: APPEND_LIMITS,
    body: z.strictObject({ entry_id: key.nullable(), summary: content.optional() }),
    answer: done,
    handle: async ({ tenant, expected }, { params, body }) => {
      const handle = tenant.session(params.session_id);
      const { entry_id, summary } = body;
      await handle.branch(entry_id, {
        ...(summary === undefined ? {} : { summary: summary as ContentInput }),
        ...expected,
      });
    },
  }),
];
