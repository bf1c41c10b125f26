/** Sessions: create, find, change, fork, delete. */

import { z } from "zod";
import { toWireSession, type WireSession } from "../../api/session.ts";
import { toWireSessionPage } from "../../api/session-page.ts";
import { fromWireFields } from "../../api/wire.ts";
import type { CreateSessionInput } from "../../engine/session-input.ts";
import type { Access } from "../../model/access.ts";
import { defined } from "../../model/defined.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { Origin, Provenance } from "../../model/session.ts";
import { actorOrError, checkParticipants, claimed, ownerField } from "../actor.ts";
import { tenantRoute } from "../plain-routes.ts";
import { type Caller, defineRoute, type Route } from "../route.ts";
import {
  flagQuery,
  key,
  limitQuery,
  metadataQuery,
  path,
  sessionParams,
  timeInput,
} from "../schemas/common.ts";
import { inputOf } from "../schemas/input.ts";
import {
  keyedOriginInput,
  originInput,
  type SettableBody,
  session,
  sessionPage,
  settable,
} from "../schemas/session.ts";

const name = key;

/** A new session, as a request has it. */
export interface NewSessionBody extends SettableBody {
  readonly id?: string | undefined;
  readonly agent: string;
  readonly created_by?: string | undefined;
  readonly origin?: object | undefined;
  readonly started_at?: Date | undefined;
}

const newSessionFields = {
  ...settable,
  id: key.optional(),
  agent: name.meta({
    description: "The agent of the conversation, not the author of its messages.",
  }),
  created_by: name.optional(),
  started_at: timeInput.optional(),
};

export const newSession: z.ZodType<NewSessionBody> = z.strictObject({
  ...newSessionFields,
  origin: originInput.optional(),
});

const shown = tenantRoute("getSessionMeta");

