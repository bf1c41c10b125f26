/** claw-code's sessions as JSON lines: a record for the session, its compaction and each message. */

import type { ExportFormat } from "../format.ts";
import { clawMeta, clawParts, findCompaction } from "./claw-session.ts";

export const CLAW_JSONL: ExportFormat = {
  name: "claw-jsonl",
  selects: "path",
  compacts: true,

  async *write(input, losses) {
    const { session } = input;
    const compaction = await findCompaction(input);
    // Required by the format, also for a session without them.
    const needed = {
      session_id: session.id,
      created_at_ms: session.startedAt,
      updated_at_ms: session.updatedAt,
    };
    const meta = { type: "session_meta", version: 1, ...needed, ...clawMeta(session, losses) };
    yield `${JSON.stringify(meta)}\n`;
    if (compaction !== undefined) {
      yield `${JSON.stringify({ type: "compaction", ...compaction.record })}\n`;
    }
    for await (const part of clawParts(input, compaction, losses)) {
      const record = "message" in part ? { type: "message", message: part.message } : part.asked;
      yield `${JSON.stringify(record)}\n`;
    }
  },
};
