import { z } from "zod";
import { ABOUT_RECALLED, MEMORY_WORDS } from "../../api/memory-words.ts";
import { quoteConversation } from "../../context/quote.ts";
import { DEFAULT_HITS, DEFAULT_MCP_LIST_TOKENS } from "../../model/limits.ts";
import { nowOf } from "../host.ts";
import { MEMORY_VIEW, showMemory, toMemoryView } from "../views/memory-view.ts";
import { ABOUT, hits, name, QUERY, TRUNCATED } from "./fields.ts";
import { defineTool, type Tool } from "./tool.ts";

export const searchMemory: Tool = defineTool({
  name: "search_memory",
  title: "Search notes",
  description: `${MEMORY_WORDS.searchMemory} Notes come from remember, and from agents' own memory files. Not for what was said in conversations (search_sessions).`,
  scope: "read",
  input: z.object({
    query: QUERY,
    agent: name("Only the notes of this agent; of all agents if left out.").optional(),
    limit: hits(DEFAULT_HITS, MEMORY_WORDS.hits),
  }),
  example: { query: "deploys", limit: 5 },
  output: z.object({ about: ABOUT, memories: z.array(MEMORY_VIEW), truncated: TRUNCATED }),
  maxTokens: DEFAULT_MCP_LIST_TOKENS,
  counts: "limit",
  run: async ({ tenant }, { query, agent, limit }) => {
    const scope = agent === undefined ? {} : { agent };
    const memories = await tenant.searchMemory(query, { limit, ...scope });
    return { about: ABOUT_RECALLED, memories: memories.map(toMemoryView), truncated: null };
  },
  toText: ({ about, memories }, host) =>
    memories.length === 0
      ? "Nothing was found."
      : quoteConversation(
          about,
          memories.map((memory) => showMemory(memory, nowOf(host))).join("\n\n"),
        ),
});
