/** The caller's access. Clients request it first, to check that the server is a Backscroll. */

import { z } from "zod";
import { toWireAccess } from "../../api/access.ts";
import { ACCESS_SCOPES } from "../../model/access.ts";
import { defineRoute, type Route } from "../route.ts";

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
