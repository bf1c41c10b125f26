/**
 * Transcripts of our own making, in the line shapes that agents write: the same for the same seed.
 *
 * Most bytes of a real transcript are what tools read and wrote, and the envelope of each line. What
 * people and models say to each other, which is what gets indexed, is a sixth of it here.
 */

import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { finished } from "node:stream/promises";
import { wordOfRank } from "./search-corpus.ts";
import { randomNumbers } from "./synthetic.ts";

export const FORMATS = ["claude-code", "codex", "pi"] as const;
export type Format = (typeof FORMATS)[number];

export interface Corpus {
  readonly files: number;
  readonly bytes: number;
  /** Text that people and models said. */
  readonly spokenBytes: number;
}

/** Writes files of about `fileBytes` each below `root`, until there are `files`. */
export async function writeCorpus(
  root: string,
  format: Format,
  files: number,
  fileBytes: number,
): Promise<Corpus> {
  let bytes = 0;
  let spokenBytes = 0;
  for (let i = 0; i < files; i++) {
    const writer = new SessionWriter(format, i);
    const path = join(root, pathOf(format, i, writer.id));
    await mkdir(dirname(path), { recursive: true });
    const out = createWriteStream(path);
    let length = 0;
    while (length < fileBytes) {
      const text = writer.exchange();
      length += Buffer.byteLength(text);
      if (!out.write(text)) await once(out, "drain");
    }
    out.end();
    await finished(out);
    bytes += length;
    spokenBytes += writer.spoken;
  }
  return { files, bytes, spokenBytes };
}

function pathOf(format: Format, i: number, id: string): string {
  const day = String(1 + (i % 28)).padStart(2, "0");
  switch (format) {
    case "claude-code":
      return `.claude/projects/-srv-project-${i % 50}/${id}.jsonl`;
    case "codex":
      return `.codex/sessions/2026/05/${day}/rollout-2026-05-${day}T10-00-00-${id}.jsonl`;
    case "pi":
      return `.pi/agent/sessions/--srv-project-${i % 50}--/2026-05-${day}_${id}.jsonl`;
  }
}

const VOCABULARY = 200_000;
const OWN_WORDS = 200;

/** Words by Zipf's law; a third of them are of the session's, or the page's, own two hundred. */
class Words {
  readonly #random: () => number;
  readonly #own: readonly string[];

  constructor(seed: number) {
    this.#random = randomNumbers(seed);
    this.#own = Array.from({ length: OWN_WORDS }, () => this.#word());
  }

  /** A whole number below `limit`. */
  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  text(count: number): string {
    const chosen = Array.from({ length: count }, () =>
      this.#random() < 1 / 3 ? this.#own[this.below(OWN_WORDS)] : this.#word(),
    );
    return chosen.join(" ");
  }

  #word(): string {
    return wordOfRank(Math.floor(VOCABULARY ** this.#random()) - 1);
  }
}

/** What an agent said, thought and did before it answered. */
interface Step {
  readonly remark: string;
  readonly thought: string;
  readonly output: string;
}

class SessionWriter {
  readonly id: string;
  spoken = 0;
  readonly #format: Format;
  readonly #words: Words;
  readonly #cwd: string;
  #time = Date.UTC(2026, 4, 4, 10);
  #parent: string | null = null;
  #count = 0;

  constructor(format: Format, number: number) {
    this.#format = format;
    this.#words = new Words(1_000 + number);
    this.#cwd = `/srv/project-${number % 50}`;
    this.id = this.#uuid();
    this.#time += number * 60_000;
  }

  /** A request, some calls with what the tools gave, and the answer. */
  exchange(): string {
    const request = this.#say(40 + this.#words.below(60));
    const steps = Array.from({ length: 1 + this.#words.below(5) }, () => ({
      remark: this.#say(20 + this.#words.below(40)),
      thought: this.#words.text(20 + this.#words.below(60)),
      output: this.#toolOutput(),
    }));
    const answer = this.#say(150 + this.#words.below(150));
    const lines = this.#lines(request, steps, answer);
    return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  }

