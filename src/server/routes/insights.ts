/**
 * Recaps, related sessions, traces and facets, reviews; resume commands; and reads with a body:
 * long queries, and dry runs.
 */

import { z } from "zod";
import { fromWire, toWire } from "../../api/shape.ts";
import { shapeSchema } from "../../api/shape-schema.ts";
import { fromWireFields } from "../../api/wire.ts";
import { blameWork } from "../../blame/blame.ts";
import { digestWork } from "../../blame/digest.ts";
import { BLAME, BLAME_COMMIT, BLAME_LINE, WORK_DIGEST } from "../../model/answers/blame.ts";
import { TRACE } from "../../model/answers/context.ts";
import { ROLES } from "../../model/entry.ts";
import { BRANCH_SCOPES } from "../../model/inputs/choices.ts";
import { MAX_HITS, MAX_QUERY_BYTES } from "../../model/limits.ts";
import { type OutlineInput, outlineSession } from "../../recap/outline.ts";
import { DEFAULT_RECAP_SESSIONS, type RecapInput, recapSessions } from "../../recap/recap.ts";
import { DEFAULT_RELATED, type RelatedInput, relatedSessions } from "../../recap/related.ts";
import {
  DEFAULT_REVIEWED,
  MAX_REVIEWED,
  type ReviewInput,
  reviewSessions,
} from "../../recap/review.ts";
import { DEFAULT_TRACED_SESSIONS, traceWork } from "../../recap/trace.ts";
import { toWireTrace } from "../../recap/wire/wire-trace.ts";
import { resumeCommand } from "../../transfer/resume-command.ts";
import { functionRoute, sessionRoute, tenantRoute } from "../plain-routes.ts";
import { APPEND_LIMITS, defineRoute, type Route } from "../route.ts";
import { count, countQuery, flagQuery, key } from "../schemas/common.ts";
import { inputOf } from "../schemas/input.ts";
import { asked, compacting, oneQuery } from "../schemas/search.ts";
import { schemaOf } from "../schemas/shape.ts";

const words = z.string().min(1).max(MAX_QUERY_BYTES).optional();
const limit = (most: number, preset: number) => ({
  description: `Sessions, the newest first: at most ${most}, ${preset} if left out.`,
});

const subject = {
  file: words.meta({ description: "A path, or the end of one." }),
  command: words.meta({ description: "A command, or part of one." }),
  error: words.meta({ description: "The text of an error, or part of it." }),
};
const traced = { status: 200, description: "The newest first.", schema: schemaOf(TRACE) } as const;

export const RECAP_ROUTES: readonly Route[] = [
  functionRoute(
    "recapSessions",
    {
      limit: countQuery.optional().meta(limit(MAX_HITS, DEFAULT_RECAP_SESSIONS)),
      sub_agents: flagQuery
        .optional()
        .meta({ description: "Also sessions of sub-agents, separately." }),
    },
    { run: ({ tenant }, input: RecapInput) => recapSessions(tenant, input) },
  ),
  functionRoute(
    "relatedSessions",
    {
      session: key.optional().meta({ description: "Exactly one of session and question." }),
      question: words,
      limit: countQuery.optional().meta({
        description: `Sessions, and questions: at most ${MAX_HITS} of each, ${DEFAULT_RELATED} if left out.`,
      }),
    },
    { run: ({ tenant }, input: RelatedInput) => relatedSessions(tenant, input) },
  ),
  defineRoute({
    method: "get",
    path: "/v1/trace",
    operation: "traceWork",
    tag: "search",
    summary: "Which sessions touched a file, ran a command or met an error, and what cleared it.",
    scope: "read",
    query: z.strictObject(
      inputOf("traceWork", "query", {
        ...subject,
        limit: countQuery.optional().meta(limit(MAX_HITS, DEFAULT_TRACED_SESSIONS)),
      }),
    ),
    answer: traced,
    handle: async ({ tenant }, { query }) =>
      toWireTrace(await traceWork(tenant, fromWireFields(query))),
  }),
  defineRoute({
    method: "post",
    path: "/v1/trace",
    operation: "traceWorkByBody",
    tag: "search",
    summary: "The same for a long text.",
    scope: "read",
    body: z.strictObject(
      inputOf("traceWork", "body", {
        ...subject,
        limit: count.optional().meta(limit(MAX_HITS, DEFAULT_TRACED_SESSIONS)),
      }),
    ),
    answer: traced,
    handle: async ({ tenant }, { body }) =>
      toWireTrace(await traceWork(tenant, fromWireFields(body))),
  }),
];

