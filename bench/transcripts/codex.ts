/**
 * A session in Codex CLI's format: requests and answers as response items, and the window's events,
 * which repeat most of them.
 *
 * Every other session is of a newer version: its copies are `item_completed` events, command
 * outputs included, where older ones repeat messages and thoughts.
 */

import type { Action, Story } from "./story.ts";
import { Words } from "./words.ts";

/** The agent's own instructions are the same in every session. */
const INSTRUCTIONS = new Words(7).text(2_600);

export class CodexWriter {
  readonly #story: Story;
  readonly #isOld: boolean;
  #turns = 0;
  #ordinal = 0;
  #turn = "";
  #total = { input: 0, cached: 0, output: 0, reasoning: 0 };

  constructor(story: Story, number: number) {
    this.#story = story;
    this.#isOld = number % 2 === 0;
  }

  *lines(): Generator<object> {
    const { words } = this.#story;
    if (this.#turns++ === 0) yield* this.#beginning();
    const { request, steps, answer } = this.#story.exchange();
    this.#turn = words.uuid();
    yield this.#event({
      type: "task_started",
      turn_id: this.#turn,
      started_at: this.#story.seconds,
      model_context_window: 258_400,
      collaboration_mode_kind: "default",
    });
    yield this.#context();
    yield this.#item(message("user", "input_text", request));
    yield* this.#copy("UserMessage", request, {
      type: "user_message",
      message: request,
      images: [],
      local_images: [],
      text_elements: [],
    });
    for (const { thought, remark, action } of steps) {
      yield* this.#thought(thought);
      yield* this.#said(remark, "commentary");
      yield* this.#call(action);
      yield this.#tokens();
    }
    yield* this.#said(answer, "final_answer");
    yield this.#tokens();
    yield this.#event({
      type: "task_complete",
      turn_id: this.#turn,
      last_agent_message: answer,
      completed_at: this.#story.seconds,
      duration_ms: words.below(90_000),
    });
  }

  *#beginning(): Generator<object> {
    const { words, cwd, id } = this.#story;
    const timestamp = this.#story.now();
    yield this.#line("session_meta", {
      session_id: id,
      id,
      timestamp,
      cwd,
      originator: "codex_cli",
      cli_version: "0.150.0",
      source: "cli",
      thread_source: "user",
      model_provider: "example",
      base_instructions: { text: INSTRUCTIONS },
      history_mode: this.#isOld ? "legacy" : "paginated",
      git: {
        commit_hash: words.hex(40),
        branch: "feature/search-window",
        repository_url: "https://example.org/team/project.git",
      },
    });
    const rules = `<permissions instructions>\n${words.text(200)}\n</permissions instructions>`;
    yield this.#item(message("developer", "input_text", rules));
    const around = `<environment_context>\n  <cwd>${cwd}</cwd>\n  <shell>bash</shell>\n</environment_context>`;
    yield this.#item(message("user", "input_text", around));
    if (this.#isOld) return;
    yield this.#line("world_state", {
      full: true,
      state: { model: "example-5.5", environments: { local: { cwd } }, skills: words.text(400) },
    });
  }

  #context(): object {
    const { cwd } = this.#story;
    return this.#line("turn_context", {
      turn_id: this.#turn,
      cwd,
      workspace_roots: [cwd],
      current_date: "2026-05-04",
      timezone: "Europe/Berlin",
      approval_policy: "on-request",
      sandbox_policy: {
        type: "workspace-write",
        writable_roots: [`${cwd}/.cache`],
        network_access: false,
        exclude_tmpdir_env_var: false,
        exclude_slash_tmp: false,
      },
      model: "example-5.5",
      personality: "pragmatic",
      effort: "high",
      summary: "auto",
      collaboration_mode: {
        mode: "default",
        settings: { model: "example-5.5", reasoning_effort: "high", developer_instructions: null },
      },
      truncation_policy: { mode: "tokens", limit: 10_000 },
    });
  }

  *#thought(thought: string): Generator<object> {
    const { words } = this.#story;
    const summary = [{ type: "summary_text", text: thought }];
    const sealed = `gAAAAA${words
      .sealed(500 + words.below(1_500))
      .replaceAll("+", "-")
      .replaceAll("/", "_")}`;
    if (this.#isOld) yield this.#event({ type: "agent_reasoning", text: thought });
    const item = { type: "reasoning", id: `rs_${words.hex(48)}`, summary };
    yield this.#item({ ...item, content: null, encrypted_content: sealed });
  }

  *#said(text: string, phase: string): Generator<object> {
    yield* this.#copy("AgentMessage", text, { type: "agent_message", message: text, phase });
    yield this.#item({ ...message("assistant", "output_text", text), phase });
  }

  *#call(action: Action): Generator<object> {
    const { words } = this.#story;
    const call_id = `call_${words.sealed(18).replaceAll(/[+/]/g, "x")}`;
    const started = this.#story.seconds;
    if (action.tool === "edit" || action.tool === "write") {
      const input = toPatch(action);
      const call = { type: "custom_tool_call", status: "completed", call_id, name: "apply_patch" };
      yield this.#item({ ...call, input });
      const told = `Success. Updated the following files:\nM ${action.path}\n`;
      const output = JSON.stringify({
        output: told,
        metadata: { exit_code: 0, duration_seconds: 0.1 },
      });
      yield this.#item({ type: "custom_tool_call_output", call_id, output });
      if (!this.#isOld) {
        const changes = { [action.path]: { type: "update", unified_diff: input } };
        yield this.#completed({ type: "FileChange", id: call_id, changes, status: "completed" });
      }
      return;
    }
    const { command, output: text } = toCommand(action);
    const args = { cmd: command, workdir: this.#story.cwd, max_output_tokens: 12_000 };
    const name = "exec_command";
    yield this.#item({ type: "function_call", name, arguments: JSON.stringify(args), call_id });
    const head = `Chunk ID: ${words.hex(6)}\nWall time: 0.05 seconds\nProcess exited with code 0\n`;
    const output = `${head}Original token count: ${text.length >> 2}\nOutput:\n${text}\n`;
    yield this.#item({ type: "function_call_output", call_id, output });
    if (this.#isOld) return;
    yield this.#completed({
      type: "CommandExecution",
      id: call_id,
      command: ["bash", "-lc", command],
      cwd: this.#story.cwd,
      status: "completed",
      aggregated_output: text,
      exit_code: 0,
      duration_ms: (this.#story.seconds - started) * 1000,
    });
  }

  /** Events of the terminal window. */
  *#copy(kind: string, text: string, event: object): Generator<object> {
    if (this.#isOld) yield this.#event(event);
    else {
      const content = [{ type: kind === "UserMessage" ? "text" : "Text", text }];
      yield this.#completed({ type: kind, id: this.#story.words.uuid(), content });
    }
  }

  #completed(item: object): object {
    const at = this.#story.seconds * 1000;
    return this.#event({
      type: "item_completed",
      thread_id: this.#story.id,
      turn_id: this.#turn,
      item,
      started_at_ms: at,
      completed_at_ms: at,
    });
  }

  #tokens(): object {
    const { words } = this.#story;
    const last = {
      input: 9_000 + words.below(90_000),
      cached: words.below(9_000),
      output: words.below(900),
      reasoning: words.below(300),
    };
    this.#total = {
      input: this.#total.input + last.input,
      cached: this.#total.cached + last.cached,
      output: this.#total.output + last.output,
      reasoning: this.#total.reasoning + last.reasoning,
    };
    const limit = (window_minutes: number) => ({
      used_percent: words.below(100),
      window_minutes,
      resets_at: this.#story.seconds + 9_000,
    });
    return this.#event({
      type: "token_count",
      info: {
        total_token_usage: toCounts(this.#total),
        last_token_usage: toCounts(last),
        model_context_window: 258_400,
      },
      rate_limits: {
        limit_id: "codex",
        limit_name: null,
        primary: limit(300),
        secondary: limit(10_080),
        credits: null,
        plan_type: "pro",
        rate_limit_reached_type: null,
      },
    });
  }

  #item(payload: object): object {
    return this.#line("response_item", payload);
  }

  #event(payload: object): object {
    return this.#line("event_msg", payload);
  }

  #line(type: string, payload: object): object {
    const timestamp = this.#story.now();
    const ordinal = this.#isOld ? {} : { ordinal: this.#ordinal++ };
    return { timestamp, ...ordinal, type, payload };
  }
}

