/** What became of a message: which session it belongs to, and why. */

import type { SessionHandle } from "../engine/session-handle.ts";
import type { Entry } from "../model/entry.ts";
import type { SessionRoute } from "../model/route.ts";

export type InboundAction =
  /** The key had no session, or one that is gone. */
  | "created"
  /** The key is a thread's, and starts with a copy of what was said before it. */
  | "forked"
  /** Another session began. */
  | "reset"
  | "continued";

export type InboundReason =
  /** `created`: nobody talked here before. */
  | "first"
  /** `created`: the session that was here was deleted. */
  | "missing"
  /** `forked`. */
  | "thread"
  /** `reset`: somebody asked for it. */
  | "command"
  /** `reset`: a new day began, or nobody wrote for too long. */
  | "daily"
  | "idle"
  /** `continued`: nothing speaks against it. */
  | "fresh"
  /** `continued`: input that comes by itself starts nothing. */
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
  /** What is for the agent: the message without the command that it began with. */
  readonly text: string;
  readonly actor: string;
  /** What was stored, if that was asked for. */
  readonly entry: Entry | null;
  readonly answer: null;
}

/** A message for the gateway alone: this is its answer, and there is nothing to pass on. */
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
