import { z } from "zod";
import { ABOUT_RECALLED } from "../../api/memory-words.ts";
import { quoteConversation } from "../../context/quote.ts";
import {
  DEFAULT_MCP_MESSAGE_BYTES,
  DEFAULT_MCP_PAGE,
  MAX_MCP_MESSAGE_BYTES,
  MAX_MCP_PAGE,
} from "../../model/limits.ts";
import { parseCursor, readMessagePage } from "../message-page.ts";
import { MESSAGE_VIEW, showMessage } from "../views/message-view.ts";
import { ABOUT, EXAMPLE_ID, id, name, SESSION_ID, TRUNCATED } from "./fields.ts";
import { defineTool, type Tool } from "./tool.ts";

export const listMessages: Tool = defineTool({
  name: "list_messages",
  title: "Read a conversation",
  description:
    "Read a page of a conversation, in order. `around` puts one message in the middle; long messages are cut to message_bytes.",
  scope: "read",
  input: z.object({
    session_id: SESSION_ID,
    offset: z
      .number()
      .int()
      .min(0)
      .optional()
      .describe("The msg_idx of the first message; 0 if left out."),
    limit: z
      .number()
      .int()
      .min(1)
      .max(MAX_MCP_PAGE)
      .default(DEFAULT_MCP_PAGE)
      .describe(`Messages; ${DEFAULT_MCP_PAGE} if left out.`),
    around: id("The entry_id of a message to put in the middle of the page.").optional(),
    leaf: id("Another end of the conversation than the active one, as a hit names it.").optional(),
    cursor: name("The next_cursor of the page before, in place of offset.").optional(),
    message_bytes: z
      .number()
      .int()
      .min(64)
      .max(MAX_MCP_MESSAGE_BYTES)
      .default(DEFAULT_MCP_MESSAGE_BYTES)
      .describe(`What is shown of one message; ${DEFAULT_MCP_MESSAGE_BYTES} if left out.`),
  }),
  example: { session_id: EXAMPLE_ID, offset: 0, limit: 20 },
  output: z.object({
    about: ABOUT,
    session_id: z.string(),
    messages: z.array(MESSAGE_VIEW),
    offset: z.number().int(),
    total: z.number().int().describe("Messages on this path."),
    next_cursor: z.string().nullable().describe("Null at the end."),
    truncated: TRUNCATED,
  }),
  counts: "limit",
  run: async ({ tenant }, input) => {
    const { session_id, offset, leaf, around, cursor } = input;
    const page = await readMessagePage(tenant, session_id, {
      limit: input.limit,
      messageBytes: input.message_bytes,
      ...(offset === undefined ? {} : { offset }),
      ...(leaf === undefined ? {} : { leaf }),
      ...(around === undefined ? {} : { around }),
      ...(cursor === undefined ? {} : parseCursor(cursor)),
    });
    return { about: ABOUT_RECALLED, session_id, ...page, truncated: null };
  },
  toText: ({ about, messages, total, next_cursor }) => {
    if (messages.length === 0) return `There are none here; the conversation has ${total}.`;
    const shown = quoteConversation(about, messages.map(showMessage).join("\n\n"));
    return next_cursor === null ? shown : `${shown}\nMore: cursor ${next_cursor} of ${total}`;
  },
});
