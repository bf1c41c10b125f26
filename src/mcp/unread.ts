/** The note on transcripts that were not read in time; none if the answer is up to date. */

import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Unread } from "./host.ts";

export interface UnreadNote {
  readonly unread: Unread;
  readonly text: string;
  /** Its maximum size. */
  readonly bytes: number;
}

export function unreadNote(unread: Unread | undefined): UnreadNote | undefined {
  if (unread === undefined || (unread.files === 0 && unread.complete)) return undefined;
  const { files, bytes, complete } = unread;
  const named = files === 1 ? "1 transcript" : `${files} transcripts`;
  const amount = files === 0 ? "Some transcripts" : `${named} (${bytes} bytes)`;
  const more = complete || files === 0 ? "" : " and maybe more";
  const verb = files === 1 && complete ? "is" : "are";
  const text = `${amount}${more} ${verb} not read yet; ask again in a moment.`;
  return { unread, text, bytes: text.length + JSON.stringify({ unread }).length };
}

/** As text for models, or as a field of data with the same text. */
export function tellUnread(result: CallToolResult, note: UnreadNote | undefined): CallToolResult {
  if (note === undefined) return result;
  if (result.structuredContent === undefined) {
    const said = (result.content ?? []).map((block) => (block.type === "text" ? block.text : ""));
    return { ...result, content: [{ type: "text", text: [...said, note.text].join("\n\n") }] };
  }
  const structuredContent = { ...result.structuredContent, unread: { ...note.unread } };
  const content = [{ type: "text" as const, text: JSON.stringify(structuredContent) }];
  return { ...result, content, structuredContent };
}