export const SESSION_ROUTES: readonly Route[] = [
  defineRoute({
    method: "get",
    path: "/v1/sessions",
    operation: "listSessions",
    tag: "sessions",
    summary: "List sessions, the newest interaction first.",
    scope: "read",
    query: z.strictObject({
      ...inputOf("listSessions", "query"),
      machine_made: flagQuery.optional().meta({
        description: "Also machine-made sessions.",
      }),
      metadata: metadataQuery.optional(),
      costs: flagQuery.optional().meta({
        description: "Adds `cost_microusd` to each session, without its sub-agents.",
      }),
      nested: flagQuery.optional().meta({
        description: "Without sub-agents, and repeated runs of a machine as one row.",
      }),
      outcomes: flagQuery.optional().meta({
        description: "Adds `outcome` to each session: how it ended.",
      }),
      limit: limitQuery.optional(),
      cursor: z.string().optional(),
    }),
    answer: { status: 200, description: "A page of sessions.", schema: sessionPage },
    handle: async ({ tenant }, { query }) => {
      return toWireSessionPage(await tenant.listSessions(fromWireFields(query)));
    },
  }),
  defineRoute({
    method: "post",
    path: "/v1/sessions",
    operation: "createSession",
    tag: "sessions",
    summary: "Create a session.",
    scope: "write",
    takesKey: true,
    body: newSession,
    answer: { status: 201, description: "The session.", schema: session },
    handle: async ({ tenant, access, idempotency }, { body }) => {
      const handle = await tenant.createSession({ ...readSession(access, body), ...idempotency });
      return toWireSession(await handle.meta());
    },
  }),
  {
    ...shown,
    handle: async (caller, input) => {
      const found = (await shown.handle(caller, input)) as WireSession;
      return Response.json(found, { headers: { etag: `"${found.leaf ?? ""}"` } });
    },
  },
  defineRoute({
    method: "patch",
    path: "/v1/sessions/{session_id}",
    operation: "update",
    tag: "sessions",
    summary: "Change a session's fields.",
    scope: "write",
    params: sessionParams,
    body: z.strictObject(settable),
    answer: { status: 200, description: "The changed session.", schema: session },
    handle: async ({ tenant, access }, { params, body }) => {
      const handle = tenant.session(params.session_id);
      const { owner, participants, ...rest } = body;
      if (participants !== undefined && access.actAs !== "any") {
        const known = await handle.meta();
        checkParticipants(access, participants, [known.agent, ...known.participants]);
      }
      const patch = {
        ...fromWireFields({ ...rest, participants }),
        ...ownerField(access, owner),
      };
      return toWireSession(await handle.update(patch));
    },
  }),
  tenantRoute("deleteSession", { cascade: flagQuery.optional() }),
  tenantRoute("listDerived", {}, { prepare: existing }),
  defineRoute({
    method: "post",
    path: "/v1/sessions/{session_id}/fork",
    operation: "fork",
    tag: "sessions",
    summary: "Start a session with a copy of a path.",
    scope: "write",
    takesKey: true,
    params: sessionParams,
    body: z.strictObject({
      ...settable,
      id: key.optional(),
      agent: name.optional(),
      created_by: name.optional(),
      through: key.optional().meta({ description: "The last entry; the leaf if left out." }),
      started_at: timeInput.optional(),
    }),
    answer: { status: 201, description: "The new session.", schema: session },
    handle: async ({ tenant, access, idempotency }, { params, body }) => {
      const { created_by, owner, ...rest } = body;
      const createdBy = actorOrError(access, created_by, "created_by");
      const handle = tenant.session(params.session_id);
      if (body.participants !== undefined && access.actAs !== "any") {
        const { agent, participants } = await handle.meta();
        checkParticipants(access, body.participants, [agent, body.agent, ...participants]);
      }
      const fork = await handle.fork({
        ...fromWireFields(rest),
        createdBy,
        ...ownerField(access, owner),
        ...idempotency,
      });
      return toWireSession(await fork.meta());
    },
  }),
  tenantRoute("findSessionByOrigin", { key: path }),
  defineRoute({
    method: "put",
    path: "/v1/origins",
    operation: "ensureSession",
    tag: "sessions",
    summary: "The session with a key, created if there is none.",
    scope: "write",
    body: z.strictObject({
      ...newSessionFields,
      key: path.meta({ description: "The caller's key of the session: any text." }),
      origin: keyedOriginInput.optional(),
    }),
    answer: { status: 200, description: "The session.", schema: session },
    handle: async ({ tenant, access }, { body }) => {
      const { key: originKey, ...rest } = body;
      const handle = await tenant.ensureSession({ ...readSession(access, rest), key: originKey });
      return toWireSession(await handle.meta());
    },
  }),
  tenantRoute(
    "findTombstone",
    { session_id: key.optional(), origin_key: path.optional() },
    {
      run: ({ tenant }, given: { readonly sessionId?: string; readonly originKey?: string }) => {
        const { sessionId, originKey } = given;
        if ((sessionId === undefined) === (originKey === undefined)) {
          const details = { field: "session_id" };
          const message = "give session_id or origin_key, and not both";
          throw new BackscrollError("invalid_input", message, { details });
        }
        return sessionId === undefined
          ? tenant.findTombstoneByOrigin(originKey ?? "")
          : tenant.findTombstone(sessionId);
      },
    },
  ),
];

/** A new session, with the caller's permitted owners. */
export function readSession(access: Access, body: NewSessionBody): CreateSessionInput {
  const { created_by, origin, owner, ...rest } = body;
  checkParticipants(access, body.participants, [body.agent]);
  const told = fromWireFields(origin ?? {}) as Origin;
  const provenance = claimed(access, told.provenance as Provenance | undefined);
  return {
    ...fromWireFields(rest),
    ...(origin === undefined && provenance === undefined
      ? {}
      : { origin: { ...told, ...defined({ provenance }) } }),
    createdBy: actorOrError(access, created_by, "created_by"),
    ...ownerField(access, owner),
  };
}

async function existing(
  { tenant }: Caller,
  { session_id: id }: { readonly session_id: string },
): Promise<void> {
  await tenant.getSessionMeta(id);
}
