/**
 * Runs the tool calls of a model.
 *
 * Every stored call gets a result: exceptions, invalid input, aborted calls and unknown tools
 * become error results.
 */

import type { ToolCallPart } from "../../context/chat-model.ts";
import { messageOf } from "../../model/errors.ts";
import type { ToolResultInput } from "../../transcript/normalize.ts";
import type { GenerateTool } from "./generate-input.ts";

export interface ToolRun {
  readonly tools: Readonly<Record<string, GenerateTool>>;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

export interface ToolResult extends ToolResultInput {
  readonly name: string;
  readonly output: string;
  readonly isError: boolean;
}

/** Longer results are cut in the middle, with a mark. */
const MAX_RESULT_BYTES = 64 * 1024;

/** Runs all calls in parallel; results are in the order of the calls. Never rejects. */
export function runTools(calls: readonly ToolCallPart[], run: ToolRun): Promise<ToolResult[]> {
  return Promise.all(calls.map((call) => runTool(call, run)));
}

/** The result of a call that was not run or whose outcome is unknown. */
export function stoppedResult({ id, name }: Pick<ToolCallPart, "id" | "name">): ToolResult {
  return { id, name, output: "The call was stopped before it had a result.", isError: true };
}

async function runTool(call: ToolCallPart, run: ToolRun): Promise<ToolResult> {
  const { id, name, problem } = call;
  const failed = (output: string) => ({ id, name, output, isError: true });
  if (problem !== undefined) return failed(problem);
  const tool = Object.hasOwn(run.tools, name) ? run.tools[name] : undefined;
  if (tool?.execute === undefined) return failed(`There is no tool ${name} here.`);
  if (run.signal.aborted) return stoppedResult(call);
  const timeout = AbortSignal.timeout(run.timeoutMs);
  const stop = AbortSignal.any([run.signal, timeout]);
  try {
    const options = { toolCallId: id, abortSignal: stop, messages: [], context: {} as never };
    const output = await untilStopped(stop, tool.execute(call.value as never, options));
    return { id, name, output: cut(toText(output)), isError: false };
  } catch (error) {
    if (run.signal.aborted) return stoppedResult(call);
    if (timeout.aborted) return failed(`The tool took longer than ${run.timeoutMs} ms.`);
    return failed(cut(messageOf(error)) || "The tool failed.");
  }
}

/** A tool that ignores the signal is abandoned. A generator's last value counts. */
async function untilStopped(stop: AbortSignal, running: unknown): Promise<unknown> {
  let leave = () => {};
  const stopped = new Promise<never>((_, reject) => {
    leave = () => reject(stop.reason);
    stop.addEventListener("abort", leave, { once: true });
  });
  try {
    return await Promise.race([lastOf(running), stopped]);
  } finally {
    stop.removeEventListener("abort", leave);
  }
}

async function lastOf(running: unknown): Promise<unknown> {
  const value = await running;
  if (typeof value !== "object" || value === null || !(Symbol.asyncIterator in value)) return value;
  let last: unknown;
  for await (const part of value as AsyncIterable<unknown>) last = part;
  return last;
}

function toText(output: unknown): string {
  if (typeof output === "string") return output;
  if (output === undefined) return "";
  // A value outside JSON (a cycle, a BigInt) fails the call, and the model gets the error.
  return JSON.stringify(output) ?? String(output);
}

function cut(text: string): string {
  const bytes = Buffer.from(text.toWellFormed());
  if (bytes.length <= MAX_RESULT_BYTES) return text.toWellFormed();
  const half = MAX_RESULT_BYTES / 2 - 64;
  const whole = (part: Buffer) => part.toString().replace(/^\uFFFD+|\uFFFD+$/g, "");
  const left = bytes.length - 2 * half;
  return `${whole(bytes.subarray(0, half))}\n[${left} bytes left out]\n${whole(bytes.subarray(-half))}`;
}
