/**
 * The keys of a thread's records. Within a kind they are ordered by thread and namespace; checkpoints
 * and writes then from the newest checkpoint to the oldest, so that the newest one is a page of one record.
 */

import { BackscrollError } from "../../model/errors.ts";
import { describe } from "../../model/json.ts";
import { escaped, plain } from "../common/records.ts";
import type { GraphConfig } from "./sdk-types.ts";

/** A thread, and a graph or subgraph of it. */
export interface Line {
  readonly thread: string;
  /** Empty for the graph itself. */
  readonly ns: string;
}

export function checkpointKey(line: Line, checkpointId: string): string {
  return `${checkpointsOf(line)}${descending(checkpointId)}`;
}

/** The prefix of a line's checkpoints, of those of a thread, or of all. */
export function checkpointsOf(place: Partial<Line>): string {
  return prefix("c", place);
}

export function writesKey(line: Line, checkpointId: string, taskId: string): string {
  return `${writesOf(line, checkpointId)}${escaped(taskId)}`;
}

export function writesOf(line: Line, checkpointId: string): string {
  return `${prefix("w", line)}${descending(checkpointId)}/`;
}

export function valueKey(line: Line, id: string): string {
  return `${valuesOf(line)}${id}`;
}

export function valuesOf(place: Partial<Line>): string {
  return prefix("v", place);
}

/** The prefixes of all records of a thread. */
export function keysOf(thread: string): readonly string[] {
  return ["c", "w", "v"].map((kind) => prefix(kind, { thread }));
}

/** The thread, the namespace and the checkpoint that a checkpoint's key names. */
export function readCheckpointKey(key: string): Line & { readonly id: string } {
  const [, thread = "", ns = "", id = ""] = key.split("/");
  return { thread: plain(thread), ns: plain(ns), id: ascending(id) };
}

export function taskOf(writesKey: string): string {
  return plain(writesKey.slice(writesKey.lastIndexOf("/") + 1));
}

function prefix(kind: string, { thread, ns }: Partial<Line>): string {
  if (thread === undefined) return `${kind}/`;
  return ns === undefined
    ? `${kind}/${escaped(thread)}/`
    : `${kind}/${escaped(thread)}/${escaped(ns)}/`;
}

/**
 * An order-reversing encoding: ascending keys are texts in descending order. The end sorts after
 * every digit.
 */
function descending(text: string): string {
  return `${Buffer.from(Buffer.from(text).map(inverse)).toString("hex")}~`;
}

function ascending(text: string): string {
  return Buffer.from(Buffer.from(text.slice(0, -1), "hex").map(inverse)).toString();
}

function inverse(byte: number): number {
  return 255 - byte;
}

/** Throws `invalid_input` for anything but text that a key can hold. */
export function checkPart(value: unknown, field: string): string {
  if (typeof value === "string" && value.isWellFormed()) return value;
  throw new BackscrollError(
    "invalid_input",
    `configurable.${field} must be a string, not ${describe(value)}`,
    { details: { field } },
  );
}

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
