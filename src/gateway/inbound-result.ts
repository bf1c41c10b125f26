/** The outcome of a message: its session, and the reason. */

import type { SessionHandle } from "../engine/session-handle.ts";
import type { Entry } from "../model/entry.ts";
import type { SessionRoute } from "../model/route.ts";

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
