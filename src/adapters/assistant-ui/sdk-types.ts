/** Types of assistant-ui's history, as far as they are used here, declared without the package. */

/**
 * A `ThreadMessage`, which is returned unchanged. `any`, because the package's own type is a union
 * that only the package names.
 */
// biome-ignore lint/suspicious/noExplicitAny: the package's union of messages must be assignable both ways.
export type ThreadMessageLike = any;

/** A message, and the id of the message before it. */
export interface HistoryItem<Message> {
  parentId: string | null;
  message: Message;
}

export interface ThreadItem extends HistoryItem<ThreadMessageLike> {
  runConfig?: { readonly custom?: Record<string, unknown> };
}

export interface History<Item> {
  /** The last message of the branch that is shown; null if there is none. */
  headId?: string | null;
  /** A message comes after its parent. */
  messages: Item[];
}

/** How another runtime, such as the AI SDK's, stores its messages. */
export interface MessageFormat<Message, Content extends Record<string, unknown>> {
  format: string;
  encode(item: HistoryItem<Message>): Content;
  decode(stored: {
    id: string;
    parent_id: string | null;
    format: string;
    content: Content;
  }): HistoryItem<Message>;
  getId(message: Message): string;
}

/** The result of `withFormat`. */
export interface FormattedHistory<Message> {
  load(): Promise<History<HistoryItem<Message>>>;
  append(item: HistoryItem<Message>): Promise<void>;
  update(item: HistoryItem<Message>, localMessageId: string): Promise<void>;
  delete(items: HistoryItem<Message>[]): Promise<void>;
}

/** A `ThreadHistoryAdapter`. */
export interface ThreadHistory {
  load(): Promise<History<ThreadItem>>;
  append(item: ThreadItem): Promise<void>;
  update(item: ThreadItem): Promise<void>;
  delete(items: ThreadItem[]): Promise<void>;
  withFormat<Message, Content extends Record<string, unknown>>(
    format: MessageFormat<Message, Content>,
  ): FormattedHistory<Message>;
}
