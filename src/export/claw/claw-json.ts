/** claw-code's sessions as one JSON object: version 1, or the one that the imported file named. */

import type { JsonObject } from "../../model/json.ts";
import type { ExportFormat } from "../format.ts";
import { clawMeta, clawParts, findCompaction } from "./claw-session.ts";

export const CLAW_JSON: ExportFormat = {
  name: "claw-json",
  selects: "path",
  compacts: true,

  async *write(input, losses) {
    const compaction = await findCompaction(input);
    const asked: JsonObject[] = [];
    const { version = 1, ...meta } = clawMeta(input.session, losses);
    yield `{\n  "version": ${JSON.stringify(version)},\n  "messages": [`;
    let before = "\n    ";
    for await (const part of clawParts(input, compaction, losses)) {
      if ("message" in part) {
        yield before + JSON.stringify(part.message);
        before = ",\n    ";
      } else asked.push(part.asked);
    }
    yield before === "\n    " ? "]" : "\n  ]";
    const rest: JsonObject = {
      ...(compaction === undefined ? {} : { compaction: compaction.record }),
      ...meta,
      ...(asked.length === 0 ? {} : { prompt_history: asked }),
    };
    for (const [name, value] of Object.entries(rest)) {
      yield `,\n  ${JSON.stringify(name)}: ${JSON.stringify(value)}`;
    }
    yield "\n}\n";
  },
};