  #lines(request: string, steps: readonly Step[], answer: string): object[] {
    switch (this.#format) {
      case "claude-code":
        return this.#claudeLines(request, steps, answer);
      case "codex":
        return this.#codexLines(request, steps, answer);
      case "pi":
        return this.#piLines(request, steps, answer);
    }
  }

  #claudeLines(request: string, steps: readonly Step[], answer: string): object[] {
    const envelope = (type: string) => {
      const parentUuid = this.#parent;
      this.#parent = this.#uuid();
      return {
        ...{ parentUuid, isSidechain: false, userType: "external", cwd: this.#cwd },
        ...{ sessionId: this.id, version: "2.1.7", gitBranch: "main", type },
        ...{ uuid: this.#parent, timestamp: this.#now() },
      };
    };
    const said = (id: string, content: object) => ({
      ...{ model: "example-model-4-5", id: `msg_${id}`, type: "message", role: "assistant" },
      ...{ content: [content], stop_reason: null, stop_sequence: null, usage: CLAUDE_USAGE },
    });
    const path = `${this.#cwd}/src/file-${this.#words.below(90)}.ts`;
    const ask = { ...envelope("user"), message: { role: "user", content: request }, todos: [] };
    const taken = steps.flatMap(({ remark, thought, output }) => {
      const id = this.#uuid().replaceAll("-", "").slice(0, 24);
      const call = { type: "tool_use", id: `toolu_${id}`, name: "Read" };
      const result = { tool_use_id: call.id, type: "tool_result", content: output };
      const signature = this.#uuid().repeat(10);
      const requestId = `req_${id}`;
      return [
        {
          ...envelope("assistant"),
          ...{ message: said(id, { type: "thinking", thinking: thought, signature }), requestId },
        },
        {
          ...envelope("assistant"),
          ...{ message: said(id, { type: "text", text: remark }), requestId },
        },
        {
          ...envelope("assistant"),
          ...{ message: said(id, { ...call, input: { file_path: path } }), requestId },
        },
        {
          ...envelope("user"),
          message: { role: "user", content: [result] },
          toolUseResult: { type: "text", file: { filePath: path, numLines: 80, startLine: 1 } },
        },
      ];
    });
    const last = this.#uuid().replaceAll("-", "").slice(0, 24);
    return [
      ask,
      ...taken,
      { ...envelope("assistant"), message: said(last, { type: "text", text: answer }) },
    ];
  }

  #codexLines(request: string, steps: readonly Step[], answer: string): object[] {
    const line = (type: string, payload: object) => ({ timestamp: this.#now(), type, payload });
    const item = (payload: object) => line("response_item", payload);
    const first = this.#count++ === 0;
    const git = { branch: "main", commit_hash: "0".repeat(40) };
    const taken = steps.flatMap(({ remark, thought, output }) => {
      const call = `call_${this.#uuid().slice(0, 18)}`;
      return [
        item({
          ...{ type: "reasoning", summary: [{ type: "summary_text", text: thought }] },
          encrypted_content: this.#uuid().repeat(12),
        }),
        item({
          ...{ type: "message", role: "assistant" },
          content: [{ type: "output_text", text: remark }],
        }),
        item({
          ...{ type: "function_call", name: "exec_command", call_id: call },
          arguments: JSON.stringify({ cmd: `sed -n 1,80p src/file-${this.#words.below(90)}.ts` }),
        }),
        item({ type: "function_call_output", call_id: call, output }),
        line("event_msg", {
          type: "token_count",
          info: { last_token_usage: { input_tokens: 9_000, output_tokens: 300 } },
        }),
      ];
    });
    const meta = {
      ...{ id: this.id, timestamp: this.#now(), cwd: this.#cwd, originator: "codex_cli" },
      ...{ cli_version: "0.140.0", source: "cli", model_provider: "example", git },
    };
    const turn = { turn_id: this.#uuid(), cwd: this.#cwd, model: "example-5.5", effort: "high" };
    return [
      ...(first ? [line("session_meta", meta)] : []),
      line("turn_context", turn),
      item({
        ...{ type: "message", role: "user" },
        content: [{ type: "input_text", text: request }],
      }),
      ...taken,
      item({
        ...{ type: "message", role: "assistant" },
        content: [{ type: "output_text", text: answer }],
      }),
    ];
  }

  #piLines(request: string, steps: readonly Step[], answer: string): object[] {
    const entry = (message: object) => {
      const parentId = this.#parent;
      this.#parent = this.#uuid().slice(0, 8) + (this.#count++).toString(16);
      return { type: "message", id: this.#parent, parentId, timestamp: this.#now(), message };
    };
    const header = {
      ...{ type: "session", version: 3, id: this.id, timestamp: this.#now(), cwd: this.#cwd },
    };
    const first = this.#count === 0 ? [header] : [];
    const model = { api: "example", provider: "example", model: "example-1", stopReason: "stop" };
    const usage = { input: 9_000, output: 300, cacheRead: 8_000, cacheWrite: 500 };
    const ask = entry({ role: "user", content: [{ type: "text", text: request }] });
    const taken = steps.flatMap(({ remark, thought, output }) => {
      const id = `call_${this.#uuid().slice(0, 18)}`;
      return [
        entry({
          ...{ role: "assistant", ...model, usage },
          content: [
            { type: "thinking", thinking: thought, thinkingSignature: this.#uuid().repeat(10) },
            { type: "text", text: remark },
            { type: "toolCall", id, name: "read", arguments: { path: "src/file.ts" } },
          ],
        }),
        entry({
          ...{ role: "toolResult", toolCallId: id, toolName: "read", isError: false },
          content: [{ type: "text", text: output }],
        }),
      ];
    });
    const reply = { role: "assistant", ...model, usage, content: [{ type: "text", text: answer }] };
    return [...first, ask, ...taken, entry(reply)];
  }

  #say(words: number): string {
    const text = this.#words.text(Math.round(words * TALK[this.#format]));
    this.spoken += text.length;
    return text;
  }

  /**
   * As in real transcripts, half of the outputs have a few hundred bytes, and two thirds of the bytes
   * are in the few that are long. A third of the pages were read before.
   */
  #toolOutput(): string {
    const kind = this.#words.below(100);
    const lines =
      kind < 60
        ? 1 + this.#words.below(14)
        : kind < 90
          ? 20 + this.#words.below(80)
          : 130 + this.#words.below(600);
    const seed = this.#words.below(3) === 0 ? this.#words.below(50) : this.#words.below(1_000_000);
    const page = new Words(seed);
    return Array.from({ length: lines }, (_, i) => `${i + 1}→  ${page.text(6)};`).join("\n");
  }

  #now(): string {
    this.#time += 1_000;
    return new Date(this.#time).toISOString();
  }

  #uuid(): string {
    const hex = Array.from({ length: 32 }, () => this.#words.below(16).toString(16)).join("");
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  }
}

/** The envelope of a line of Claude Code is the largest: its sessions say more, for the same share. */
const TALK: Readonly<Record<Format, number>> = { "claude-code": 1.65, codex: 1.1, pi: 1.1 };

const CLAUDE_USAGE = {
  ...{ input_tokens: 10, output_tokens: 300, cache_read_input_tokens: 8_000 },
  ...{ cache_creation_input_tokens: 500, service_tier: "standard" },
};
