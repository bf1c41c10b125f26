/**
 * From a message of a channel to what is to be sent back: taken in, stored, answered.
 *
 * A channel that hears nothing delivers again. So the answer to a message that has an id is looked for
 * before a model is asked, and of two deliveries at once one asks and the other waits for it, in
 * whichever process they are.
 */

import type { SessionHandle } from "../../engine/session-handle.ts";
import { textOf } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { FailureKind } from "../../providers/model-failure.ts";
import type { InboundMessage } from "../inbound-message.ts";
import type { InboundResult, InboundTurn } from "../inbound-result.ts";
import type { GatewayAnswer, GatewayGenerateInput } from "./answer-turn.ts";

/** As for `generate`; what the message says is not asked for again. */
export type ReplyOptions = Omit<
  GatewayGenerateInput,
  "conversationId" | "message" | "from" | "heartbeat" | "idempotencyKey" | "metadata"
>;

export type ReplyReason =
  /** A model has answered, now or when the message was delivered before. */
  | "answered"
  /** The agent has nothing to say. */
  | "silent"
  /** The route's `sendPolicy` is `deny`. */
  | "denied"
  /** The gateway itself has answered. */
  | "command"
  /** There is nothing to answer. */
  | "empty"
  /** Delivered again after another session had begun, and never answered. */
  | "repeated"
  /** Nobody said which model answers. */
  | "no_model";

export interface GatewayReply {
  readonly inbound: InboundResult;
  /** What is to be sent, whoever says it; null: nothing is. */
  readonly reply: string | null;
  readonly reason: ReplyReason;
  readonly silent: boolean;
  /** What else is to be sent, each as a message of its own: see `GatewayAnswer`. */
  readonly notices: readonly string[];
  readonly thoughts: readonly string[];
  /** The last message of the model, as it is stored; null if no model was asked. */
  readonly entry: Entry | null;
}

/** What a gateway does for a reply. */
export interface ReplyParts {
  readonly inbound: (message: InboundMessage) => Promise<InboundResult>;
  readonly generate: (input: GatewayGenerateInput) => Promise<GatewayAnswer>;
  readonly isAnswering: boolean;
  readonly instructions: string | null;
}

/**
 * The message is stored before a model is asked. Throws what the model throws, with the session and the
 * entry in its details: delivered again, or asked for by `generate`, it is answered then.
 */
export async function replyTo(
  parts: ReplyParts,
  message: InboundMessage,
  options: ReplyOptions,
): Promise<GatewayReply> {
  const inbound = await parts.inbound({ ...message, append: true });
  if (inbound.answer !== null) return said(inbound, "command", inbound.answer);
  if (inbound.entry === null) return nothing(inbound, "empty");
  if (!parts.isAnswering && options.model === undefined) return nothing(inbound, "no_model");
  const { entry } = inbound;
  try {
    return message.id === undefined
      ? await answer(parts, message, inbound, entry, options)
      : await answerOnce(parts, message, inbound, entry, options);
  } catch (error) {
    throw locate(error, entry);
  }
}

/** How long others wait for a process that died while it answered. */
const LEASE_MS = 15_000;
/** How long a delivery waits for the answer to an earlier one: no channel waits for longer. */
const PATIENCE_MS = 300_000;

async function answerOnce(
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
    ...{ durationMs: LEASE_MS, patienceMs: PATIENCE_MS },
    ...(signal === undefined ? {} : { signal }),
  };
  await session.holdLease(`reply ${entry.id}`, claim, async (working) => {
    failure = undefined;
    try {
      outcome =
        (await findReply(inbound, entry)) ??
        (await answer(parts, message, inbound, entry, { ...options, signal: working }));
    } catch (error) {
      failure = error;
    }
  });
  if (failure !== undefined) throw failure;
  if (outcome !== undefined) return outcome;
  throw signal?.aborted === true
    ? notAnswered("aborted", "the answer was stopped before it began")
    : notAnswered("timeout", "the answer to an earlier delivery takes too long");
}

async function answer(
  parts: ReplyParts,
  { kind = "message" }: InboundMessage,
  inbound: InboundTurn,
  entry: Entry,
  options: ReplyOptions,
): Promise<GatewayReply> {
  const { instructions = parts.instructions } = options;
  const made = await parts.generate({
    ...options,
    ...(instructions === null ? {} : { instructions }),
    ...{ conversationId: inbound.session.id, heartbeat: kind !== "message" },
    metadata: replyMark(entry),
  });
  const { notices, thoughts, silent } = made;
  const more = { notices, thoughts, entry: made.entry };
  if (silent) return { ...nothing(inbound, "silent"), ...more };
  return { ...said(inbound, "answered", made.text), ...more };
}

/** What an answer keeps: which message it is the answer to. */
function replyMark({ id }: Entry): { readonly replyTo: string } {
  return { replyTo: id };
}

/** A channel that delivers twice does so soon: no more is looked at. */
const NEWEST = 50;

/** The reply that was made before; one that stopped at a tool is none. */
async function findReply(inbound: InboundTurn, entry: Entry): Promise<GatewayReply | undefined> {
  const isElsewhere = entry.sessionId !== inbound.session.id;
  const found = isElsewhere ? [] : await readReply(inbound.session, entry);
  const last = found.at(-1);
  if (last === undefined) return isElsewhere ? nothing(inbound, "repeated") : undefined;
  if (last.blocks.some(({ type }) => type === "tool_use")) return undefined;
  const heard = found.filter(({ metadata }) => metadata["silent"] !== true);
  if (heard.length === 0) return { ...nothing(inbound, "silent"), entry: last };
  const text = heard.map(({ blocks }) => textOf(blocks)).join("");
  return { ...said(inbound, "answered", text), entry: last };
}

async function readReply(session: SessionHandle, { id }: Entry): Promise<Entry[]> {
  const newest = await session.history({ limit: NEWEST });
  return newest.filter(({ role, metadata }) => role === "assistant" && metadata["replyTo"] === id);
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

/** Where the message is that has no answer. */
function locate(error: unknown, { id, sessionId }: Entry): unknown {
  if (!BackscrollError.is(error)) return error;
  const details = { ...error.details, sessionId, entryId: id };
  return new BackscrollError(error.code, `${error.message}; the message is stored`, {
    ...{ details, cause: error },
  });
}
