/** Original bytes of ingested files, for ingestion from another machine. */

import { z } from "zod";
import { fromWireOriginalUpdate, toBase64, type WireOriginalUpdate } from "../../api/original.ts";
import { toWire } from "../../api/shape.ts";
import { fromWireFields } from "../../api/wire.ts";
import type { ListOriginalsInput } from "../../engine/import/ingested-files.ts";
import { ORIGINAL } from "../../model/answers/store.ts";
import { requireAllowed } from "../../policy.ts";
import { APPEND_LIMITS, defineRoute, type Route } from "../route.ts";
import { count, key, path } from "../schemas/common.ts";
import { originalPart, originals, originalUpdate } from "../schemas/import.ts";

export const ORIGINAL_ROUTES: readonly Route[] = [
  defineRoute({
    method: "put",
    path: "/v1/ingest/originals",
    operation: "putOriginal",
    tag: "transfer",
    summary: "Keep the bytes of an ingested file.",
    scope: "write",
    limits: APPEND_LIMITS,
    body: originalUpdate,
    answer: {
      status: 200,
      description: "Whether they are kept: not if content is erased.",
      schema: z.object({ kept: z.boolean() }).meta({ id: "OriginalKept" }),
    },
    handle: async ({ tenant }, { body }) => {
      const update = body as WireOriginalUpdate;
      return {
        kept: await tenant.originals.put(update.workstation, fromWireOriginalUpdate(update)),
      };
    },
  }),
  defineRoute({
    method: "post",
    path: "/v1/ingest/originals/find",
    operation: "listOriginals",
    tag: "transfer",
    summary: "Ingested files whose bytes are kept.",
    scope: "read",
    body: z.strictObject({
      workstation: key.optional(),
      path: path.optional(),
      session_id: key.optional(),
      after: z.strictObject({ workstation: key, path }).optional(),
      limit: count.optional(),
    }),
    answer: { status: 200, description: "By workstation and path.", schema: originals },
    handle: async ({ tenant }, { body }) => ({
      originals: (await tenant.originals.list(fromWireFields(body) as ListOriginalsInput)).map(
        (each) => toWire(ORIGINAL, each),
      ),
    }),
  }),
  defineRoute({
    method: "post",
    path: "/v1/ingest/originals/read",
    operation: "readOriginalPart",
    tag: "transfer",
    summary: "A part of the bytes of an ingested file.",
    scope: "read",
    body: z.strictObject({ workstation: key, path, start: count }),
    answer: { status: 200, description: "Null if there is no such part.", schema: originalPart },
    handle: async ({ tenant }, { body: { workstation, path: file, start } }) => {
      requireAllowed("rawExports");
      const bytes = await tenant.originals.readPart(workstation, file, start);
      return { bytes: bytes === undefined ? null : toBase64(bytes) };
    },
  }),
];
