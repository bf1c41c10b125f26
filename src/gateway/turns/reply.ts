/**
 * From a channel's message to the reply: route, store, answer.
 *
 * A channel redelivers unacknowledged messages, so look for a stored answer before calling the
 * model. A lease makes a session answer one message at a time across processes: two concurrent
 * answers would each see half of the other.
 */

import { textOf } from "../../model/block.ts";
import { type Entry, replyToOf } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import { checkFields } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { SHORT_LEASE_MS } from "../../model/lease.ts";
import type { FailureKind } from "../../providers/model-failure.ts";
import { DEFAULT_STEPS } from "../generate/generate-options.ts";
import type { InboundMessage, InboundResult, InboundTurn } from "../inbound-message.ts";
import type { GatewayAnswer, GatewayGenerateInput } from "./answer-turn.ts";

/** As for `generate`, without the message's own fields. */
export type ReplyOptions = Omit<
  GatewayGenerateInput,
  "conversationId" | "message" | "replyTo" | "from" | "heartbeat" | "idempotencyKey" | "metadata"
>;

export type ReplyReason =
  /** A model has answered, now or at an earlier delivery. */
  | "answered"
  /** The answer is silent. */
  | "silent"
  /** The route's `sendPolicy` is `deny`. */
  | "denied"
  /** The gateway answered a command. */
  | "command"
  /** The message is empty. */
  | "empty"
  /** Redelivered after a reset, or after the message or its answer was erased. */
  | "repeated"
  /** No model is configured. */
  | "no_model";

export interface GatewayReply {
  readonly inbound: InboundResult;
  /** The text to send, from the agent or the gateway; null: none. */
  readonly reply: string | null;
  readonly reason: ReplyReason;
  readonly silent: boolean;
  /** Further messages to send; see `GatewayAnswer`. */
  readonly notices: readonly string[];
  readonly thoughts: readonly string[];
  /** The model's last message, as stored; null without a model call. */
  readonly entry: Entry | null;
}

/** The gateway's parts that a reply needs. */
export interface ReplyParts {
  readonly inbound: (message: InboundMessage) => Promise<InboundResult>;
  readonly generate: (input: GatewayGenerateInput) => Promise<GatewayAnswer>;
  readonly isAnswering: boolean;
  readonly instructions: string | null;
}

/**
 * Stores the message before the model call. Throws the model's errors, with session and entry in
 * their details; a redelivery or `generate` retries.
 */
export async function replyTo(
  parts: ReplyParts,
  message: InboundMessage,
  options: ReplyOptions,
): Promise<GatewayReply> {
  checkFields(options, "options", INPUTS["gateway.reply"]);
  const inbound = await parts.inbound({ ...message, append: true });
  if (inbound.answer !== null) return said(inbound, "command", inbound.answer);
  if (inbound.entry === null) return nothing(inbound, "empty");
  if (!parts.isAnswering && options.model === undefined) return nothing(inbound, "no_model");
  const { entry } = inbound;
  try {
    return await answerInTurn(parts, message, inbound, entry, options);
  } catch (error) {
    throw locate(error, entry);
  }
}

/** How long a message waits for earlier answers: no channel waits longer. */
const PATIENCE_MS = 300_000;

async function answerInTurn(
  parts: ReplyParts,
  message: InboundMessage,
  inbound: InboundTurn,
  entry: Entry,
  { signal, ...options }: ReplyOptions,
): Promise<GatewayReply> {
  const { session } = inbound;
  let outcome: GatewayReply | undefined;
  let failure: unknown;
  const claim = {
    durationMs: SHORT_LEASE_MS,
    patienceMs: PATIENCE_MS,
    ...(signal === undefined ? {} : { signal }),
  };
  await session.holdLease("reply", claim, async (working) => {
    failure = undefined;
    try {
      const before = await readReply(inbound, entry);
      const more = { ...options, signal: working };
      outcome =
        replyOf(inbound, entry, before, options.maxSteps ?? DEFAULT_STEPS) ??
        (await answer(parts, message, inbound, { entry, attempt: attemptAfter(before) }, more));
    } catch (error) {
      failure = error;
    }
  });
  if (failure !== undefined) throw failure;
  if (outcome !== undefined) return outcome;
  throw signal?.aborted === true
    ? notAnswered("aborted", "the answer was stopped before it began")
    : notAnswered("timeout", "the answers to earlier messages take too long");
}

