/** Sessions of a server in other formats. */

import type { Connection } from "./connection.ts";
import { at, toQuery } from "./request.ts";

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
