/** Aggregates over sessions: facets and reviews; and resume commands. */

import { z } from "zod";
import { toWire } from "../../api/shape.ts";
import { fromWireFields } from "../../api/wire.ts";
import { ROLES } from "../../model/entry.ts";
import { BRANCH_SCOPES } from "../../model/inputs/choices.ts";
import { REVIEW } from "../../model/review.ts";
import { DEFAULT_REVIEWED, MAX_REVIEWED, reviewSessions } from "../../recap/review.ts";
import { resumeCommand } from "../../transfer/resume-command.ts";
import { defineRoute, type Route } from "../route.ts";
import { review } from "../schemas/answers.ts";
import { count, countQuery, filters, sessionParams } from "../schemas/common.ts";
import { inputOf } from "../schemas/input.ts";

const text = z.string();
const roles = z.enum(ROLES);

const counted = (description: string) =>
  z.array(z.object({ value: text, count })).meta({ description });

const facets: z.ZodType = z
  .object({
    sessions: count.meta({ description: "Sessions that were counted." }),
    more: z.boolean().meta({ description: "There are sessions that were not counted." }),
    agent: counted("By agent. Each list has at most 50 values, the most frequent first."),
    project: counted("By the project's path."),
    workstation: counted("By workstation."),
    repo: counted("By repository."),
    source: counted("By the tool that wrote the session."),
    model: counted("By model. A session counts for each that it used."),
    role: counted("By the role of the found message; empty without a query."),
    since: counted("Sessions with an interaction within the last 1d, 7d, 30d and 365d."),
  })
  .meta({ id: "Facets" });

const countedFacets = {
  status: 200,
  description: "Of a list the newest 10,000 sessions count, of a search the best 100.",
  schema: facets,
} as const;

const askedOf = {
  query: text
    .optional()
    .meta({ description: "Counts the hits of a search; if left out, the sessions of a list." }),
  role: roles.optional().meta({ description: "Only with a query." }),
  branches: z.enum(BRANCH_SCOPES).optional().meta({ description: "Only with a query." }),
};

export const INSIGHT_ROUTES: readonly Route[] = [
  defineRoute({
    method: "get",
    path: "/v1/facets",
    operation: "facets",
    tag: "search",
    summary: "Facets: the number of sessions for each value of a filter.",
    scope: "read",
    query: z.strictObject({
      ...inputOf("facets", "query", { ...filters("facets"), ...askedOf }),
    }),
    answer: countedFacets,
    handle: async ({ tenant, signal }, { query }) =>
      tenant.facets({ ...fromWireFields(query), signal }),
  }),
  defineRoute({
    method: "post",
    path: "/v1/facets",
    operation: "facetsByBody",
    tag: "search",
    summary: "The same, for a query of any length.",
    scope: "read",
    body: z.strictObject({
      ...inputOf("facets", "body", { ...filters("facets"), ...askedOf }),
    }),
    answer: countedFacets,
    handle: async ({ tenant, signal }, { body }) =>
      tenant.facets({ ...fromWireFields(body), signal }),
  }),
  defineRoute({
    method: "get",
    path: "/v1/review",
    operation: "review",
    tag: "sessions",
    summary: "Sessions with failures, and their tools and files.",
    scope: "read",
    query: z.strictObject({
      ...inputOf("reviewSessions", "query", filters("review")),
      limit: countQuery
        .refine((value) => value >= 1 && value <= MAX_REVIEWED, `must be 1 to ${MAX_REVIEWED}`)
        .optional()
        .meta({ description: `Sessions: 1 to ${MAX_REVIEWED}, ${DEFAULT_REVIEWED} if left out.` }),
      cursor: text.optional(),
    }),
    answer: {
      status: 200,
      description: "The newest sessions, with their failed calls, retries and loose ends.",
      schema: review,
    },
    handle: async ({ tenant }, { query }) =>
      toWire(REVIEW, await reviewSessions(tenant, fromWireFields(query))),
  }),
  defineRoute({
    method: "get",
    path: "/v1/sessions/{session_id}/resume",
    operation: "resumeCommand",
    tag: "sessions",
    summary: "The command that continues the session in its own agent.",
    scope: "read",
    params: sessionParams,
    answer: {
      status: 200,
      description: "The command is null where the agent has none.",
      schema: z
        .object({ command: text.nullable(), folder: text.nullable(), workstation: text.nullable() })
        .meta({ id: "ResumeCommand" }),
    },
    handle: async ({ tenant }, { params }) =>
      resumeCommand(await tenant.getSessionMeta(params.session_id)),
  }),
];
