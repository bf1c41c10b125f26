/** All tools, in the order in which clients list them. */

import { appendMessage, buildContext, compactConversation } from "./conversation.ts";
import { listMessages } from "./list-messages.ts";
import { recall, remember, searchMemory } from "./memory.ts";
import { searchSessions } from "./search-sessions.ts";
import { getSessionMeta, listSessions } from "./sessions.ts";
import type { Tool } from "./tool.ts";
import { trace } from "./trace.ts";
import { recap, related } from "./work.ts";

export const TOOLS: readonly Tool[] = [
  searchSessions,
  listMessages,
  recap,
  related,
  trace,
  listSessions,
  getSessionMeta,
  recall,
  searchMemory,
  remember,
  buildContext,
  compactConversation,
  appendMessage,
];