async function answer(
  parts: ReplyParts,
  { kind = "message" }: InboundMessage,
  inbound: InboundTurn,
  { entry, attempt }: { readonly entry: Entry; readonly attempt: number },
  options: ReplyOptions,
): Promise<GatewayReply> {
  const { instructions = parts.instructions } = options;
  const made = await parts.generate({
    ...options,
    ...(instructions === null ? {} : { instructions }),
    conversationId: inbound.session.id,
    heartbeat: kind !== "message",
    replyTo: entry.id,
    metadata: { attempt },
  });
  const { notices, thoughts, silent } = made;
  const more = { notices, thoughts, entry: made.entry };
  if (silent) return { ...nothing(inbound, "silent"), ...more };
  return { ...said(inbound, "answered", made.text), ...more };
}

/** Each step of an answer records its attempt. */
function attemptAfter(before: readonly Entry[]): number {
  return attemptOf(before.at(-1)) + 1;
}

function attemptOf(step: Entry | undefined): number {
  return Number(step?.metadata["attempt"] ?? 0);
}

/** The limit of messages after a message that are searched for its answer. */
const FAR = 2_000;
const PAGE = 200;

/** The steps of all attempts at an answer, in order: they follow the message. */
async function readReply({ session }: InboundTurn, entry: Entry): Promise<readonly Entry[]> {
  if (entry.sessionId !== session.id || entry.index === null) return [];
  const found: Entry[] = [];
  const first = entry.index + 1;
  for (let offset = first; offset < first + FAR; offset += PAGE) {
    const { messages } = await session.listMessages({ offset, limit: PAGE });
    const own = messages.filter((each) => replyToOf(each) === entry.id);
    found.push(...own.filter(({ role }) => role === "assistant"));
    if (messages.length < PAGE) break;
  }
  return found;
}

/** The stored reply. An unfinished attempt is none. */
function replyOf(
  inbound: InboundTurn,
  entry: Entry,
  before: readonly Entry[],
  maxSteps: number,
): GatewayReply | undefined {
  const last = before.at(-1);
  // Erased messages are neither answered nor repeated.
  if (entry.erased) return nothing(inbound, "repeated");
  if (last === undefined) {
    return entry.sessionId === inbound.session.id ? undefined : nothing(inbound, "repeated");
  }
  const steps = before.filter((step) => attemptOf(step) === attemptOf(last));
  const isEnd = !last.blocks.some(({ type }) => type === "tool_use") || steps.length >= maxSteps;
  if (!isEnd) return undefined;
  if (steps.some(({ erased }) => erased)) return nothing(inbound, "repeated");
  const heard = steps.filter(({ metadata }) => metadata["silent"] !== true);
  const text = heard.map(({ blocks }) => textOf(blocks)).join("");
  const isSilent = last.metadata["silent"] === true && text === "";
  const reply = isSilent ? nothing(inbound, "silent") : said(inbound, "answered", text);
  return { ...reply, entry: last };
}

function said(inbound: InboundResult, reason: ReplyReason, text: string): GatewayReply {
  if (!inbound.deliver) return nothing(inbound, "denied");
  return { ...nothing(inbound, reason), reply: text };
}

function nothing(inbound: InboundResult, reason: ReplyReason): GatewayReply {
  const silent = reason === "silent";
  return { inbound, reply: null, reason, silent, notices: [], thoughts: [], entry: null };
}

function notAnswered(kind: FailureKind, message: string): BackscrollError {
  return new BackscrollError("model_failed", message, { details: { kind } });
}

/** Adds the place of the unanswered message to the error. */
function locate(error: unknown, { id, sessionId }: Entry): unknown {
  if (!BackscrollError.is(error)) return error;
  const details = { ...error.details, sessionId, entryId: id };
  return new BackscrollError(error.code, `${error.message}; the message is stored`, {
    details,
    cause: error,
  });
}
