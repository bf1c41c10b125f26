/** A page of messages, each within its own size: what the tool and the resource have in common. */

import type { TenantApi } from "../engine/interfaces/tenant-api.ts";
import { BackscrollError } from "../model/errors.ts";
import { type MessageView, toMessageView } from "./views/message-view.ts";

export interface MessagePageInput {
  readonly offset?: number;
  readonly limit: number;
  readonly leaf?: string;
  readonly around?: string;
  /** What is shown of one message. */
  readonly messageBytes: number;
}

export interface MessagePageView {
  readonly messages: MessageView[];
  readonly offset: number;
  readonly total: number;
  readonly next_cursor: string | null;
}

export async function readMessagePage(
  tenant: TenantApi,
  sessionId: string,
  input: MessagePageInput,
): Promise<MessagePageView> {
  const { messageBytes, ...query } = input;
  const session = await tenant.getSessionMeta(sessionId);
  const page = await tenant.listMessages(sessionId, { ...query, preview: true });
  const messages: MessageView[] = [];
  for (const entry of page.messages) {
    // Large ones are read one by one and cut at once: a page of them would not fit into memory.
    const whole = entry.truncated ? await tenant.getEntry(entry.id) : entry;
    messages.push(toMessageView(whole, messageBytes));
  }
  const { offset, total } = page;
  const end = offset + messages.length;
  const leaf = input.leaf ?? session.leaf;
  return {
    ...{ messages, offset, total },
    next_cursor:
      end < total && messages.length > 0 ? formatCursor(end, messages.at(-1), leaf) : null,
  };
}

export interface PageStart {
  readonly offset: number;
  readonly leaf?: string;
}

/** A cursor names the path that it goes on along: the active one may be another by then. */
export function parseCursor(cursor: string): PageStart {
  const [, offset = "", leaf = ""] = /^(\d{1,15})\.(.*)$/s.exec(cursor) ?? [];
  if (offset !== "") return { offset: Number(offset), ...(leaf === "" ? {} : { leaf }) };
  throw new BackscrollError(
    "invalid_cursor",
    `"${cursor.slice(0, 80)}" is no cursor of list_messages; use the next_cursor of a page`,
  );
}

function formatCursor(offset: number, last: MessageView | undefined, leaf: string | null): string {
  return `${offset}.${leaf ?? last?.entry_id ?? ""}`;
}
