/** A shared session as a page without scripts, with secrets masked. */

import type { OpenedShare } from "../../engine/access/shares.ts";
import type { Engine } from "../../engine/engine.ts";
import type { ExportInput } from "../../export/format.ts";
import { exportSession, findFormat } from "../../export/formats.ts";
import { toExportInput } from "../../transfer/export-session.ts";
import { toByteStream } from "../routes/transfer.ts";

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
