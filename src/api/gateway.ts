/** Replies and a session's status on the wire. */

import type { InboundResult } from "../gateway/inbound-message.ts";
import type { SessionStatus } from "../gateway/session-status.ts";
import type { GatewayReply } from "../gateway/turns/reply.ts";
import { REPLY, SESSION_STATUS } from "../model/answers/gateway.ts";
import { fromWire, toWire, type WireOf } from "./shape.ts";

export type WireSessionStatus = WireOf<typeof SESSION_STATUS>;
export type WireReply = WireOf<typeof REPLY>;

export function toWireSessionStatus({ window, ...status }: SessionStatus): WireSessionStatus {
  const { tokens: windowTokens, source: windowSource } = window;
  return toWire(SESSION_STATUS, { ...status, windowTokens, windowSource });
}

export function fromWireSessionStatus(wire: unknown): SessionStatus {
  const { windowTokens: tokens, windowSource: source, ...status } = fromWire(SESSION_STATUS, wire);
  return { ...status, window: { tokens, source } };
}

export function toWireReply(result: GatewayReply): WireReply {
  const { inbound, reply, reason, silent, notices, thoughts, entry } = result;
  const replyEntryId = entry?.id ?? null;
  const answered = { reply, replyReason: reason, replyEntryId, silent, notices, thoughts };
  return toWire(REPLY, { ...routed(inbound), ...answered });
}

/** The reply for a message that was only routed to its session. */
export function toWireUnanswered(result: InboundResult): WireReply {
  return toWire(REPLY, {
    ...routed(result),
    reply: null,
    replyReason: "not_stored",
    replyEntryId: null,
    silent: false,
    notices: [],
    thoughts: [],
  });
}

function routed({ session, ...result }: InboundResult): Omit<InboundResult, "session"> & {
  readonly sessionId: string | null;
} {
  return { ...result, sessionId: session?.id ?? null };
}
