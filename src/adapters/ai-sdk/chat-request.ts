/** What a request of `useChat` asks for. */

import { describe, isPlainObject } from "../../model/json.ts";
import { checkMessages, invalid, type UIMessageLike } from "./chat-message.ts";

/** The body that `useChat` sends, with the last message alone or with all. */
export interface ChatRequest<Message extends UIMessageLike> {
  readonly message?: Message;
  readonly messages?: readonly Message[];
  readonly trigger?: "submit-message" | "regenerate-message" | (string & {});
  /** The edited message, or the answer to make again. */
  readonly messageId?: string | undefined;
}

/** What the model is asked with: the stored messages as the request changes them. */
export function wanted<Message extends UIMessageLike>(
  stored: readonly Message[],
  { messages, message, trigger, messageId }: ChatRequest<Message>,
): Message[] {
  if (trigger === "regenerate-message") {
    const at = stored.findIndex(({ id }) => id === messageId);
    if (at < 0 && messageId !== undefined) {
      throw invalid("messageId", `messageId ${messageId} is no message of the chat's active path`);
    }
    // A question stays, and an answer goes, with all that follows it.
    if (at >= 0) return stored.slice(0, stored[at]?.role === "user" ? at + 1 : at);
    const last = stored.findLastIndex(({ role }) => role === "user");
    return stored.slice(0, last + 1);
  }
  if (messages !== undefined) return [...messages];
  if (message === undefined) return [...stored];
  // An edited message keeps its id; so does an answer whose tool call was approved.
  const at = stored.findIndex(({ id }) => id === (messageId ?? message.id));
  return [...(at < 0 ? stored : stored.slice(0, at)), message];
}

export function checkRequest<Message extends UIMessageLike>(
  request: ChatRequest<Message>,
): ChatRequest<Message> {
  if (!isPlainObject(request)) {
    throw invalid("request", `request must be the body of useChat, not ${describe(request)}`);
  }
  const { message, messages, trigger, messageId } = request as ChatRequest<Message>;
  checkMessages(messages ?? (message === undefined ? [] : [message]));
  if (trigger !== "regenerate-message" && message === undefined && messages === undefined) {
    throw invalid("message", "request has neither message nor messages");
  }
  // What else is in the body belongs to the host.
  return {
    ...(message === undefined ? {} : { message }),
    ...(messages === undefined ? {} : { messages }),
    ...(trigger === undefined ? {} : { trigger }),
    messageId,
  };
}
