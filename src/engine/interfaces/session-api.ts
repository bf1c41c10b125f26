/**
 * What can be done with a session, wherever its store is.
 *
 * Taken from the classes, so that a client over the network has the same names, arguments and results,
 * or does not compile. Who is written against these works with a store in this process and with one
 * behind a server.
 */

import type { ForkInput } from "../fork.ts";
import type { MessageStream, OpenMessageInput } from "../message-stream.ts";
import type { SessionHandle } from "../session-handle.ts";

export type MessageApi = Pick<MessageStream, Exclude<keyof MessageStream, "hold" | "leave">>;

/** Without leases: work that one process does is done where the store is. */
export interface SessionApi
  extends Omit<
    Pick<SessionHandle, keyof SessionHandle>,
    "openMessage" | "continueMessage" | "fork" | "holdLease"
  > {
  openMessage(input: OpenMessageInput): Promise<MessageApi>;
  continueMessage(id: string, lease: string): Promise<MessageApi>;
  fork(input: ForkInput): Promise<SessionApi>;
}
