/**
 * The tools of this product. Their results are copies of indexed text: indexing them would make
 * search find earlier answers.
 */

/** Their names over MCP and in adapters. */
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

/** Specific enough without a prefix: a host may offer them unprefixed. */
const BARE: ReadonlySet<string> = new Set(["search_sessions", "search_memory"]);

/**
 * Whether a tool is ours, by the name that a client gave it: clients prefix the server's name, as
 * in `mcp__backscroll__recall` or `backscroll.recall`. The server's name may be any that contains
 * `backscroll`.
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
