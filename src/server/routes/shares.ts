/** Expiring public links to one session, shown as a page without scripts, with secrets masked. */

import { z } from "zod";
import { SHARE_PATH } from "../../api/part-operations.ts";
import { toWire } from "../../api/shape.ts";
import type { OpenedShare } from "../../engine/access/shares.ts";
import type { Engine } from "../../engine/engine.ts";
import type { ExportInput } from "../../export/format.ts";
import { exportSession, findFormat } from "../../export/formats.ts";
import { SHARE } from "../../model/answers/store.ts";
import { DEFAULT_SHARE_DAYS, MAX_SHARE_DAYS } from "../../model/limits.ts";
import { requireAllowed } from "../../policy.ts";
import { toExportInput } from "../../transfer/export-session.ts";
import { shareRoute } from "../plain-routes.ts";
import { defineRoute, type Route } from "../route.ts";
import { sessionParams, timeInput } from "../schemas/common.ts";
import { SHARES, schemaOf } from "../schemas/shape.ts";
import { expiry, findToken } from "./admin.ts";
import { toByteStream } from "./transfer.ts";

const text = z.string();

const shares = {
  status: 200,
  description: "Only links that are still valid.",
  schema: schemaOf(SHARES),
} as const;

export const SHARE_ROUTES: readonly Route[] = [
  defineRoute({
    method: "post",
    path: "/v1/sessions/{session_id}/shares",
    operation: "createShare",
    tag: "shares",
    summary: "Create a public read-only link to the session, with secrets masked.",
    scope: "write",
    params: sessionParams,
    body: z.strictObject({
      expires: timeInput.optional().meta({
        description: `Within ${MAX_SHARE_DAYS} days; in ${DEFAULT_SHARE_DAYS} days if left out.`,
      }),
    }),
    answer: {
      status: 201,
      description: "The link, shown once. It ends no later than the token that made it.",
      schema: z
        .object({ token: text, path: text, url: text, share: schemaOf(SHARE) })
        .meta({ id: "CreatedShare" }),
    },
    handle: async ({ tenant, access, request }, { params, body }) => {
      requireAllowed("shares");
      const own = access.tokenId === null ? undefined : await findToken(tenant, access.tokenId);
      const wanted = body.expires ?? new Date(Date.now() + DEFAULT_SHARE_DAYS * 86_400_000);
      const made = await tenant.shares.create(params.session_id, expiry(wanted, own));
      const path = SHARE_PATH + made.token;
      const url = new URL(path, request.url).href;
      return { token: made.token, path, url, share: toWire(SHARE, made.share) };
    },
  }),
  defineRoute({
    method: "get",
    path: "/v1/sessions/{session_id}/shares",
    operation: "listSessionShares",
    tag: "shares",
    summary: "The links to a session.",
    scope: "read",
    params: sessionParams,
    answer: shares,
    handle: async ({ tenant }, { params }) => {
      const { id } = await tenant.getSessionMeta(params.session_id);
      return { shares: (await tenant.shares.list(id)).map((each) => toWire(SHARE, each)) };
    },
  }),
  defineRoute({
    method: "get",
    path: "/v1/shares",
    operation: "listShares",
    tag: "shares",
    summary: "The links to all sessions.",
    scope: "read",
    answer: shares,
    handle: async ({ tenant }) => ({
      shares: (await tenant.shares.list()).map((each) => toWire(SHARE, each)),
    }),
  }),
  shareRoute("revoke"),
];

/** The URL is the secret: no referrer, no caching, no indexing by crawlers. */
const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy":
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; sandbox",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  "x-robots-tag": "noindex",
} as const;

const GONE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>This link opens nothing</title>
<p>This link opens nothing: it has ended, was revoked, or its conversation was deleted. Ask its sender for another.</p>
</html>
`;

export async function sharedPage(
  engine: Engine,
  { tenant, sessionId }: OpenedShare,
): Promise<Response> {
  const format = findFormat("html");
  const input = await toExportInput(engine.forTenant(tenant).session(sessionId), format);
  const { chunks } = exportSession(format, withoutOwner(input));
  return new Response(toByteStream(chunks), { headers: HEADERS });
}

/** Whoever has the link learns what was said: not by whom, nor where it is stored. */
function withoutOwner({ session, entries, ...input }: ExportInput): ExportInput {
  const { owner, origin } = session;
  const { projectPath: _, ...place } = origin;
  return {
    ...input,
    session: { ...session, id: "", owner: "", origin: place },
    async *entries() {
      for await (const entry of entries()) {
        yield entry.actor === owner ? { ...entry, actor: null } : entry;
      }
    },
  };
}

/** The same for unknown links, so that their existence is not disclosed. */
export function deadSharePage(): Response {
  return new Response(GONE, { status: 404, headers: HEADERS });
}
