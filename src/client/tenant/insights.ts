/** Aggregates of a server over sessions: facets and reviews, and resume commands. */

import { fromWireReview, type WireReview } from "../../api/page/review.ts";
import type { Facets, FacetsInput } from "../../engine/sessions/facets.ts";
import type { Review } from "../../model/review.ts";
import type { ReviewInput } from "../../recap/review.ts";
import type { ResumeCommand } from "../../transfer/resume-command.ts";
import type { Connection } from "../connection.ts";
import { at, known, toBody, toQuery, toTimes } from "../request.ts";

export async function countFacets(connection: Connection, input: FacetsInput): Promise<Facets> {
  const { since, until, signal, ...rest } = known("facets", input);
  return connection.call<Facets>({
    method: "POST",
    path: "/v1/facets",
    repeatable: true,
    body: toBody({ ...rest, ...toTimes({ since, until }) }),
    ...(signal === undefined ? {} : { signal }),
  });
}

export async function reviewSessions(connection: Connection, input: ReviewInput): Promise<Review> {
  const { since, until, ...rest } = known("reviewSessions", input);
  const query = toQuery({ ...rest, ...toTimes({ since, until }) });
  const call = { method: "GET", path: "/v1/review", query } as const;
  return fromWireReview(await connection.call<WireReview>(call));
}

export function readResumeCommand(connection: Connection, id: string): Promise<ResumeCommand> {
  return connection.call<ResumeCommand>({ method: "GET", path: at`/v1/sessions/${id}/resume` });
}

export interface ExportOptions {
  /** One of the names that `backscroll export --help` lists. */
  readonly format: string;
  /** A leaf other than the active one. */
  readonly leaf?: string;
  /** Leaves secrets unmasked. Default false. */
  readonly raw?: boolean;
  readonly signal?: AbortSignal;
}

export function exportSession(
  connection: Connection,
  id: string,
  { signal = new AbortController().signal, ...query }: ExportOptions,
): Promise<ReadableStream<Uint8Array>> {
  const path = at`/v1/sessions/${id}/export`;
  const headers = { accept: "*/*" };
  return connection.stream({ method: "GET", path, query: toQuery(query), headers, signal });
}