/** What git knows of the commits comes with the request: a server has no clone. */
export const BLAME_ROUTES: readonly Route[] = [
  defineRoute({
    method: "post",
    path: "/v1/blame",
    operation: "blameWork",
    tag: "search",
    summary: "Which sessions wrote commits, or lines of a file, and what was asked.",
    scope: "read",
    body: z.strictObject({
      commits: z.array(shapeSchema(BLAME_COMMIT)),
      lines: z.array(shapeSchema(BLAME_LINE)).optional().meta({
        description: "Lines of one file, in their order; if left out, the commits are asked for.",
      }),
      path: z.string().optional().meta({ description: "The file of the lines." }),
    }),
    answer: {
      status: 200,
      description: "In the order of the commits or lines.",
      schema: schemaOf(BLAME),
    },
    limits: APPEND_LIMITS,
    handle: async ({ tenant }, { body }) => {
      const { commits, lines, path } = body;
      return toWire(
        BLAME,
        await blameWork(tenant, {
          commits: fromWire([BLAME_COMMIT], commits),
          ...(lines === undefined ? {} : { lines: fromWire([BLAME_LINE], lines) }),
          ...(path === undefined ? {} : { path }),
        }),
      );
    },
  }),
  defineRoute({
    method: "post",
    path: "/v1/pr",
    operation: "digestWork",
    tag: "search",
    summary: "A digest of the conversations behind commits, for a reviewer.",
    scope: "read",
    body: z.strictObject({ commits: z.array(shapeSchema(BLAME_COMMIT)) }),
    answer: { status: 200, description: "As Markdown.", schema: schemaOf(WORK_DIGEST) },
    limits: APPEND_LIMITS,
    handle: async ({ tenant }, { body }) => {
      const commits = fromWire([BLAME_COMMIT], body.commits);
      return toWire(WORK_DIGEST, await digestWork(tenant, { commits }));
    },
  }),
];

export const QUERY_ROUTES: readonly Route[] = [
  tenantRoute("searchMemory", asked, { prepare: oneQuery }),
  tenantRoute("searchFacts", asked, { prepare: oneQuery }),
  sessionRoute("planCompaction", compacting, { exact: true }),
];

const text = z.string();

const askedOf = {
  query: text
    .optional()
    .meta({ description: "Counts the hits of a search; if left out, the sessions of a list." }),
  role: z.enum(ROLES).optional().meta({ description: "Only with a query." }),
  branches: z.enum(BRANCH_SCOPES).optional().meta({ description: "Only with a query." }),
};

export const INSIGHT_ROUTES: readonly Route[] = [
  tenantRoute("facets", askedOf, {
    http: "GET /v1/facets",
    operation: "facets",
    summary: "Facets: the number of sessions for each value of a filter.",
  }),
  tenantRoute("facets", askedOf),
  functionRoute(
    "review",
    {
      limit: countQuery
        .refine((value) => value >= 1 && value <= MAX_REVIEWED, `must be 1 to ${MAX_REVIEWED}`)
        .optional()
        .meta({ description: `Sessions: 1 to ${MAX_REVIEWED}, ${DEFAULT_REVIEWED} if left out.` }),
      cursor: text.optional(),
    },
    { run: ({ tenant }, input: ReviewInput) => reviewSessions(tenant, input) },
  ),
  functionRoute(
    "outlineSession",
    { leaf: key.optional(), offset: countQuery.optional(), find: words },
    {
      run: ({ tenant }, { sessionId, ...input }: OutlineInput & { readonly sessionId: string }) =>
        outlineSession(tenant, sessionId, input),
    },
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
