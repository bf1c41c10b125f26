/**
 * From a message to an answer, with everything stored on the way.
 *
 * The user's message is stored before the model is called. Tool calls and their results are stored
 * together once the results exist. An abort before that leaves an aborted message with the calls,
 * outside of the conversation: nothing is committed after an abort. A process that dies between the
 * two writes leaves a gap, which contexts repair.
 */

import type { ToolCallPart } from "../../context/chat-model.ts";
import type { MessageInput } from "../../engine/message-input.ts";
import type { TenantEngine } from "../../engine/tenant-engine.ts";
import type { Entry, Usage } from "../../model/entry.ts";
import { BackscrollError, messageOf } from "../../model/errors.ts";
import { checkFields, checkMethods } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { MIN_CONTEXT_BUDGET } from "../../model/limits.ts";
import type { ToolResultInput } from "../../transcript/normalize.ts";
import { type EventListener, type GatewayEvent, inputTokens } from "../compaction/decide.ts";
import { type Asked, type Retry, untilItFits } from "../compaction/fit-window.ts";
import {
  checkGenerate,
  type GenerateInput,
  type GenerateOptions,
  type GeneratePart,
  type GenerateResult,
  type GenerateTool,
} from "./generate-options.ts";
import { readContext, readNear, seenBy } from "./read-context.ts";
import { stopped, type WrittenAnswer, writeAnswer } from "./write-answer.ts";

/** `tell` receives every part as it happens. */
export async function runGenerate(
  memory: TenantEngine,
  input: GenerateInput,
  tell: (part: GeneratePart) => void,
): Promise<GenerateResult> {
  checkMethods(memory, "memory", ["session"]);
  checkFields(input, "options", INPUTS.generate);
  const events: GatewayEvent[] = [];
  const tellEvent: EventListener = (event) => {
    events.push(event);
    tell({ type: "event", event });
    input.onEvent?.(event);
  };
  const session = memory.session(input.conversationId);
  await session.meta();
  const options = await checkGenerate(memory, session, input, tellEvent);
  const message = await appendMessage(options);
  if (input.signal?.aborted === true) throw stopped("before it began; the message is stored");
  const supersedes = message === null ? await findStopped(options) : undefined;
  const said = await converse(
    { ...options, replyTo: message?.id ?? input.replyTo, supersedes },
    tell,
    tellEvent,
  );
  const { heartbeat = false, signal } = input;
  const turn = { heartbeat, ...(signal === undefined ? {} : { signal }) };
  const after = await options.compaction.afterTurn(session, undefined, turn);
  // An instance that the host made reports to the host only.
  for (const event of after.events) if (!events.includes(event)) tellEvent(event);
  return { ...said, message, events };
}

async function appendMessage({ input, session, from }: GenerateOptions): Promise<Entry | null> {
  const { message, heartbeat = false, idempotencyKey } = input;
  if (message === undefined) return null;
  return session.append(
    { role: "user", actor: from, content: message, interaction: !heartbeat },
    idempotencyKey === undefined ? {} : { idempotencyKey },
  );
}

/** The limit of answers to one message that are searched for an aborted one. */
const MAX_BEGUN = 50;

/** An aborted answer to the leaf. */
async function findStopped({ session, as }: GenerateOptions): Promise<string | undefined> {
  const { leaf } = await session.meta();
  if (leaf === null) return undefined;
  // Such an answer is on no path, so search the tree behind the leaf.
  const page = { tree: true, after: leaf, limit: MAX_BEGUN, preview: true };
  const { entries } = await session.listEntries(page);
  const begun = entries.findLast(({ status, supersededBy, role, actor, parentId }) => {
    const isStopped = status === "aborted" && supersededBy === null;
    return isStopped && role === "assistant" && actor === as && parentId === leaf;
  });
  return begun?.id;
}

