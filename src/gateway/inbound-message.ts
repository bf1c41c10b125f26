/** A message from a channel: its text, its origin and its kind; and its outcome. */

import { checkFlag, checkInput, checkKey, checkOneOf, invalid } from "../engine/check.ts";
import type { SessionHandle } from "../engine/session-handle.ts";
import type { Entry } from "../model/entry.ts";
import { checkName, checkText } from "../model/ids.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { MAX_SESSION_KEY_BYTES } from "../model/limits.ts";
import type { SessionRoute } from "../model/route.ts";
import { CHAT_TYPES, type ChatType, type Origin } from "../routing/resolve-key.ts";

/**
 * `message` comes from a person or a channel. The other kinds are automatic: they do not reset a
 * session, do not count as activity, and contain no commands.
 */
export const INBOUND_KINDS = ["message", "heartbeat", "cron", "hook", "system"] as const;
export type InboundKind = (typeof INBOUND_KINDS)[number];

export interface InboundMessage {
  readonly text: string;
  /** Such as `telegram`. */
  readonly channel?: string;
  /** The host's account on that channel. */
  readonly account?: string;
  /** The conversation partner: the id of a person, group, channel or room. */
  readonly peer?: string;
  /** `direct` if left out; `dm` means the same. */
  readonly chatType?: ChatType | "dm";
  readonly thread?: string;
  readonly topic?: string;
  /** The session key itself; replaces the key derived from the origin. */
  readonly key?: string;
  /** The addressed agent. Default: the configuration's. */
  readonly agent?: string;
  readonly kind?: InboundKind;
  /** The author. Default: the peer of a direct message, else the agent. */
  readonly sender?: string;
  /** `false`: the sender may not give commands. */
  readonly authorized?: boolean;
  /** The channel's message id; a redelivery with the same id counts once. */
  readonly id?: string;
  /** Also appends the returned `text` to the session. */
  readonly append?: boolean;
  /** Labels of the conversation, as the route keeps them. */
  readonly provider?: string;
  readonly subject?: string;
  readonly room?: string;
  readonly space?: string;
  readonly displayName?: string;
}

export interface CheckedInbound extends Omit<InboundMessage, "chatType"> {
  readonly chatType?: ChatType;
  readonly kind: InboundKind;
  readonly authorized: boolean;
  readonly append: boolean;
}

const PLACE = ["channel", "account", "peer", "thread", "topic"] as const;
const NAMES = ["agent", "sender", "id"] as const;
const LABELS = ["provider", "subject", "room", "space", "displayName"] as const;

/** Throws `invalid_input` or `too_large` naming the field. */
export function checkInbound(message: InboundMessage): CheckedInbound {
  const {
    text,
    chatType,
    kind = "message",
    key,
  } = checkInput(message, "message", INPUTS["gateway.message"]);
  const { authorized = true, append = false } = message;
  if (typeof text !== "string") throw invalid("text", "text must be a string");
  for (const field of PLACE) if (message[field] !== undefined) checkKey(message[field], field);
  for (const field of NAMES) if (message[field] !== undefined) checkName(message[field], field);
  for (const field of LABELS) if (message[field] !== undefined) checkText(message[field], field);
  if (key !== undefined) checkName(key, "key", MAX_SESSION_KEY_BYTES);
  const { chatType: _, ...rest } = message;
  return {
    ...rest,
    ...(chatType === undefined ? {} : { chatType: checkChatType(chatType) }),
    kind: checkOneOf(kind, INBOUND_KINDS, "kind"),
    authorized: checkFlag(authorized, "authorized"),
    append: checkFlag(append, "append"),
  };
}

/** Where it was sent, for the conversation's key. */
export function placeOf(message: CheckedInbound): Omit<Origin, "agent"> {
  const given = [...PLACE, "chatType" as const].filter((name) => message[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, message[name]]));
}

/** The conversation's labels, for the route. */
export function labelsOf(message: CheckedInbound): Record<string, string> {
  const { channel, chatType } = message;
  const given = LABELS.flatMap((name) => {
    const value = message[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...(channel === undefined ? {} : { provider: channel.trim().toLowerCase() }),
    ...(chatType === undefined ? {} : { chatType }),
    ...Object.fromEntries(given),
  };
}

function checkChatType(type: ChatType | "dm"): ChatType {
  return checkOneOf(type === "dm" ? "direct" : type, CHAT_TYPES, "chatType");
}

// The outcome of a message: its session, and the reason.

export type InboundAction =
  /** The key had no session, or a deleted one. */
  | "created"
  /** The key is a thread's; its session starts as a fork of the parent conversation. */
  | "forked"
  /** A new session began. */
  | "reset"
  | "continued";

export type InboundReason =
  /** `created`: the key had no session. */
  | "first"
  /** `created`: the key's session was deleted. */
  | "missing"
  /** `forked`. */
  | "thread"
  /** `reset`: by a command. */
  | "command"
  /** `reset`: the daily hour passed, or the session was idle for too long. */
  | "daily"
  | "idle"
  /** `continued`: the session is fresh. */
  | "fresh"
  /** `continued`: automatic input never resets a session. */
  | "housekeeping"
  /** `continued`: a redelivery. */
  | "repeated";

interface Routed {
  readonly key: string;
  readonly action: InboundAction;
  readonly reason: InboundReason;
  /** The reason as a sentence. */
  readonly why: string;
  /** The key's previous session, if the key moved. */
  readonly previousSessionId: string | null;
  /** `false`: do not deliver the agent's answer. */
  readonly deliver: boolean;
}

/** A message for the agent. */
export interface InboundTurn extends Routed {
  readonly session: SessionHandle;
  readonly route: SessionRoute;
  /** The text for the agent: the message without its leading command. */
  readonly text: string;
  readonly actor: string;
  /** The stored entry if `append` was set. */
  readonly entry: Entry | null;
  readonly answer: null;
}

/** The gateway answered a command itself; the agent gets no text. */
export interface InboundAnswer extends Routed {
  /** Null if the key has no session. */
  readonly session: SessionHandle | null;
  readonly route: SessionRoute | null;
  readonly text: "";
  readonly actor: string;
  readonly entry: null;
  readonly answer: string;
}

export type InboundResult = InboundTurn | InboundAnswer;
