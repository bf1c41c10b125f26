/**
 * The interface of a session, local or remote.
 *
 * Derived from the classes, so that the network client has the same names, arguments and results,
 * or does not compile. Code written against it works with both.
 */

import type { ForkInput } from "../fork.ts";
import type { MessageStream, OpenMessageInput } from "../message-stream.ts";
import type { SessionHandle } from "../session-handle.ts";

export type MessageApi = Pick<MessageStream, Exclude<keyof MessageStream, "hold" | "leave">>;

/** Without leases, which exist only beside the store. */
export interface SessionApi
  extends Omit<
    Pick<SessionHandle, keyof SessionHandle>,
    "openMessage" | "continueMessage" | "fork" | "holdLease"
  > {
  openMessage(input: OpenMessageInput): Promise<MessageApi>;
  continueMessage(id: string, lease: string): Promise<MessageApi>;
  fork(input: ForkInput): Promise<SessionApi>;
}
