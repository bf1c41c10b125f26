/**
 * Aliases of the primitives, by the names of other systems.
 *
 * Each is one call of the engine, so that code and documents written for those names apply
 * literally.
 */

import type { Entry } from "../model/entry.ts";
import type { AppendOptions } from "./append.ts";
import type { MessageInput } from "./message-input.ts";
import type { MessageStream, OpenMessageInput } from "./message-stream.ts";
import type { SessionHandle } from "./session-handle.ts";
import type { CreateSessionInput } from "./session-input.ts";
import type { TenantEngine } from "./tenant-engine.ts";
import type { CommitInput } from "./writing/commit-input.ts";

/** `new_session(agent, sender)`: always creates, always persists. Gives the id. */
export async function newSession(
  engine: TenantEngine,
  agent: string,
  sender: string,
  rest: Omit<CreateSessionInput, "agent" | "createdBy"> = {},
): Promise<string> {
  const session = await engine.createSession({ ...rest, agent, createdBy: sender });
  return session.id;
}

/** `append_message(id, msg)`. For a message with tool results it gives the first entry. */
export async function appendMessage(
  engine: TenantEngine,
  sessionId: string,
  message: MessageInput,
  options: AppendOptions = {},
): Promise<Entry> {
  const session = await engine.getSession(sessionId);
  const [entry] = await session.append([message], options);
  return entry as Entry;
}

/** Starts a streaming append. */
export function appendOpen(
  session: SessionHandle,
  input: OpenMessageInput,
): Promise<MessageStream> {
  return session.openMessage(input);
}

/** Ends a streaming append. */
export function appendCommit(message: MessageStream, input: CommitInput = {}): Promise<Entry> {
  return message.commit(input);
}

export { SessionHandle as ConversationResource } from "./session-handle.ts";
