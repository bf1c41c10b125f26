/** Access tokens of the tenant. A new token never exceeds the caller's own access. */

import { z } from "zod";
import { toWire } from "../../api/shape.ts";
import { fromWireFields } from "../../api/wire.ts";
import type { TenantEngine } from "../../engine/tenant-engine.ts";
import {
  ACCESS_SCOPES,
  ACCESS_TOKEN,
  type AccessToken,
  actorFor,
  requireAnyActor,
  requireOperator,
} from "../../model/access.ts";
import { tenantRoute } from "../plain-routes.ts";
import { defineRoute, type Route } from "../route.ts";
import { key, limitQuery, timeInput } from "../schemas/common.ts";
import { schemaOf } from "../schemas/shape.ts";

const text = z.string();
const MAX_PAGE = 500;

export const TOKEN_ROUTES: readonly Route[] = [
  tenantRoute("listTokens", { limit: limitQuery.optional() }),
  defineRoute({
    method: "post",
    path: "/v1/admin/tokens",
    operation: "createToken",
    tag: "admin",
    summary: "Create an access token; its text is shown once.",
    scope: "admin",
    body: z.strictObject({
      scope: z.enum(ACCESS_SCOPES),
      actor: key.optional(),
      act_as: z.union([z.literal("any"), z.array(key)]).optional(),
      label: key.optional(),
      expires: timeInput.optional(),
      operator: z.boolean().optional(),
    }),
    answer: {
      status: 201,
      description: "The token.",
      schema: z
        .object({ token: text, record: schemaOf(ACCESS_TOKEN) })
        .meta({ id: "CreatedToken" }),
    },
    handle: async ({ tenant, access }, { body }) => {
      if (body.operator === true) requireOperator(access);
      if (body.act_as === "any") requireAnyActor(access);
      const names = body.act_as === "any" ? [] : (body.act_as ?? []);
      for (const name of [body.actor, ...names]) actorFor(access, name);
      const own = access.tokenId === null ? undefined : await findToken(tenant, access.tokenId);
      const { expires, ...input } = fromWireFields(body);
      const made = await tenant.createToken({ ...input, ...expiry(expires, own) });
      return { token: made.token, record: toWire(ACCESS_TOKEN, made.record) };
    },
  }),
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
