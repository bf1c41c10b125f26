/** The log as JSON lines: requests by route, and errors; never content. */

import { toWireError } from "../api/error.ts";
import type { Access } from "../model/access.ts";
import { BackscrollError } from "../model/errors.ts";

export interface RequestEvent {
  readonly requestId: string;
  readonly method: string;
  /** The route's pattern: paths and queries may hold search terms. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  readonly access: Access | undefined;
  readonly failure: unknown;
}

export type LogRequest = (event: RequestEvent) => void;

/** A failure has its code; a bug also its stack, without its message. */
export function toLogLine(event: RequestEvent, now: Date = new Date()): string {
  const { requestId, method, route, status, ms, access, failure } = event;
  return JSON.stringify({
    time: now.toISOString(),
    level: status >= 500 ? "error" : "info",
    request_id: requestId,
    method,
    route,
    status,
    ms,
    tenant: access?.tenant ?? null,
    token: access?.tokenId ?? null,
    ...(failure === undefined ? {} : { code: toWireError(failure).error.code }),
    ...(isBug(failure) ? { stack: stackOf(failure) } : {}),
  });
}

/** Errors outside of requests, such as in maintenance: their place, never content. */
export function toErrorLine(error: unknown, now: Date = new Date()): string {
  return JSON.stringify({
    time: now.toISOString(),
    level: "error",
    code: toWireError(error).error.code,
    stack: error instanceof Error ? stackOf(error) : [],
  });
}

function isBug(failure: unknown): failure is Error {
  return failure instanceof Error && !BackscrollError.is(failure);
}

/**
 * A stack begins with the message, which may hold anything, also lines that look like a stack's. A
 * stack that begins otherwise is dropped, because the end of its message is unknown.
 */
function stackOf({ stack = "", message }: Error): string[] {
  // Node writes `TypeError [ERR_CODE]: the message`, and the name alone if there is no message.
  const name = /^[\w$.]+(?: \[\w+\])?(?:: )?/.exec(stack)?.[0] ?? "";
  if (!stack.startsWith(message, name.length)) return [];
  return stack
    .slice(name.length + message.length)
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .map((line) => line.trim());
}
