/**
 * A session in Claude Code's format: a line per block of an answer, with the usage on each, and
 * tool results twice, as the model saw them and as the program stores them.
 *
 * Every other session is of an older version, which wrote each hook as `progress`; newer ones
 * repeat titles, modes and the last prompt instead, and keep no text of a thought.
 */

import type { Action, Story } from "./story.ts";

type Fields = Record<string, unknown>;

export class ClaudeCodeWriter {
  readonly #story: Story;
  readonly #isOld: boolean;
  #parent: string | null = null;
  #turns = 0;
  #context = 14_000;

  constructor(story: Story, number: number) {
    this.#story = story;
    this.#isOld = number % 2 === 0;
  }

  *lines(): Generator<object> {
    const { words } = this.#story;
    const { request, steps, answer } = this.#story.exchange();
    const promptId = words.uuid();
    if (!this.#isOld) yield* this.#bookkeeping(request);
    const asked = { ...this.#envelope("user", { promptId }), ...userMessage(request) };
    yield { ...asked, ...PROMPT_FIELDS };
    yield this.#snapshot();
    if (words.below(4) === 0) yield this.#attachment();
    for (const { thought, remark, action } of steps) {
      const answered = this.#answer();
      const isSealed = !this.#isOld;
      yield answered({
        type: "thinking",
        thinking: isSealed ? "" : thought,
        signature: words.sealed(200 + words.below(isSealed ? 1_600 : 600)),
      });
      yield answered({ type: "text", text: remark });
      const id = `toolu_01${words.sealed(17).slice(0, 22).replaceAll(/[+/]/g, "x")}`;
      const { name, input, output, result } = toCall(action, this.#isOld);
      yield answered({ type: "tool_use", id, name, input, caller: { type: "direct" } });
      const call = this.#parent;
      if (this.#isOld) {
        for (const event of ["PreToolUse", "PostToolUse"]) yield this.#hook(event, name, id);
      }
      const content = [{ tool_use_id: id, type: "tool_result", content: output, is_error: false }];
      yield {
        ...this.#envelope("user", { promptId }),
        message: { role: "user", content },
        toolUseResult: result,
        sourceToolAssistantUUID: call,
      };
      if (action.tool === "edit" || action.tool === "write") yield this.#snapshot();
    }
    yield this.#answer("end_turn")({ type: "text", text: answer });
    const subtype = this.#isOld ? "turn_duration" : "stop_hook_summary";
    const told = this.#isOld ? { durationMs: words.below(90_000) } : STOP_HOOK;
    yield { ...this.#envelope("system"), subtype, ...told, isMeta: false };
    this.#turns++;
  }

  #envelope(type: string, extra: Fields = {}): Fields {
    const { words, cwd, id } = this.#story;
    const parentUuid = this.#parent;
    this.#parent = words.uuid();
    return {
      parentUuid,
      isSidechain: false,
      ...extra,
      userType: "external",
      cwd,
      sessionId: id,
      version: this.#isOld ? "2.1.73" : "2.1.210",
      gitBranch: "feature/search-window",
      ...(this.#turns > 0 && this.#isOld ? { slug: "quiet-reading-lamp" } : { entrypoint: "cli" }),
      type,
      uuid: this.#parent,
      timestamp: this.#story.now(),
    };
  }

  /** The lines of one answer share its id, its request and its usage. */
  #answer(stop: string | null = null): (block: object) => object {
    const { words } = this.#story;
    const written = words.below(3_000);
    this.#context += written;
    const id = `msg_01${words.sealed(17).slice(0, 22).replaceAll(/[+/]/g, "x")}`;
    const requestId = `req_011C${words.sealed(15).slice(0, 20).replaceAll(/[+/]/g, "x")}`;
    const counts = {
      input_tokens: 2 + words.below(9),
      cache_creation_input_tokens: written,
      cache_read_input_tokens: this.#context,
    };
    const cache = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: written };
    const output = 1 + words.below(900);
    const usage = {
      ...counts,
      cache_creation: cache,
      output_tokens: output,
      service_tier: "standard",
      inference_geo: "not_available",
      ...(this.#isOld
        ? {}
        : {
            server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
            iterations: [
              { ...counts, output_tokens: output, cache_creation: cache, type: "message" },
            ],
            speed: "standard",
          }),
    };
    const rest = { stop_reason: stop, stop_sequence: null };
    return (block) => ({
      ...this.#envelope("assistant"),
      message: {
        model: "example-model-4-5",
        id,
        type: "message",
        role: "assistant",
        content: [block],
        ...rest,
        usage,
      },
      requestId,
    });
  }

  /** Which copies of changed files belong to the message. */
  #snapshot(): object {
    const { words, changed } = this.#story;
    const messageId = this.#parent;
    const timestamp = this.#story.now();
    const backups = changed.map((path) => [
      path,
      { backupFileName: `${words.hex(16)}@v2`, version: 2, backupTime: timestamp },
    ]);
    const snapshot = { messageId, trackedFileBackups: Object.fromEntries(backups), timestamp };
    const isSnapshotUpdate = changed.length > 0;
    return { type: "file-history-snapshot", messageId, snapshot, isSnapshotUpdate };
  }

  #hook(event: string, tool: string, id: string): object {
    const hookName = `${event}:${tool}`;
    return {
      ...this.#envelope("progress"),
      data: { type: "hook_progress", hookEvent: event, hookName, command: "callback" },
      parentToolUseID: id,
      toolUseID: id,
    };
  }

