/** One line of JSON for each request: what was asked of which route, never what was said. */

import { toWireError } from "../api/error.ts";
import type { Access } from "../model/access.ts";
import { BackscrollError } from "../model/errors.ts";

export interface RequestEvent {
  readonly requestId: string;
  readonly method: string;
  /** The pattern: a path or a query may hold what somebody searched for. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  readonly access: Access | undefined;
  readonly failure: unknown;
}

export type LogRequest = (event: RequestEvent) => void;

/** A failure shows its code; the stack of a bug is shown, too, without its message. */
export function toLogLine(event: RequestEvent, now: Date = new Date()): string {
  const { requestId, method, route, status, ms, access, failure } = event;
  return JSON.stringify({
    time: now.toISOString(),
    level: status >= 500 ? "error" : "info",
    request_id: requestId,
    ...{ method, route, status, ms },
    tenant: access?.tenant ?? null,
    token: access?.tokenId ?? null,
    ...(failure === undefined ? {} : { code: toWireError(failure).error.code }),
    ...(isBug(failure) ? { stack: stackOf(failure) } : {}),
  });
}

function isBug(failure: unknown): failure is Error {
  return failure instanceof Error && !BackscrollError.is(failure);
}

/** The first line of a stack is the message, which may hold anything. */
function stackOf(error: Error): string[] {
  return (error.stack ?? "")
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .map((line) => line.trim());
}
