/** The editor's log of model calls: time, model, usage. */

import type { Usage } from "../../model/entry.ts";
import { isPlainObject } from "../../model/json.ts";
import { readDocument } from "../document/json-document.ts";
import { costField, countField, type Fields, textField, timeField } from "../fields.ts";
import { parseJson } from "../json-file.ts";
import { splitLines } from "../lines.ts";
import { ProblemLog } from "../problems.ts";

export interface ModelCall {
  readonly at: number | null;
  readonly usage: Usage | null;
  readonly model: string | null;
  readonly cost?: number;
}

export interface Shown {
  /** The first record; empty if there is none. */
  readonly first: Fields;
  /** In their order. */
  readonly calls: readonly ModelCall[];
}

/** Parses `bytes`, the list that the editor shows. `models`: the model in use from each time on. */
export async function readShown(bytes: Uint8Array | undefined, models: unknown): Promise<Shown> {
  const changes = (Array.isArray(models) ? models.filter(isPlainObject) : []).map((change) => ({
    from: timeField(change, "ts") ?? 0,
    model: textField(change, "model_id") ?? null,
  }));
  const modelAt = (at: number | null) =>
    changes.findLast(({ from }) => from <= (at ?? 0) + SAME_MS)?.model ?? null;
  let first: Fields | undefined;
  const calls: ModelCall[] = [];
  for await (const record of readList(bytes)) {
    if (!isPlainObject(record)) continue;
    first ??= record;
    if (record["say"] === "api_req_started") calls.push(...toCall(record, modelAt));
  }
  return { first: first ?? {}, calls };
}

async function* readList(bytes: Uint8Array | undefined): AsyncGenerator<unknown> {
  if (bytes === undefined) return;
  const input = { lines: splitLines([bytes]), bytes: [bytes], isRepeatable: true };
  // Damage in this file is not reported as the transcript's.
  const problems = new ProblemLog();
  const document = await readDocument(input, "messages", problems);
  if (Array.isArray(document?.frame)) yield* document.elements(problems);
}

function toCall(record: Fields, modelAt: (at: number | null) => string | null): ModelCall[] {
  const at = timeField(record, "ts");
  const request = parseJson(textField(record, "text") ?? "");
  // It counts, readable or not, so that later ones keep their answers.
  if (!isPlainObject(request)) return [{ at, usage: null, model: modelAt(at) }];
  if (isAborted(request)) return [];
  return [{ at, usage: toUsage(request), model: modelAt(at), ...costField(request, "cost") }];
}

/** The model is recorded a moment after its call begins. */
const SAME_MS = 1000;

/** A call aborted before its answer has no message. */
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
