/**
 * The public names of `backscroll/compat`: our calls by the names of other systems.
 *
 * Each is one call of the library, so that code and documents written for those names apply
 * literally. docs/library.md has them in a table.
 */

import type { AppendOptions } from "./engine/append.ts";
import type { MessageInput } from "./engine/message-input.ts";
import type { MessageStream, OpenMessageInput } from "./engine/message-stream.ts";
import type { SessionHandle } from "./engine/session-handle.ts";
import type { CreateSessionInput } from "./engine/session-input.ts";
import type { TenantEngine } from "./engine/tenant-engine.ts";
import type { CommitInput } from "./engine/writing/commit-input.ts";
import type { Entry } from "./model/entry.ts";

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

export { indexAll, indexFile, parseSessionFile } from "./archive/parse-session-file.ts";
export { SessionHandle as ConversationResource } from "./engine/session-handle.ts";