/** Calls the model until it requests no tool or the limit of steps is reached. */
async function converse(
  options: GenerateOptions,
  tell: (part: GeneratePart) => void,
  tellEvent: EventListener,
): Promise<Omit<GenerateResult, "message" | "events">> {
  let usage: Usage = NO_USAGE;
  let text = "";
  for (let steps = 1; ; steps++) {
    const step = steps === 1 ? options : { ...options, supersedes: undefined };
    const answer = await askStep(step, tell, tellEvent);
    text += answer.text;
    usage = addUsage(usage, answer.end.usage);
    if (answer.calls.length === 0) {
      const entry = await answer.commit();
      await answer.afterwards?.();
      const { finishReason } = answer.end;
      return { text, silent: answer.silent && text === "", entry, steps, usage, finishReason };
    }
    const entry = await storeCalls(options, answer, tell);
    if (steps >= options.maxSteps) {
      const silent = answer.silent && text === "";
      return { text, silent, entry, steps, usage, finishReason: "tool-calls" };
    }
  }
}

/** Runs the calls while the message is open, then stores both. After an abort it stores neither. */
async function storeCalls(
  { input, session, tools, toolTimeoutMs }: GenerateOptions,
  answer: WrittenAnswer,
  tell: (part: GeneratePart) => void,
): Promise<Entry> {
  for (const { id, name, input: args } of answer.calls) {
    tell({ type: "tool_call", id, name, input: args });
  }
  const signal = input.signal ?? new AbortController().signal;
  const results = await runTools(answer.calls, { tools, signal, timeoutMs: toolTimeoutMs });
  const entry = await answer.commit();
  try {
    await session.append(results.map(toMessage));
  } catch (error) {
    // The calls are stored. If their results cannot be (too large, say), store error results
    // instead.
    await session.append(answer.calls.map(stoppedResult).map(toMessage)).catch(() => undefined);
    throw error;
  }
  for (const result of results) tell({ type: "tool_result", ...result });
  return entry;
}

function toMessage(result: ToolResult): MessageInput {
  return { role: "tool", toolResults: [result] };
}

const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheCreationTokens: 0,
  cacheReadTokens: 0,
};

function addUsage(sum: Usage, more: Usage | null): Usage {
  if (more === null) return sum;
  return {
    inputTokens: sum.inputTokens + more.inputTokens,
    outputTokens: sum.outputTokens + more.outputTokens,
    cacheCreationTokens: sum.cacheCreationTokens + more.cacheCreationTokens,
    cacheReadTokens: sum.cacheReadTokens + more.cacheReadTokens,
  };
}

/**
 * After an overflow, compacts once and repeats the call with less each time; see `untilItFits`.
 * Other failures are thrown at once.
 */
async function askStep(
  options: GenerateOptions,
  tell: (part: GeneratePart) => void,
  tellEvent: EventListener,
): Promise<WrittenAnswer> {
  const { session, compaction, input, memory, model, fixedTokens, learned } = options;
  const { heartbeat = false, signal } = input;
  const turn = { heartbeat, ...(signal === undefined ? {} : { signal }) };
  let { supersedes } = options;
  const onRetry = async ({ attempt, windowTokens, limitTokens }: Retry) => {
    const numbers = { tokenBudget: limitTokens, contextWindow: windowTokens };
    tellEvent({ type: "overflow_retry", sessionId: session.id, attempt, numbers });
    // One summary suffices: later requests are smaller by their budget.
    if (attempt > 1) return;
    await compaction.makeRoom(session, attempt, windowTokens, { ...turn, limitTokens });
  };
  const { tokenBudget } = options;
  const search = { memory, model: model.name, tokenBudget, fixedTokens, learned, onRetry };
  const fitted = await untilItFits(search, async (budget, below) => {
    const asked = await tryOnce(options, budget, below, supersedes, tell);
    if (asked !== undefined && "failure" in asked) supersedes = asked.aborted ?? supersedes;
    return asked;
  });
  // The requests between left messages out: from now on a summary stands for them.
  if (fitted.learned !== undefined && fitted.attempts > 1 && fitted.answer.calls.length === 0) {
    const { accepted, refused } = fitted.learned;
    const limitTokens = Math.max(MIN_CONTEXT_BUDGET, accepted - fixedTokens);
    fitted.answer.afterwards = async () => {
      await compaction.makeRoom(session, 1, refused, { ...turn, limitTokens });
    };
  }
  return fitted.answer;
}

