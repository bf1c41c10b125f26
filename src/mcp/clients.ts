/**
 * How MCP clients identify the conversation of a call.
 *
 * Each row was recorded from the client (test/fixtures/mcp-clients.ts has its requests). A client
 * without variables and meta keys does not identify its conversation.
 */

import { MAX_ID_LENGTH } from "../model/limits.ts";

export interface ClientNaming {
  /** The agent's name in transcripts. */
  readonly agent: string;
  /** `clientInfo.name` of its `initialize`. */
  readonly names: RegExp;
  /** Environment variables of the MCP server that hold the conversation's id. */
  readonly variables: readonly string[];
  /** Keys of `_meta` of `tools/call` that hold it. */
  readonly meta: readonly string[];
}

export const MCP_CLIENTS: readonly ClientNaming[] = [
  {
    agent: "claude-code",
    names: /^claude/i,
    variables: ["CLAUDE_CODE_SESSION_ID"],
    meta: [],
  },
  // `sessionId` is the thread that the user began, `threadId` may be that of a sub-agent.
  { agent: "codex", names: /^codex/i, variables: [], meta: ["threadId", "sessionId"] },
  {
    agent: "vscode",
    names: /^visual studio code/i,
    variables: [],
    meta: ["vscode.conversationId"],
  },
  {
    agent: "qwen-code",
    names: /^qwen/i,
    variables: ["QWEN_CODE_SESSION_ID"],
    meta: [],
  },
  { agent: "cursor", names: /^cursor/i, variables: [], meta: [] },
  { agent: "gemini-cli", names: /^gemini/i, variables: [], meta: [] },
  { agent: "opencode", names: /^opencode/i, variables: [], meta: [] },
];

export interface CallOrigin {
  /** `clientInfo.name`, if the protocol sent it. */
  readonly client?: string | undefined;
  /** The server's environment, if the client started the server. */
  readonly variables?: Readonly<Record<string, string | undefined>> | undefined;
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The client's ids of the conversation. A known client uses its own row only: an agent started by
 * another one inherits the other's variables.
 */
export function conversationIds({ client, variables, meta }: CallOrigin): readonly string[] {
  const own = MCP_CLIENTS.filter(({ names }) => client !== undefined && names.test(client));
  const rows = own.length > 0 ? own : MCP_CLIENTS;
  const found = rows.flatMap((row) => [
    ...row.variables.map((name) => variables?.[name]),
    ...row.meta.map((key) => meta?.[key]),
  ]);
  return [...new Set(found.filter(isId))];
}

function isId(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_ID_LENGTH;
}
