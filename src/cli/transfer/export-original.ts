/** The original file of an ingested session. */

import { readOriginal, isPart } from "../../archive/originals.ts";
import { BackscrollError } from "../../model/errors.ts";
import { requireAllowed } from "../../policy.ts";
import type { Original } from "../../store/ingested-file.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { formatCount } from "../print.ts";
import { withStore } from "../store.ts";
import { openOutput } from "./output-file.ts";

export function exportOriginal(
  context: Context,
  sessionId: string,
  path: string | undefined,
  file: string | undefined,
): Promise<number> {
  requireAllowed("rawExports");
  return withStore(context, "read", async (tenant) => {
    const { id } = await tenant.getSession(sessionId);
    const all = await tenant.originals.list({ sessionId: id });
    const original = pick(id, all, path);
    const output = await openOutput(file, context.terminal);
    try {
      for await (const bytes of readOriginal(tenant, original)) await output.write(bytes);
      await output.finish();
    } finally {
      await output.discard();
    }
    if (output.file === undefined) return EXIT.ok;
    const { size, source } = original;
    const written = { session_id: id, path: original.path, source, size, file: output.file };
    if (context.json) await context.terminal.printJson(written);
    else {
      const line = `Exported ${original.path} (${formatCount(size)} bytes) to ${output.file}`;
      await context.terminal.print(line);
    }
    return EXIT.ok;
  });
}

function pick(id: string, all: readonly Original[], path: string | undefined): Original {
  const matching = all.filter((each) => (path === undefined ? !isPart(each) : each.path === path));
  const [only] = matching;
  if (only !== undefined && matching.length === 1) return only;
  const known = all.map((each) => each.path).join(", ");
  const message =
    all.length === 0
      ? `no original of session ${id} is kept: it was not ingested from a file, or originals are off (BACKSCROLL_ORIGINALS, ingest --no-originals), or its format is a database or a folder of files`
      : matching.length === 0
        ? `session ${id} was not ingested from ${path}; it was from ${known}`
        : `session ${id} was ingested from several files; name one with --path: ${known}`;
  throw new BackscrollError("invalid_input", message, {
    details: { field: all.length === 0 ? "SESSION" : "--path" },
  });
}
