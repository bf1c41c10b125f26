/** A gateway's conversations: inbound messages, and session keys. */

import { z } from "zod";
import { toWireReply, toWireSessionStatus, toWireUnanswered } from "../../api/gateway.ts";
import { toWire } from "../../api/shape.ts";
import { fromWireFields } from "../../api/wire.ts";
import type { ListRoutesInput } from "../../engine/routes/routes.ts";
import { Gateway } from "../../gateway/gateway.ts";
import { generateTitle } from "../../gateway/generate/generate-title.ts";
import { INBOUND_KINDS } from "../../gateway/inbound-message.ts";
import { sessionStatus } from "../../gateway/session-status.ts";
import { REPLY, SESSION_STATUS } from "../../model/answers/gateway.ts";
import { BackscrollError } from "../../model/errors.ts";
import { SESSION_ROUTE } from "../../model/route.ts";
import { actorOrError } from "../actor.ts";
import { keyRoute } from "../plain-routes.ts";
import { APPEND_LIMITS, defineRoute, type Route } from "../route.ts";
import {
  count,
  jsonObject,
  key,
  limitQuery,
  sessionKey,
  sessionParams,
} from "../schemas/common.ts";
import { schemaOf } from "../schemas/shape.ts";
import { newSession, readSession } from "./sessions.ts";

const params = z.strictObject({ key: sessionKey });
const label = z.string().optional();
/** A name of a place, possibly empty. */
const place = z.string().optional();

export const GATEWAY_ROUTES: readonly Route[] = [
  defineRoute({
    method: "post",
    path: "/v1/inbound",
    operation: "inbound",
    tag: "gateway",
    summary: "Route an inbound message, store it, and answer it.",
    scope: "write",
    limits: APPEND_LIMITS,
    body: z.strictObject({
      text: z.string(),
      channel: place,
      account: place,
      peer: place,
      thread: place,
      topic: place,
      chat_type: z.enum(["direct", "dm", "group", "channel", "room"]).optional(),
      key: sessionKey
        .optional()
        .meta({ description: "Overrides the key derived from the origin." }),
      agent: key.optional(),
      kind: z
        .enum(INBOUND_KINDS)
        .optional()
        .meta({ description: "Automatic input is not a `message`, and resets nothing." }),
      sender: key
        .optional()
        .meta({ description: "The author. Default: the peer of a direct message." }),
      authorized: z.boolean().optional(),
      id: key
        .optional()
        .meta({ description: "The channel's message id: a redelivery counts once." }),
      append: z
        .boolean()
        .optional()
        .meta({ description: "Whether to store and answer it; true if left out." }),
      provider: label,
      subject: label,
      room: label,
      space: label,
      display_name: label,
    }),
    answer: { status: 200, description: "Its session, and the reply.", schema: schemaOf(REPLY) },
    handle: async ({ tenant, access, gateway, signal }, { body }) => {
      const { sender: named, append = true, ...rest } = body;
      // A channel's token writes as its peers; any other caller writes as itself.
      const isChannel = named === undefined && access.actAs === "any";
      const sender = isChannel ? {} : { sender: actorOrError(access, named, "sender") };
      const message = { ...fromWireFields(rest), ...sender };
      const taking = new Gateway(tenant, gateway);
      return append
        ? toWireReply(await taking.reply(message, { signal }))
        : toWireUnanswered(await taking.inbound(message));
    },
  }),
  keyRoute(
    "list",
    { after: sessionKey.optional(), limit: limitQuery.optional() },
    {
      run: async ({ tenant }, { limit = 50, ...range }: ListRoutesInput) => {
        const routes = await tenant.routes.list({ ...range, limit });
        return { routes, next: routes.length < limit ? null : routes.at(-1)?.key };
      },
    },
  ),
  keyRoute("get"),
  defineRoute({
    method: "put",
    path: "/v1/routes/{key}",
    operation: "putRoute",
    tag: "gateway",
    summary: "Point a session key at a session.",
    scope: "write",
    params,
    body: z.strictObject({
      session_id: key.optional(),
      create: newSession
        .optional()
        .meta({ description: "In place of session_id: creates a session with the route." }),
      fields: jsonObject
        .optional()
        .meta({ description: "Replaces all fields; empty if left out." }),
      expected_version: count
        .optional()
        .meta({ description: "Compare-and-swap; 0: there must be no route yet." }),
      reason: key.optional(),
    }),
    answer: { status: 200, description: "The route.", schema: schemaOf(SESSION_ROUTE) },
    handle: async ({ tenant, access }, { params, body }) => {
      const { create, ...rest } = body;
      if ((create === undefined) === (rest.session_id === undefined)) {
        throw new BackscrollError("invalid_input", "give session_id or create, and not both", {
          details: { field: "session_id" },
        });
      }
      const target = create === undefined ? {} : { create: readSession(access, create) };
      return toWire(
        SESSION_ROUTE,
        await tenant.routes.put(params.key, { ...fromWireFields(rest), ...target }),
      );
    },
  }),
  keyRoute("patch", { fields: jsonObject, expected_version: count.optional() }),
  keyRoute("delete"),
  keyRoute("history", { limit: limitQuery.optional() }),
  keyRoute("ofSession"),
  defineRoute({
    method: "get",
    path: "/v1/sessions/{session_id}/status",
    operation: "sessionStatus",
    tag: "gateway",
    summary: "The status of a session, and its next reset.",
    scope: "read",
    params: sessionParams,
    answer: { status: 200, description: "Its status.", schema: schemaOf(SESSION_STATUS) },
    handle: async ({ tenant, gateway }, { params }) =>
      toWireSessionStatus(await sessionStatus(tenant, params.session_id, gateway)),
  }),
  defineRoute({
    method: "post",
    path: "/v1/sessions/{session_id}/title",
    operation: "generateTitle",
    tag: "gateway",
    summary: "Generate a title with a model, and set it.",
    scope: "write",
    params: sessionParams,
    body: z.strictObject({
      model: key
        .optional()
        .meta({ description: "By its name in the store; `default` if left out." }),
    }),
    answer: {
      status: 200,
      description: "The title.",
      schema: z.strictObject({ title: z.string() }),
    },
    handle: async ({ tenant, signal }, { params, body }) => {
      const session = tenant.session(params.session_id);
      await session.meta();
      const model = tenant.textModel(body.model);
      return { title: await generateTitle(session, { model, signal }) };
    },
  }),
];
