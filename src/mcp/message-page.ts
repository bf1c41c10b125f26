/** A page of messages with a size limit each, for the tool and the resource. */

import type { TenantApi } from "../engine/interfaces.ts";
import type { Entry } from "../model/entry.ts";
import { BackscrollError } from "../model/errors.ts";
import { MAX_MCP_MESSAGE_BYTES } from "../model/limits.ts";
import type { Session } from "../model/session.ts";
import { cutEntry, type MessageView, toMessageView } from "./views/message-view.ts";

export interface MessagePageInput {
  readonly offset?: number;
  readonly limit: number;
  readonly leaf?: string;
  readonly around?: string;
  /** The limit of one message. */
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
  const page = await readEntryPage(tenant, sessionId, query);
  const messages = page.entries.map((entry) => toMessageView(entry, messageBytes));
  const { offset, total } = page;
  const end = offset + messages.length;
  const leaf = input.leaf ?? page.session.leaf ?? messages.at(-1)?.entry_id ?? null;
  return {
    messages,
    offset,
    total,
    next_cursor: end < total && messages.length > 0 ? formatCursor(end, leaf) : null,
  };
}

export interface EntryPage {
  readonly session: Session;
  readonly entries: readonly Entry[];
  readonly offset: number;
  readonly total: number;
}

/** Cuts large messages as they are read: a whole page of them would exceed memory. */
export async function readEntryPage(
  tenant: TenantApi,
  sessionId: string,
  query: Omit<MessagePageInput, "messageBytes">,
): Promise<EntryPage> {
  const session = await tenant.getSessionMeta(sessionId);
  const { messages, offset, total } = await tenant.listMessages(session.id, {
    ...query,
    preview: true,
  });
  const entries: Entry[] = [];
  for (const entry of messages) {
    entries.push(
      entry.truncated ? cutEntry(await tenant.getEntry(entry.id), MAX_MCP_MESSAGE_BYTES) : entry,
    );
  }
  return { session, entries, offset, total };
}

export interface PageStart {
  readonly offset: number;
  readonly leaf?: string;
}

/** A cursor names its path, because the active one may change. */
export function parseCursor(cursor: string): PageStart {
  const [, offset = "", leaf = ""] = /^(\d{1,15})\.(.*)$/s.exec(cursor) ?? [];
  if (offset !== "") return { offset: Number(offset), ...(leaf === "" ? {} : { leaf }) };
  throw new BackscrollError(
    "invalid_cursor",
    `"${cursor.slice(0, 80)}" is not a cursor of list_messages; use the next_cursor of a page`,
  );
}

export function formatCursor(offset: number, leaf: string | null): string {
  return `${offset}.${leaf ?? ""}`;
}
