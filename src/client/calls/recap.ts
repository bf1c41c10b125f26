/** Recaps, related sessions and traces, computed by the server in one request. */

import type { Recap, RecapInput } from "../../recap/recap.ts";
import type { Related, RelatedInput } from "../../recap/related.ts";
import type { Trace, TraceInput } from "../../recap/trace.ts";
import { fromWireRecap, type WireRecap } from "../../recap/wire/wire-recap.ts";
import { fromWireRelated, type WireRelated } from "../../recap/wire/wire-related.ts";
import { fromWireTrace, type WireTrace } from "../../recap/wire/wire-trace.ts";
import type { Connection } from "../connection.ts";
import { known, toBody, toQuery, toTimes } from "../request.ts";

export async function recapSessions(connection: Connection, input: RecapInput): Promise<Recap> {
  const { since, until, ...rest } = known("recapSessions", input);
  const query = toQuery({ ...rest, ...toTimes({ since, until }) });
  return fromWireRecap(
    await connection.call<WireRecap>({ method: "GET", path: "/v1/recap", query }),
  );
}

export async function relatedSessions(
  connection: Connection,
  input: RelatedInput,
): Promise<Related> {
  const query = toQuery(known("relatedSessions", input));
  const call = { method: "GET", path: "/v1/related", query } as const;
  return fromWireRelated(await connection.call<WireRelated>(call));
}

export async function traceWork(connection: Connection, input: TraceInput): Promise<Trace> {
  const { since, until, ...rest } = known("traceWork", input);
  const body = toBody({ ...rest, ...toTimes({ since, until }) });
  const call = { method: "POST", path: "/v1/trace", body, repeatable: true } as const;
  return fromWireTrace(await connection.call<WireTrace>(call));
}
