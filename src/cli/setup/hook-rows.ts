/**
 * The events at which each agent asks memory: those at which a text of a hook was seen to reach its
 * model. A hook of type `mcp_tool` calls the agent's own server, without a process of its own.
 */

import { HOOK_TOOL } from "../../mcp/hook-call.ts";
import type { JsonObject } from "../../model/json.ts";
import type { HookAgent } from "../hook/output.ts";
import { ENTRY_NAME } from "./agents.ts";

/** In seconds: longer than needed, but short enough if something hangs. */
const TIMEOUT_S = 10;

export interface HookRow {
  readonly event: string;
  readonly entry: JsonObject;
}

/** `command` is a line for a shell. */
export function hookRows(agent: HookAgent, command: string): readonly HookRow[] {
  const { group, rows } = FORMS[agent];
  return rows.map(({ event, matcher, input }) => {
    const hook = input === undefined ? group.hook(command) : toolHook(agent, input);
    const about = matcher === undefined ? {} : { matcher };
    return { event, entry: group.isBare ? hook : { ...about, hooks: [hook] } };
  });
}

interface Group {
  readonly hook: (command: string) => JsonObject;
  /** The event lists its hooks themselves, without a matcher. */
  readonly isBare?: true;
}

interface Row {
  readonly event: string;
  readonly matcher?: string;
  /** Of a hook that calls a tool: fields of the hook's own input. */
  readonly input?: Readonly<Record<string, string>>;
}

const SECONDS: Group = {
  hook: (command) => ({ type: "command", command, timeout: TIMEOUT_S }),
};
const MILLISECONDS: Group = {
  hook: (command) => ({ type: "command", command, timeout: 1_000 * TIMEOUT_S }),
};
const COPILOT: Group = {
  hook: (command) => ({
    type: "command",
    bash: command,
    powershell: `& ${command}`,
    timeoutSec: TIMEOUT_S,
  }),
  isBare: true,
};

const PROMPT = { prompt: "prompt" };

const FORMS: Readonly<Record<HookAgent, { readonly group: Group; readonly rows: readonly Row[] }>> =
  {
    "claude-code": {
      group: SECONDS,
      rows: [
        // A resumed session has its context already. Its server is not there yet.
        { event: "SessionStart", matcher: "startup|clear|compact" },
        { event: "UserPromptSubmit", input: PROMPT },
        { event: "PostToolUse", matcher: "Read", input: { file: "tool_input.file_path" } },
        {
          event: "PostToolUseFailure",
          matcher: "Bash",
          input: { command: "tool_input.command", error: "error" },
        },
        { event: "PreCompact" },
        { event: "SessionEnd" },
      ],
    },
    codex: {
      group: SECONDS,
      rows: [
        { event: "SessionStart", matcher: "startup|clear" },
        { event: "UserPromptSubmit", input: PROMPT },
        {
          event: "PostToolUse",
          matcher: "Bash",
          input: { command: "tool_input.command", error: "tool_response" },
        },
      ],
    },
    "gemini-cli": {
      group: MILLISECONDS,
      rows: [
        { event: "SessionStart", matcher: "startup" },
        { event: "BeforeAgent" },
        { event: "AfterTool", matcher: "run_shell_command|read_file" },
      ],
    },
    "qwen-code": {
      group: SECONDS,
      rows: [
        { event: "SessionStart", matcher: "startup|clear" },
        { event: "UserPromptSubmit" },
        { event: "PostToolUseFailure", matcher: "run_shell_command" },
      ],
    },
    "copilot-cli": {
      group: COPILOT,
      rows: [{ event: "sessionStart" }, { event: "userPromptSubmitted" }, { event: "postToolUse" }],
    },
    droid: { group: SECONDS, rows: [{ event: "SessionStart", matcher: "startup|clear" }] },
    "kimi-code": {
      group: { hook: (command) => ({ command, timeout: TIMEOUT_S }), isBare: true },
      rows: [{ event: "UserPromptSubmit" }],
    },
    // A plugin instead.
    opencode: { group: SECONDS, rows: [] },
  };

function toolHook(agent: HookAgent, input: NonNullable<Row["input"]>): JsonObject {
  const named = { event: "hook_event_name", session: "session_id", cwd: "cwd", ...input };
  const values = Object.entries(named).map(([name, path]) => [name, `\${${path}}`]);
  return {
    type: "mcp_tool",
    server: ENTRY_NAME,
    tool: HOOK_TOOL,
    input: { agent, ...(Object.fromEntries(values) as Record<string, string>) },
    timeout: TIMEOUT_S,
  };
}