function message(role: string, type: string, text: string): object {
  return { type: "message", role, content: [{ type, text }] };
}

function toCounts(counts: { input: number; cached: number; output: number; reasoning: number }) {
  const { input, cached, output, reasoning } = counts;
  return {
    input_tokens: input,
    cached_input_tokens: cached,
    output_tokens: output,
    reasoning_output_tokens: reasoning,
    total_tokens: input + output,
  };
}

/** Codex reads and searches with commands. */
function toCommand(action: Extract<Action, { tool: "read" | "bash" | "search" }>): {
  readonly command: string;
  readonly output: string;
} {
  switch (action.tool) {
    case "read":
      return { command: `sed -n '1,400p' ${action.path}`, output: action.lines.join("\n") };
    case "search":
      return { command: `rg -n ${action.pattern} src`, output: action.output };
    case "bash":
      return action;
  }
}

function toPatch(action: Extract<Action, { tool: "edit" | "write" }>): string {
  const body =
    action.tool === "write"
      ? [`*** Add File: ${action.path}`, ...action.lines.map((line) => `+${line}`)]
      : [
          `*** Update File: ${action.path}`,
          "@@",
          ...action.old.map((line) => `-${line}`),
          ...action.new.map((line) => `+${line}`),
        ];
  return ["*** Begin Patch", ...body, "*** End Patch"].join("\n");
}
