/** What the editor noted of each call of the model: when, which model, and what it took. */

import type { Usage } from "../../model/entry.ts";
import { isPlainObject } from "../../model/json.ts";
import { costField, countField, type Fields, textField, timeField } from "../fields.ts";
import { parseJson } from "../json-file.ts";

export interface ModelCall {
  readonly at: number | null;
  readonly usage: Usage | null;
  readonly model: string | null;
  readonly cost?: number;
}

/** In the order of the calls. `models` says from when on which model was used. */
export function readCalls(shown: unknown, models: unknown): ModelCall[] {
  const changes = listOf(models).map((change) => ({
    from: timeField(change, "ts") ?? 0,
    model: textField(change, "model_id") ?? null,
  }));
  return listOf(shown)
    .filter(({ say }) => say === "api_req_started")
    .flatMap((record): ModelCall[] => {
      const request = parseJson(textField(record, "text") ?? "");
      if (!isPlainObject(request) || isAborted(request)) return [];
      const at = timeField(record, "ts");
      const model = changes.findLast(({ from }) => from <= (at ?? 0) + SAME_MS)?.model ?? null;
      return [{ at, usage: toUsage(request), model, ...costField(request, "cost") }];
    });
}

/** The model is noted when its call begins, a moment after the call itself. */
const SAME_MS = 1000;

/** A call that was given up before it answered has no message. */
function isAborted(request: Fields): boolean {
  return textField(request, "cancelReason") === "retries_exhausted";
}

function toUsage(request: Fields): Usage | null {
  const usage = {
    inputTokens: countField(request, "tokensIn") ?? 0,
    outputTokens: countField(request, "tokensOut") ?? 0,
    cacheCreationTokens: countField(request, "cacheWrites") ?? 0,
    cacheReadTokens: countField(request, "cacheReads") ?? 0,
  };
  return Object.values(usage).some((count) => count > 0) ? usage : null;
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isPlainObject) : [];
}
