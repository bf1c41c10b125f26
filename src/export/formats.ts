/** The export formats, and the export call. */

import { BackscrollError } from "../model/errors.ts";
import { ATIF } from "./atif.ts";
import { CLAW_JSON, CLAW_JSONL } from "./claw.ts";
import type { ExportFormat, ExportInput } from "./format.ts";
import { type Loss, LossLog } from "./format.ts";
import { HTML, MARKDOWN } from "./page.ts";
import { PI_JSONL } from "./pi-jsonl.ts";

export const FORMATS: readonly ExportFormat[] = [
  CLAW_JSON,
  CLAW_JSONL,
  PI_JSONL,
  ATIF,
  MARKDOWN,
  HTML,
];

export interface ExportedSession {
  readonly chunks: AsyncIterable<string>;
  /** Complete once the chunks are read. */
  readonly losses: () => readonly Loss[];
}

export function findFormat(name: string): ExportFormat {
  const found = FORMATS.find((format) => format.name === name);
  if (found !== undefined) return found;
  const names = FORMATS.map((format) => format.name).join(", ");
  throw new BackscrollError("invalid_input", `there is no format ${name}; known are ${names}`, {
    details: { field: "format" },
  });
}

export function exportSession(format: ExportFormat, input: ExportInput): ExportedSession {
  const losses = new LossLog();
  losses.add("branches", input.branchesLeftOut);
  return { chunks: format.write(input, losses), losses: () => losses.all };
}
