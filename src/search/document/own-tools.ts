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
  "list_past_conversations",
  "list_sessions",
  "read_past_conversation",
  "recall",
  "recap",
  "recap_past_work",
  "related",
  "remember",
  "remember_for_later",
  "search_memory",
  "search_past_conversations",
  "search_remembered_notes",
  "search_sessions",
  "trace",
  "trace_past_error_file_or_command",
];

/** Specific enough without a prefix: a host may offer them unprefixed. */
const BARE: ReadonlySet<string> = new Set([
  ...OWN_TOOLS.filter((name) => /_past_|_for_later|_remembered_/.test(name)),
  "search_sessions",
  "search_memory",
]);

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
