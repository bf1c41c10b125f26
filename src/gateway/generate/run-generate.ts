/**
 * From a message to an answer, with everything stored on the way.
 *
 * The user's message is stored before the model is called. Tool calls and their results are stored
 * together once the results exist. An abort before that leaves an aborted message with the calls,
 * outside of the conversation: nothing is committed after an abort. A process that dies between the
 * two writes leaves a gap, which contexts repair.
 */

import type { MessageInput } from "../../engine/message-input.ts";
import type { TenantEngine } from "../../engine/tenant-engine.ts";
import type { Entry, Usage } from "../../model/entry.ts";
import { checkFields, checkMethods } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import type { EventListener, GatewayEvent } from "../compaction/events.ts";
import { askStep } from "./ask-step.ts";
import type { GenerateInput, GeneratePart, GenerateResult } from "./generate-input.ts";
import { checkGenerate, type GenerateOptions } from "./generate-options.ts";
import { runTools, stoppedResult, type ToolResult } from "./run-tools.ts";
import { stopped, type WrittenAnswer } from "./write-answer.ts";

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
