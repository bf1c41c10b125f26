/** Recaps of sessions, related ones, and traces of files, commands and errors. */

import { z } from "zod";
import { toWire } from "../../api/shape.ts";
import { fromWireFields } from "../../api/wire.ts";
import { RECAP, RELATED } from "../../model/answers/context.ts";
import { MAX_HITS, MAX_QUERY_BYTES } from "../../model/limits.ts";
import { DEFAULT_RECAP_SESSIONS, recapSessions } from "../../recap/recap.ts";
import { DEFAULT_RELATED, relatedSessions } from "../../recap/related.ts";
import { DEFAULT_TRACED_SESSIONS, traceWork } from "../../recap/trace.ts";
import { toWireTrace } from "../../recap/wire/wire-trace.ts";
import { defineRoute, type Route } from "../route.ts";
import { recap, related, trace } from "../schemas/answers.ts";
import { count, countQuery, filters, flagQuery, key } from "../schemas/common.ts";
import { inputOf } from "../schemas/input.ts";

const words = z.string().min(1).max(MAX_QUERY_BYTES).optional();
const limit = (most: number, preset: number) => ({
  description: `Sessions, the newest first: at most ${most}, ${preset} if left out.`,
});

const subject = {
  file: words.meta({ description: "A path, or the end of one." }),
  command: words.meta({ description: "A command, or part of one." }),
  error: words.meta({ description: "The text of an error, or part of it." }),
};
const traced = { status: 200, description: "The newest first.", schema: trace } as const;

export const RECAP_ROUTES: readonly Route[] = [
  defineRoute({
    method: "get",
    path: "/v1/recap",
    operation: "recapSessions",
    tag: "search",
    summary: "A recap of a period, a project or a session.",
    scope: "read",
    query: z.strictObject(
      inputOf("recapSessions", "query", {
        ...filters("recap"),
        limit: countQuery.optional().meta(limit(MAX_HITS, DEFAULT_RECAP_SESSIONS)),
        sub_agents: flagQuery
          .optional()
          .meta({ description: "Also sessions of sub-agents, separately." }),
      }),
    ),
    answer: { status: 200, description: "Made without a model.", schema: recap },
    handle: async ({ tenant }, { query }) =>
      toWire(RECAP, await recapSessions(tenant, fromWireFields(query))),
  }),
  defineRoute({
    method: "get",
    path: "/v1/related",
    operation: "relatedSessions",
    tag: "search",
    summary: "Sessions like a given one, and where the same question was asked before.",
    scope: "read",
    query: z.strictObject(
      inputOf("relatedSessions", "query", {
        session: key.optional().meta({ description: "Exactly one of session and question." }),
        question: words,
        limit: countQuery.optional().meta({
          description: `Sessions, and questions: at most ${MAX_HITS} of each, ${DEFAULT_RELATED} if left out.`,
        }),
      }),
    ),
    answer: { status: 200, description: "The most alike first.", schema: related },
    handle: async ({ tenant }, { query }) =>
      toWire(RELATED, await relatedSessions(tenant, fromWireFields(query))),
  }),
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
