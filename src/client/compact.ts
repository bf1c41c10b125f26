/** Compaction of a remote session. Hooks are replaced by options. */

import { fromWire } from "../api/shape.ts";
import type { CompactionPlan } from "../compaction/plan.ts";
import type { CompactionResult } from "../engine/compaction/compact.ts";
import type { CompactInput } from "../engine/compaction/compact-options.ts";
import { COMPACTION_PLAN, COMPACTION_RESULT } from "../model/answers/context.ts";
import type { Connection } from "./connection.ts";
import { at, keyHeader, known, refuseCode, toBody } from "./request.ts";

const CODE = ["summarizer", "before"] as const;

export async function compact(
  connection: Connection,
  sessionId: string,
  input: CompactInput,
): Promise<CompactionResult> {
  refuseCode(known("compact", input), CODE);
  const { signal, idempotencyKey, ...options } = input;
  const result = await connection.call({
    method: "POST",
    path: at`/v1/sessions/${sessionId}/compact`,
    body: toBody(options),
    // A key is stored in the compaction permanently, so none is generated.
    ...(idempotencyKey === undefined ? {} : { headers: keyHeader(idempotencyKey) }),
    slow: true,
    ...(signal === undefined ? {} : { signal }),
  });
  return fromWire(COMPACTION_RESULT, result);
}

export async function planCompaction(
  connection: Connection,
  sessionId: string,
  input: CompactInput,
): Promise<CompactionPlan | null> {
  refuseCode(known("compact", input), CODE);
  const { signal: _, idempotencyKey: __, ...options } = input;
  const { plan } = await connection.call<{ readonly plan: unknown }>({
    method: "POST",
    path: at`/v1/sessions/${sessionId}/compact/plan`,
    repeatable: true,
    body: toBody(options),
  });
  return plan === null ? null : fromWire(COMPACTION_PLAN, plan);
}
