/** Aggregates over sessions: facets and reviews; and resume commands. */

import { z } from "zod";
import { ROLES } from "../../model/entry.ts";
import { BRANCH_SCOPES } from "../../model/inputs/choices.ts";
import {
  DEFAULT_REVIEWED,
  MAX_REVIEWED,
  type ReviewInput,
  reviewSessions,
} from "../../recap/review.ts";
import { resumeCommand } from "../../transfer/resume-command.ts";
import { functionRoute, tenantRoute } from "../plain-routes.ts";
import type { Route } from "../route.ts";
import { countQuery, filters } from "../schemas/common.ts";

const text = z.string();
const roles = z.enum(ROLES);

const askedOf = {
  query: text
    .optional()
    .meta({ description: "Counts the hits of a search; if left out, the sessions of a list." }),
  role: roles.optional().meta({ description: "Only with a query." }),
  branches: z.enum(BRANCH_SCOPES).optional().meta({ description: "Only with a query." }),
};

export const INSIGHT_ROUTES: readonly Route[] = [
  tenantRoute(
    "facets",
    { ...filters("facets"), ...askedOf },
    {
      http: "GET /v1/facets",
      operation: "facets",
      summary: "Facets: the number of sessions for each value of a filter.",
    },
  ),
  tenantRoute("facets", { ...filters("facets"), ...askedOf }),
  functionRoute(
    "review",
    {
      ...filters("review"),
      limit: countQuery
        .refine((value) => value >= 1 && value <= MAX_REVIEWED, `must be 1 to ${MAX_REVIEWED}`)
        .optional()
        .meta({ description: `Sessions: 1 to ${MAX_REVIEWED}, ${DEFAULT_REVIEWED} if left out.` }),
      cursor: text.optional(),
    },
    { run: ({ tenant }, input: ReviewInput) => reviewSessions(tenant, input) },
  ),
  functionRoute(
    "resumeCommand",
    {},
    {
      run: async ({ tenant }, { sessionId }: { readonly sessionId: string }) =>
        resumeCommand(await tenant.getSessionMeta(sessionId)),
    },
  ),
];
