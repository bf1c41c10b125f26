/** Messages between the host and its storage threads. */

import { BackscrollError, type ErrorCode, type ErrorDetails } from "../../../model/errors.ts";
import type { ReadName, WriteName } from "../operations/index.ts";
import type { ExecutorOptions } from "./executor.ts";

export interface ThreadData extends ExecutorOptions {
  readonly role: "writer" | "reader" | "indexer";
}

export type RequestName =
  | WriteName
  | ReadName
  | (typeof CHECKPOINT | typeof CLOSE | typeof SEARCH | typeof MAINTAIN | typeof STOP);

export interface Request {
  readonly id: number;
  readonly name: RequestName;
  readonly args: readonly unknown[];
}

/** Batches concurrent requests: waking a thread costs more than a small read. */
export interface Requests {
  readonly requests: readonly Request[];
}

/** Names of requests that are not operations. */
export const CHECKPOINT = "checkpoint";
export const CLOSE = "close";
export const SEARCH = "search";
export const MAINTAIN = "maintain";
export const STOP = "stop";

export type Reply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: Failure };

/** Batched replies; `walLarge` asks the host for a checkpoint. */
export interface Replies {
  readonly replies: readonly Reply[];
  readonly walLarge: boolean;
}

/** An error as plain data: structured clone loses its class. */
export type Failure =
  | {
      readonly code: ErrorCode;
      readonly message: string;
      readonly details: ErrorDetails;
      readonly cause: unknown;
    }
  | { readonly error: unknown };

export function toFailure(error: unknown): Failure {
  if (!BackscrollError.is(error)) return { error };
  return { code: error.code, message: error.message, details: error.details, cause: error.cause };
}

export function fromFailure(failure: Failure): unknown {
  if ("error" in failure) return failure.error;
  const { details, cause } = failure;
  return new BackscrollError(failure.code, failure.message, { details, cause });
}
