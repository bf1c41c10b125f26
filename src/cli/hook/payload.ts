/**
 * The moment that a hook's payload tells, for every agent: they differ in the names of the same few
 * fields. Seen in the payloads of Claude Code, Codex, Gemini CLI, Qwen Code, opencode, Copilot CLI,
 * Kimi and Droid.
 */

import { isPlainObject, type JsonObject } from "../../model/json.ts";

export type Told =
  | { readonly moment: "prompt"; readonly text: string }
  | { readonly moment: "error"; readonly command: string; readonly error: string }
  | { readonly moment: "file"; readonly file: string }
  | { readonly moment: "start" };

export interface HookCall {
  readonly event: string;
  readonly session: string;
  readonly cwd: string;
  readonly told: Told;
}

/** Characters of an output that are looked at: its head and its tail. */
const MAX_OUTPUT = 16_384;

/** Undefined for an event, a tool or a result that memory has nothing to say to. */
export function readHookCall(agent: string, payload: JsonObject): HookCall | undefined {
  const event = textOf(payload, "hook_event_name", "hookEventName", "event") || eventOf(payload);
  const told = readTold(agent, event, payload);
  if (told === undefined || isSubAgent(payload)) return undefined;
  const session = textOf(payload, "session_id", "sessionId", "sessionID");
  return { event, session, cwd: textOf(payload, "cwd", "directory"), told };
}

/** Copilot CLI does not name it. */
function eventOf(payload: JsonObject): string {
  if ("toolResult" in payload) return "postToolUse";
  if ("prompt" in payload) return "userPromptSubmitted";
  return "source" in payload ? "sessionStart" : "";
}

function readTold(agent: string, event: string, payload: JsonObject): Told | undefined {
  if (/^session_?start$/i.test(event)) {
    // A resumed session has its context, a compacted one gets a hand-over.
    const source = textOf(payload, "source");
    return ["resume", "compact"].includes(source) ? undefined : { moment: "start" };
  }
  if (/^(?:user_?prompt_?submit(?:ted)?|before_?agent|chat\.message)$/i.test(event)) {
    const text = textOf(payload, "prompt", "text");
    return text === "" ? undefined : { moment: "prompt", text };
  }
  if (/^(?:post_?tool_?use(?:_?failure)?|after_?tool|tool\.execute\.after)$/i.test(event)) {
    return readTool(agent, event, payload);
  }
  return undefined;
}

function readTool(agent: string, event: string, payload: JsonObject): Told | undefined {
  const input = objectOf(payload["tool_input"] ?? payload["toolArgs"] ?? payload["args"]);
  const output = outputOf(
    payload["error"] ?? payload["tool_response"] ?? payload["toolResult"] ?? payload["output"],
  );
  const command = commandOf(input["command"] ?? input["cmd"] ?? input["script"]);
  if (command !== "") {
    const hasFailed = /failure$/i.test(event) || isFailure(agent, payload, output);
    return hasFailed && output !== "" ? { moment: "error", command, error: output } : undefined;
  }
  const tool = textOf(payload, "tool_name", "toolName", "tool");
  const file = textOf(input, "file_path", "absolute_path", "filePath", "path");
  return /^(?:read|read_?file|view)$/i.test(tool) && file !== "" && !/failure$/i.test(event)
    ? { moment: "file", file }
    : undefined;
}

/** Copilot calls a command that failed a success, and tells the exit code in the text. */
const EXIT_CODE = /\b(?:exit(?:ed with)? code:?|exit status) ?(-?\d{1,5})\b/i;

/** Codex tells no exit code: a short output may be that of a failure, its lines decide. */
const MAX_FAILURE_LINES = 40;

function isFailure(agent: string, payload: JsonObject, output: string): boolean {
  const { metadata, toolResult } = payload;
  const exit = isPlainObject(metadata) ? metadata["exit"] : undefined;
  if (typeof exit === "number") return exit !== 0;
  if (isPlainObject(toolResult) && toolResult["resultType"] === "failure") return true;
  const [, code] = EXIT_CODE.exec(output) ?? [];
  if (code !== undefined) return Number(code) !== 0;
  return agent === "codex" && output.split("\n", MAX_FAILURE_LINES + 1).length <= MAX_FAILURE_LINES;
}

/** All texts of a result, with its head and its tail if it is long. */
function outputOf(value: unknown): string {
  const texts: string[] = [];
  const collect = (part: unknown, depth: number) => {
    if (typeof part === "string") texts.push(part);
    else if (depth > 4) return;
    else if (Array.isArray(part)) for (const each of part.slice(0, 100)) collect(each, depth + 1);
    else if (isPlainObject(part)) {
      for (const name of ["stderr", "stdout", "text", "content", "output", "llmContent"]) {
        if (name in part) collect(part[name], depth + 1);
      }
      if ("error" in part) collect(part["error"], depth + 1);
      if ("message" in part) collect(part["message"], depth + 1);
      if ("textResultForLlm" in part) collect(part["textResultForLlm"], depth + 1);
    }
  };
  collect(value, 0);
  // Gemini CLI puts a word before each part.
  const text = texts.join("\n").replace(/^(?:Output|Stdout|Stderr|Error): /gm, "");
  if (text.length <= MAX_OUTPUT) return text.toWellFormed();
  return `${text.slice(0, MAX_OUTPUT / 2)}\n${text.slice(-MAX_OUTPUT / 2)}`.toWellFormed();
}

/** Codex gives words, the last of which is a script of the shell. */
function commandOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return "";
  const words = value.map(String);
  return /^-l?i?c$/.test(words[1] ?? "") ? (words[2] ?? "") : words.join(" ");
}

function objectOf(value: unknown): JsonObject {
  if (isPlainObject(value)) return value as JsonObject;
  try {
    const parsed: unknown = typeof value === "string" ? JSON.parse(value) : undefined;
    return isPlainObject(parsed) ? (parsed as JsonObject) : {};
  } catch {
    return {};
  }
}

function textOf(object: JsonObject, ...names: readonly string[]): string {
  for (const name of names) {
    const value = object[name];
    if (typeof value === "string" && value !== "") return value;
  }
  return "";
}

function isSubAgent(payload: JsonObject): boolean {
  return textOf(payload, "agent_id", "agent_type", "parent_session_id", "parentID") !== "";
}