  #attachment(): object {
    const { words } = this.#story;
    const content = Array.from({ length: 1 + words.below(5) }, (_, i) => ({
      id: String(i + 1),
      content: words.text(8),
      status: "pending",
    }));
    const attachment = { type: "todo_reminder", content, itemCount: content.length };
    return { ...this.#envelope("attachment"), attachment };
  }

  *#bookkeeping(request: string): Generator<object> {
    const { words, id: sessionId } = this.#story;
    const lastPrompt = request.slice(0, 200);
    yield { type: "last-prompt", lastPrompt, sessionId };
    yield { type: "ai-title", aiTitle: words.text(4), sessionId };
    yield { type: "mode", mode: "normal", sessionId };
    if (words.below(3) > 0) return;
    const timestamp = this.#story.now();
    const content = words.text(20);
    yield { type: "queue-operation", operation: "enqueue", timestamp, sessionId, content };
    yield { type: "queue-operation", operation: "dequeue", timestamp, sessionId };
  }
}

const PROMPT_FIELDS = {
  permissionMode: "acceptEdits",
  todos: [],
  thinkingMetadata: { level: "high", disabled: false, triggers: [] },
};

const STOP_HOOK = {
  hookCount: 1,
  hookInfos: [{ command: "callback", durationMs: 12 }],
  hookErrors: [],
  preventedContinuation: false,
  stopReason: "",
  hasOutput: false,
  level: "suggestion",
};

function userMessage(content: string): object {
  return { message: { role: "user", content } };
}

interface Call {
  readonly name: string;
  readonly input: object;
  /** As the model sees it. */
  readonly output: string;
  /** As the program stores it. */
  readonly result: object;
}

function toCall(action: Action, isOld: boolean): Call {
  switch (action.tool) {
    case "read":
      return toRead(action, isOld);
    case "bash": {
      const { command, output: stdout } = action;
      return {
        name: "Bash",
        input: { command, description: command.slice(0, 40) },
        output: stdout,
        result: { stdout, stderr: "", interrupted: false, isImage: false, noOutputExpected: false },
      };
    }
    case "search": {
      const { pattern, output: content } = action;
      const numLines = content.split("\n").length;
      const input = { pattern, path: "src", output_mode: "content", "-n": true };
      const result = { mode: "content", numFiles: 0, filenames: [], content, numLines };
      return { name: "Grep", input, output: content, result };
    }
    case "write": {
      const { path: filePath, lines } = action;
      const content = lines.join("\n");
      return {
        name: "Write",
        input: { file_path: filePath, content },
        output: `File created successfully at: ${filePath}`,
        result: { type: "create", filePath, content, structuredPatch: [], originalFile: null },
      };
    }
    case "edit":
      return toEdit(action);
  }
}

function toRead(
  { path: filePath, lines }: Extract<Action, { tool: "read" }>,
  isOld: boolean,
): Call {
  const number = (i: number) => (isOld ? `${String(i + 1).padStart(6)}→` : `${i + 1}\t`);
  const counts = { numLines: lines.length, startLine: 1, totalLines: lines.length };
  return {
    name: "Read",
    input: { file_path: filePath },
    output: lines.map((line, i) => number(i) + line).join("\n"),
    result: { type: "text", file: { filePath, content: lines.join("\n"), ...counts } },
  };
}

function toEdit(action: Extract<Action, { tool: "edit" }>): Call {
  const { path: filePath, before, at, old, new: fresh } = action;
  const [oldString, newString] = [old.join("\n"), fresh.join("\n")];
  const start = Math.max(0, at - 3);
  const behind = before.slice(at + old.length, at + old.length + 3);
  const lines = [
    ...before.slice(start, at).map((line) => ` ${line}`),
    ...old.map((line) => `-${line}`),
    ...fresh.map((line) => `+${line}`),
    ...behind.map((line) => ` ${line}`),
  ];
  const around = at - start + behind.length;
  const patch = {
    oldStart: start + 1,
    oldLines: around + old.length,
    newStart: start + 1,
    newLines: around + fresh.length,
    lines,
  };
  const input = { replace_all: false, file_path: filePath };
  return {
    name: "Edit",
    input: { ...input, old_string: oldString, new_string: newString },
    output: `The file ${filePath} has been updated successfully.`,
    result: {
      filePath,
      oldString,
      newString,
      originalFile: before.join("\n"),
      structuredPatch: [patch],
      userModified: false,
      replaceAll: false,
    },
  };
}
