/**
 * The tools of this product. Their results are copies of indexed text: indexing them would make
 * search find earlier answers.
 */

/** The names under which MCP and the adapters offer them. */
export const OWN_TOOLS: readonly string[] = [
  "append_message",
  "build_context",
  "compact_conversation",
  "get_session_meta",
  "list_messages",
  "list_sessions",
  "recall",
  "recap",
  "related",
  "remember",
  "search_memory",
  "search_sessions",
  "trace",
];

/** Specific enough to be ours without a prefix: a host may give them to its model as they are. */
const BARE: ReadonlySet<string> = new Set(["search_sessions", "search_memory"]);

/**
 * Whether a tool is one of ours under the name that a client gave it: clients put the name of the
 * server before it, as in `mcp__backscroll__recall` or `backscroll.recall`. The server itself may have
 * any name that contains `backscroll`.
 */
export function isOwnTool(name: string): boolean {
  const plain = name.toLowerCase().replace(/[^a-z0-9]+/g, "_");
  if (BARE.has(plain)) return true;
  if (!plain.includes("backscroll")) return plain.startsWith("mcp_") && endsIn(plain, BARE);
  return endsIn(plain, OWN_TOOLS);
}

function endsIn(plain: string, names: Iterable<string>): boolean {
  for (const name of names) if (plain.endsWith(`_${name}`)) return true;
  return false;
}
