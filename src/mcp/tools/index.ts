/** All tools, in the order in which clients list them. */

import { appendMessage } from "./append-message.ts";
import { buildContext } from "./build-context.ts";
import { compactConversation } from "./compact-conversation.ts";
import { getSessionMeta } from "./get-session-meta.ts";
import { listMessages } from "./list-messages.ts";
import { listSessions } from "./list-sessions.ts";
import { recall } from "./recall.ts";
import { recap } from "./recap.ts";
import { related } from "./related.ts";
import { remember } from "./remember.ts";
import { searchMemory } from "./search-memory.ts";
import { searchSessions } from "./search-sessions.ts";
import type { Tool } from "./tool.ts";
import { trace } from "./trace.ts";

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
