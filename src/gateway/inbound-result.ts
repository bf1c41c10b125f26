/** What became of a message: which session it belongs to, and why. */

import type { SessionHandle } from "../engine/session-handle.ts";
import type { Entry } from "../model/entry.ts";
import type { SessionRoute } from "../model/route.ts";

export type InboundAction =
  /** The key had no session, or one that is gone. */
  | "created"
  /** The key is a thread's; its session starts as a fork of the parent conversation. */
  | "forked"
  /** Another session began. */
  | "reset"
  | "continued";

export type InboundReason =
  /** `created`: the key had no session. */
  | "first"
  /** `created`: the session that was here was deleted. */
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
  /** `continued`: this message had been delivered before. */
  | "repeated";

interface Routed {
  readonly key: string;
  readonly action: InboundAction;
  readonly reason: InboundReason;
  /** The same in a sentence. */
  readonly why: string;
  /** The session that the key led to before, if it leads to another one now. */
  readonly previousSessionId: string | null;
  /** `false`: what the agent says here is not to be delivered. */
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
  /** Null if there is no session to speak of. */
  readonly session: SessionHandle | null;
  readonly route: SessionRoute | null;
  readonly text: "";
  readonly actor: string;
  readonly entry: null;
  readonly answer: string;
}

export type InboundResult = InboundTurn | InboundAnswer;
