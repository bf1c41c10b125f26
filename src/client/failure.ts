/** Maps network failures and server errors to `BackscrollError`. */

import { fromWireError, type WireError } from "../api/error.ts";
import { BackscrollError, type ErrorCode } from "../model/errors.ts";
import { isPlainObject } from "../model/json.ts";

/** Transient errors. */
const PASSING: readonly ErrorCode[] = [
  "rate_limited",
  "request_timeout",
  "store_busy",
  "store_unavailable",
  "store_closed",
];

export function isPassing(error: unknown): error is BackscrollError {
  return BackscrollError.is(error) && PASSING.includes(error.code);
}

/** No complete answer: the outcome of the request is unknown. */
export function lostConnection(address: string, cause: unknown): BackscrollError {
  return new BackscrollError(
    "store_unavailable",
    `the server at ${address} does not answer (${reasonOf(cause)}); is it running, and is the address right?`,
    { details: { address }, cause },
  );
}

export function timedOut(address: string, timeoutMs: number): BackscrollError {
  return new BackscrollError(
    "store_unavailable",
    `the server at ${address} has not answered within ${timeoutMs} ms; try again, or allow more time`,
    { details: { address, timeoutMs } },
  );
}

/** The caller's own signal; only model calls have one. */
export function stopped(signal: AbortSignal): BackscrollError {
  return new BackscrollError("model_failed", "the call was stopped", {
    details: { kind: "aborted" },
    cause: signal.reason,
  });
}

export function connectionClosed(): BackscrollError {
  return new BackscrollError("store_closed", "the connection was closed");
}

export function notOurs(address: string, what = "unexpected answer"): BackscrollError {
  return new BackscrollError(
    "foreign_database",
    `${address} is not a Backscroll server (${what}); check the address, the port and any proxy in between`,
    { details: { address } },
  );
}

/** The error of an answer. */
export async function toError(response: Response, address: string): Promise<Error> {
  const { status } = response;
  const text = await response.text();
  const problem = parseProblem(text);
  const retryAfterMs = retryAfter(response.headers);
  if (problem === undefined) {
    if (![429, 502, 503, 504].includes(status)) return notOurs(address, `HTTP ${status}`);
    const message = `${address} answers with HTTP ${status}; a proxy in front of the server cannot reach it now`;
    return new BackscrollError("store_unavailable", message, {
      details: { address, status, ...retryAfterMs },
    });
  }
  if (problem.error.code === "internal_error") {
    const id = response.headers.get("x-request-id") ?? "none";
    return new Error(`the server at ${address} has failed: look for request ${id} in its log`);
  }
  return fromWireError(problem, retryAfterMs);
}

function parseProblem(text: string): WireError | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isPlainObject(value) || typeof value["code"] !== "string") return undefined;
    const { code, detail, details } = value;
    return {
      error: { code, message: String(detail ?? code), details: details ?? {} },
    } as WireError;
  } catch {
    return undefined;
  }
}

function retryAfter(headers: Headers): { readonly retryAfterMs?: number } {
  const text = headers.get("retry-after");
  if (text === null) return {};
  const ms = /^\d{1,6}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? { retryAfterMs: Math.max(0, ms) } : {};
}

interface NodeError {
  readonly code: string;
  readonly message: string;
}

/** `fetch` gives only a general message; the reason is in its cause. */
function reasonOf(error: unknown): string {
  const { cause, message } = (error ?? {}) as { cause?: Partial<NodeError>; message?: string };
  const reasons = [cause?.code, cause?.message, message];
  return reasons.find((reason) => typeof reason === "string" && reason !== "") ?? "no reason given";
}
