/** The thread, namespace and checkpoint of a call's configuration. */

import { BackscrollError } from "../../model/errors.ts";
import { checkPart, type Line } from "./keys.ts";
import type { GraphConfig } from "./sdk-types.ts";

/** Undefined if it names no thread. */
export function lineOf({ configurable = {} }: GraphConfig): Line | undefined {
  const { thread_id: thread, checkpoint_ns: ns = "" } = configurable;
  if (thread === undefined) return undefined;
  return { thread: checkPart(thread, "thread_id"), ns: checkPart(ns, "checkpoint_ns") };
}

export function requireLine(config: GraphConfig): Line {
  const line = lineOf(config);
  if (line === undefined || line.thread === "") throw missing("thread_id");
  return line;
}

/** `thread_ts` is its older name. */
export function checkpointIdOf({ configurable = {} }: GraphConfig): string | undefined {
  const id: unknown = configurable["checkpoint_id"] || configurable["thread_ts"] || undefined;
  return id === undefined ? undefined : checkPart(id, "checkpoint_id");
}

export function configOf({ thread, ns }: Line, id: string): GraphConfig {
  return { configurable: { thread_id: thread, checkpoint_ns: ns, checkpoint_id: id } };
}

export function missing(field: string): BackscrollError {
  return new BackscrollError(
    "invalid_input",
    `configurable.${field} is missing; give it with the call: { configurable: { ${field}: "…" } }`,
    { details: { field } },
  );
}