async function tryOnce(
  options: GenerateOptions,
  tokenBudget: number,
  below: number,
  supersedes: string | undefined,
  tell: (part: GeneratePart) => void,
): Promise<(Asked<WrittenAnswer> & { readonly aborted?: string | undefined }) | undefined> {
  const { input, session, model, tools, contextWindow, silence, as, replyTo } = options;
  if (input.signal?.aborted === true) throw stopped("before the model was called");
  const { filterParticipants } = input;
  const view = filterParticipants === undefined ? {} : { filterParticipants };
  const answered = replyTo === undefined ? {} : { replyTo };
  const wanted = { ...input.context, ...view, ...answered };
  const read = below === Number.POSITIVE_INFINITY ? readContext : readNear;
  const context = await read(session, wanted, tokenBudget, options.tokenBudget);
  const sentTokens = context.tokens + options.fixedTokens;
  if (sentTokens >= below) return undefined;
  const parts = model.stream({
    messages: seenBy(context.messages, as),
    tools,
    ...pick(input, ["instructions", "maxOutputTokens", "temperature", "reasoning"]),
    ...pick(input, ["providerOptions", "signal", "timeoutMs", "maxRetries"]),
  });
  let aborted: string | undefined;
  const settings = {
    session,
    actor: as,
    model: model.name,
    contextWindow,
    silence,
    tell,
    supersedes,
    signal: input.signal,
    metadata: { ...input.metadata, ...answered },
  };
  try {
    const answer = await writeAnswer(parts, settings, (id) => {
      aborted = id;
    });
    if (!isCutOff(answer, contextWindow)) return { answer, sentTokens };
    await answer.abort("overflow");
    const failure = silentOverflow(model.name);
    return { failure, sentTokens, windowTokens: undefined, aborted };
  } catch (error) {
    if (!isOverflow(error)) throw error;
    const told = error.details["windowTokens"];
    const windowTokens = typeof told === "number" ? told : undefined;
    return { failure: error, sentTokens, windowTokens, aborted };
  }
}

/** Silent overflow: the input filled the window, so the answer is empty. */
function isCutOff({ text, calls, silent, end }: WrittenAnswer, contextWindow: number): boolean {
  if (text !== "" || calls.length > 0 || silent || end.usage === null) return false;
  return inputTokens(end.usage) > contextWindow;
}

function isOverflow(error: unknown): error is BackscrollError {
  return BackscrollError.is(error, "model_failed") && error.details["kind"] === "overflow";
}

function silentOverflow(model: string): BackscrollError {
  const message = `the model ${model} gave no answer: the context is too long for it`;
  return new BackscrollError("model_failed", message, { details: { model, kind: "overflow" } });
}

/** The defined fields only. */
function pick<Input extends object, Key extends keyof Input>(
  input: Input,
  keys: readonly Key[],
): { [K in Key]?: Exclude<Input[K], undefined> } {
  const given = keys.filter((key) => input[key] !== undefined).map((key) => [key, input[key]]);
  return Object.fromEntries(given) as { [K in Key]?: Exclude<Input[K], undefined> };
}

/**
 * Runs the tool calls of a model.
 *
 * Every stored call gets a result: exceptions, invalid input, aborted calls and unknown tools
 * become error results.
 */
interface ToolRun {
  readonly tools: Readonly<Record<string, GenerateTool>>;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

interface ToolResult extends ToolResultInput {
  readonly name: string;
  readonly output: string;
  readonly isError: boolean;
}

/** Longer results are cut in the middle, with a mark. */
const MAX_RESULT_BYTES = 64 * 1024;

/** Runs all calls in parallel; results are in the order of the calls. Never rejects. */
function runTools(calls: readonly ToolCallPart[], run: ToolRun): Promise<ToolResult[]> {
  return Promise.all(calls.map((call) => runTool(call, run)));
}

/** The result of a call that was not run or whose outcome is unknown. */
function stoppedResult({ id, name }: Pick<ToolCallPart, "id" | "name">): ToolResult {
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
