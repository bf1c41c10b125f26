/**
 * Administration: the caller's access, which clients request first to check that the server is a
 * Backscroll; status, maintenance, quotas; access tokens of the tenant. Acts on a whole store need
 * an operator, and a new token never exceeds the caller's own access.
 */

import { z } from "zod";
import { toWireAccess } from "../../api/access.ts";
import { toWireStats } from "../../api/stats.ts";
import { toWireStatus } from "../../api/status.ts";
import { fromWireFields } from "../../api/wire.ts";
import { INDEX_TASKS } from "../../engine/maintain-index.ts";
import type { TenantEngine } from "../../engine/tenant-engine.ts";
import { maintainSessions } from "../../gateway/maintain.ts";
import type { AccessToken } from "../../model/access.ts";
import { ACCESS_SCOPES, actorFor, requireAnyActor, requireOperator } from "../../model/access.ts";
import { STORE_STATUS } from "../../model/answers/store.ts";
import { engineRoute, functionRoute, tenantRoute } from "../plain-routes.ts";
import { type Caller, defineRoute, type Route } from "../route.ts";
import { count, key, limitQuery, timeInput } from "../schemas/common.ts";
import { inputOf } from "../schemas/input.ts";
import { schemaOf } from "../schemas/shape.ts";
import { stats } from "../schemas/store.ts";

const access = z
  .object({
    server: z.literal("backscroll"),
    tenant: z.string(),
    scope: z.enum(ACCESS_SCOPES),
    actor: z.string().nullable(),
    operator: z.boolean(),
  })
  .meta({ id: "Access" });

export const ACCESS_ROUTES: readonly Route[] = [
  defineRoute({
    method: "get",
    path: "/v1/access",
    operation: "access",
    tag: "store",
    summary: "The caller's scope and tenant.",
    scope: "read",
    answer: { status: 200, description: "The access that the token grants.", schema: access },
    handle: async ({ access: held }) => toWireAccess(held),
  }),
];

const limit = count.nullable().optional();

export const ADMIN_ROUTES: readonly Route[] = [
  defineRoute({
    method: "get",
    path: "/v1/stats",
    operation: "stats",
    tag: "store",
    summary: "Totals of sessions, messages, tokens and cost.",
    scope: "read",
    query: z.strictObject({
      ...inputOf("stats", "query"),
      session: key.optional().meta({ description: "One session alone, without its sub-agents." }),
    }),
    answer: { status: 200, description: "By agent, project, model and day.", schema: stats },
    handle: async ({ tenant }, { query }) => toWireStats(await tenant.stats(fromWireFields(query))),
  }),
  tenantRoute("tenantStatus"),
  tenantRoute("indexStatus"),
  tenantRoute("maintainIndex", { task: z.enum(INDEX_TASKS) }),
  engineRoute("sweep", {}, { run: ({ tenant }) => tenant.sweep() }),
  functionRoute(
    "maintainSessions",
    { dry_run: z.boolean().optional().meta({ description: "Reports the plan only." }) },
    {
      run: async ({ tenant, gateway }, input: { readonly dryRun?: boolean }) => {
        // A dry run is a read, and leaves no row.
        if (!input.dryRun) await tenant.noteAct("maintain_sessions");
        return maintainSessions(tenant, gateway, input);
      },
    },
  ),
  tenantRoute("setQuota", {
    max_sessions: limit,
    max_entries: limit,
    max_content_bytes: limit,
  }),
  defineRoute({
    method: "get",
    path: "/v1/admin/store",
    operation: "status",
    tag: "admin",
    summary: "Counts and sizes of the whole store.",
    scope: "admin",
    operator: true,
    answer: { status: 200, description: "All tenants.", schema: schemaOf(STORE_STATUS) },
    handle: async ({ engine }) => toWireStatus(await engine.status()),
  }),
  engineRoute("verify", { head: key.optional() }),
  engineRoute("checkIntegrity"),
  engineRoute("sweepAll"),
];

const MAX_PAGE = 500;

export const TOKEN_ROUTES: readonly Route[] = [
  tenantRoute("listTokens", { limit: limitQuery.optional() }),
  tenantRoute(
    "createToken",
    {
      scope: z.enum(ACCESS_SCOPES),
      actor: key.optional(),
      act_as: z.union([z.literal("any"), z.array(key)]).optional(),
      label: key.optional(),
      expires: timeInput.optional(),
      operator: z.boolean().optional(),
    },
    { exact: true, prepare: withinOwnAccess },
  ),
  tenantRoute(
    "revokeToken",
    {},
    {
      prepare: async ({ tenant, access }, { token_id: id }: { readonly token_id: string }) => {
        if ((await findToken(tenant, id))?.operator) requireOperator(access);
      },
    },
  ),
];

/** A new token never exceeds the access of its creator. */
async function withinOwnAccess(
  { tenant, access }: Caller,
  fields: {
    readonly actor?: string;
    readonly act_as?: "any" | readonly string[];
    readonly operator?: boolean;
    readonly expires?: Date;
  },
): Promise<object> {
  if (fields.operator === true) requireOperator(access);
  if (fields.act_as === "any") requireAnyActor(access);
  const names = fields.act_as === "any" ? [] : (fields.act_as ?? []);
  for (const name of [fields.actor, ...names]) actorFor(access, name);
  const own = access.tokenId === null ? undefined : await findToken(tenant, access.tokenId);
  const { expires, ...others } = fields;
  return { ...others, ...expiry(expires, own) };
}

/** At the latest when the creating token expires. */
export function expiry(
  wanted: Date | undefined,
  own: AccessToken | undefined,
): { readonly expires?: number } {
  const ends = [
    wanted?.getTime() ?? Number.POSITIVE_INFINITY,
    own?.expiresAt ?? Number.POSITIVE_INFINITY,
  ];
  const expires = Math.min(...ends);
  return Number.isFinite(expires) ? { expires } : {};
}

export async function findToken(
  tenant: TenantEngine,
  id: string,
): Promise<AccessToken | undefined> {
  for (let after: string | undefined; ; ) {
    const page = await tenant.listTokens({
      limit: MAX_PAGE,
      ...(after === undefined ? {} : { after }),
    });
    const found = page.find((token) => token.id === id);
    if (found !== undefined || page.length < MAX_PAGE) return found;
    after = page.at(-1)?.id;
  }
}
