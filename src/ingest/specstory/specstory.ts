/**
 * Histories of SpecStory: Markdown in a repository's `.specstory/history`, a file for each session of
 * whatever agent.
 *
 * Format taken from specstoryai/getspecstory (`pkg/session/markdown.go`). Messages have no ids, and a
 * session may be in several files with other beginnings: time and content identify a message. Calls
 * are shown for people, so their input is what can be told of it.
 */

import type { Block } from "../../model/block.ts";
import {
  ContentIds,
  type EntryDraft,
  toImportedEntry,
  toImportedSession,
  toTranscript,
} from "../drafts.ts";
import { resultBlock, thinkingBlock } from "../fields.ts";
import { textOfHead } from "../head.ts";
import type { Line } from "../lines.ts";
import { LongText } from "../long/long-text.ts";
import { fileName } from "../machine-paths.ts";
import type { ProblemLog } from "../problems.ts";
import type { ImportedEntry, TranscriptSource } from "../source.ts";

const FORMAT = "specstory";

const SESSION = /^<!-- (\S[^<>]{0,60}?) Session (\S{1,100})(?: \(([^()]{1,60})\))? -->$/;
const HEADING = /^_\*\*(User|Agent|Assistant)( - sidechain)?(?: \(([^()]{1,200})\))?\*\*_$/;
const MESSAGE_ID = /^<!-- message-id: (\S{1,200}) -->$/;

export const SPECSTORY: TranscriptSource = {
  name: FORMAT,

  recognise(head) {
    const lines = textOfHead(head).split("\n", 20);
    return lines.some((line) => SESSION.test(line.trimEnd()));
  },

  isText: () => true,

  read: (input) =>
    toTranscript(async function* (problems) {
      const lines = input.lines[Symbol.asyncIterator]();
      let title: string | undefined;
      let session: RegExpExecArray | null = null;
      let heading: Line | undefined;
      for (let next = await lines.next(); !next.done; next = await lines.next()) {
        const text = next.value.text.trimEnd();
        if (HEADING.test(text)) {
          heading = next.value;
          break;
        }
        title ??= /^#{1,2} (?!\d{4}-\d\d-\d\d)(.*)/.exec(text)?.[1];
        session ??= SESSION.exec(text);
      }
      const [, agent = "", id, at = ""] = session ?? [];
      const stem = fileName(input.path).replace(/\.md$/, "");
      // The agent's own transcript may be stored, too: this is another session.
      const own = id ?? stem;
      const first = heading;
      yield {
        ...toImportedSession(FORMAT, {
          id: own === "" ? null : `${own}-${FORMAT}`,
          agent: AGENTS[agent] ?? (agent.toLowerCase().replace(/[^a-z0-9]+/g, "-") || FORMAT),
          title: title ?? null,
          cwd: folderAbove(input.path),
          startedAt: toTime(at) ?? toTime(stem),
          fields: id === undefined ? {} : { session: id },
        }),
        entries: first === undefined ? nothing() : readEntries(first, lines, problems),
        problems,
      };
    }),
};

const AGENTS: Readonly<Record<string, string>> = {
  "Claude Code": "claude-code",
  "Codex CLI": "codex",
  "Cursor CLI": "cursor",
  "Cursor IDE": "cursor",
  cursor: "cursor",
  "Gemini CLI": "gemini-cli",
  "Factory Droid CLI": "droid",
};

async function* nothing(): AsyncGenerator<ImportedEntry> {
  // A file without a message.
}

/** The folder that holds `.specstory`. */
function folderAbove(path: string): string | null {
  const [, folder] = /^(.+?)[/\\]\.specstory[/\\]history[/\\][^/\\]+$/.exec(path) ?? [];
  return folder ?? null;
}

/** `2026-01-16 16:48:38Z`, `2026-01-16 16:48:38-0700`, `2026-01-16_16-48-38Z`, ISO 8601. */
function toTime(text: string): number | null {
  const [, day, hour, minute, second = "00", zone = ""] =
    /^(\d{4}-\d\d-\d\d)[ _T](\d\d)[:-](\d\d)(?:[:-](\d\d(?:\.\d{1,9})?))?(Z|[+-]\d\d:?\d\d)?/.exec(
      text,
    ) ?? [];
  const offset = zone.replace(/^(.\d\d)(\d\d)$/, "$1:$2");
  const time = Date.parse(`${day}T${hour}:${minute}:${second}${offset}`);
  return Number.isNaN(time) ? null : time;
}

interface Heading {
  readonly role: "user" | "assistant";
  readonly isSide: boolean;
  readonly model: string | null;
  readonly at: number | null;
}

/** In parentheses: the time, the model, or both; older versions also name the mode. */
function toHeading(text: string): Heading | undefined {
  const [, who, side, about = ""] = HEADING.exec(text) ?? [];
  if (who === undefined) return undefined;
  const [time = ""] = /\d{4}-\d\d-\d\d[ _T][\d:.-]{5,}(?:Z|[+-]\d\d:?\d\d)?$/.exec(about) ?? [];
  const named = about.slice(0, about.length - time.length).trim();
  const [, model = ""] = /^(?:model )?([^,]*)/.exec(named) ?? [];
  const isUser = who === "User";
  return {
    role: isUser ? "user" : "assistant",
    isSide: side !== undefined,
    model: isUser || model === "" || model === "<synthetic>" ? null : model,
    at: time === "" ? null : toTime(time),
  };
}

async function* readEntries(
  first: Line,
  rest: AsyncIterator<Line>,
  problems: ProblemLog,
): AsyncGenerator<ImportedEntry> {
  const message = new Message(problems);
  message.begin(toHeading(first.text.trimEnd()) as Heading);
  for (let next = await rest.next(); !next.done; next = await rest.next()) {
    const { text, number, damage } = next.value;
    if (damage === "not_utf8") {
      problems.add("not_utf8", "some bytes are not UTF-8 and were replaced", number);
    }
    const heading = message.mayEnd ? toHeading(text.trimEnd()) : undefined;
    if (heading === undefined) message.add(text, number);
    else {
      yield* message.end();
      message.begin(heading);
    }
  }
  yield* message.end();
}

const THOUGHT = "<think><details><summary>Thought Process</summary>";
const END_OF_THOUGHT = "</details></think>";
const CALL = /^<tool-use data-tool-type="([^"]{0,100})" data-tool-name="([^"]{0,200})"><details>$/;
const END_OF_CALL = "</details></tool-use>";
/** The end of a call whose fence was not told apart from one in its output. */
const UNFENCED = /\n```\n<\/details><\/tool-use>(?:\n+---)?$/;
const FENCE = /^(`{3,})(\S*)/;

/** One message, line by line: text, thoughts, and calls with their results. */
class Message {
  readonly #problems: ProblemLog;
  readonly #text: LongText;
  /** Of the call in progress: the code that is its input, and its output. */
  readonly #code: LongText;
  readonly #result: LongText;
  #heading: Heading | undefined;
  #id: string | undefined;
  #blocks: Block[] = [];
  #results: Block[] = [];
  #inside: "text" | "thought" | "call" = "text";
  #call: { type: string; name: string; isFailed: boolean } = {
    type: "",
    name: "",
    isFailed: false,
  };
  /** The line that ends the code in progress: longer than any in it. */
  #fence: string | undefined;
  #isResult = false;
  #isDifference = false;
  #hasResult = false;
  #isAfterEmpty = true;
  #isAfterCall = false;
  readonly #ids = new ContentIds();
  readonly #callIds = new ContentIds();
  /** The last message of the conversation, and of the sub-agent at work. */
  #main: string | null = null;
  #side: string | null = null;

  constructor(problems: ProblemLog) {
    this.#problems = problems;
    this.#text = new LongText(problems);
    this.#code = new LongText(problems);
    this.#result = new LongText(problems);
  }

  /**
   * Whether a heading may follow: outputs of tools contain other histories. Older versions did not
   * choose a fence that is longer than any in the output: then the end of the call counts.
   */
  get mayEnd(): boolean {
    const isOpen = this.#fence !== undefined && !(this.#fence === "```" && this.#isAfterCall);
    return this.#isAfterEmpty && !isOpen;
  }

  begin(heading: Heading): void {
    this.#heading = heading;
    this.#isAfterEmpty = false;
  }

  add(line: string, number: number): void {
    const plain = line.trimEnd();
    this.#isAfterEmpty = plain === "";
    if (plain !== "" && plain !== "---") this.#isAfterCall = plain === END_OF_CALL;
    const [, type, name] = CALL.exec(plain) ?? [];
    if (this.#inside === "call") this.#addToCall(line, plain, number);
    else if (this.#inside === "thought") {
      if (plain === END_OF_THOUGHT) this.#endThought();
      else this.#text.add(line, number);
    } else if (plain === THOUGHT) {
      this.#takeText();
      this.#inside = "thought";
    } else if (type !== undefined && name !== undefined) {
      this.#takeText();
      this.#call = { type, name, isFailed: false };
      this.#hasResult = false;
      this.#inside = "call";
    } else {
      const [, id] = MESSAGE_ID.exec(plain) ?? [];
      if (id !== undefined && this.#blocks.length === 0) this.#id ??= id;
      else this.#text.add(line, number);
    }
  }

  *end(): Generator<ImportedEntry> {
    const { role, isSide, model, at } = this.#heading as Heading;
    if (this.#inside === "call") this.#endCall();
    else if (this.#inside === "thought") this.#endThought();
    else this.#takeText();
    this.#inside = "text";
    this.#fence = undefined;
    const [blocks, results] = [this.#blocks, this.#results];
    const id = this.#id ?? null;
    [this.#blocks, this.#results, this.#id] = [[], [], undefined];
    if (blocks.length === 0) return this.#problems.ignore("empty message");
    const base = { id, kind: "message", createdAt: at } as const;
    const sourceId = this.#ids.next(JSON.stringify([role, at, model, isSide, blocks]));
    const marks = isSide ? { marks: { sidechain: true } } : {};
    const who = role === "user" ? {} : { actor: FORMAT, model };
    const said = { ...base, ...marks, ...who, role, blocks };
    yield this.#place({ ...said, sourceId }, isSide);
    if (results.length === 0) return;
    const told = {
      ...base,
      ...marks,
      role: "tool",
      actor: this.#call.name,
      blocks: results,
    } as const;
    yield this.#place({ ...told, sourceId: `${sourceId}-results` }, isSide);
  }

  /** What a sub-agent did is a branch of the message before it. */
  #place(draft: EntryDraft, isSide: boolean): ImportedEntry {
    const parent = isSide ? (this.#side ?? this.#main) : this.#main;
    this.#side = isSide ? draft.sourceId : null;
    if (!isSide) this.#main = draft.sourceId;
    return toImportedEntry(FORMAT, { ...draft, parentSourceId: parent });
  }

  #takeText(): void {
    // A rule separates messages.
    const text = this.#text.take((whole) =>
      whole
        .trim()
        .replace(/(?:^|\n)---$/, "")
        .trimEnd(),
    );
    if (text !== "") this.#blocks.push({ type: "text", text });
  }

  #endThought(): void {
    const thought = this.#text.take();
    if (thought !== "") this.#blocks.push(thinkingBlock(thought));
    this.#inside = "text";
  }

  #addToCall(line: string, plain: string, number: number): void {
    const [, fence, language] = FENCE.exec(plain) ?? [];
    if (this.#fence !== undefined) {
      if (plain === this.#fence) this.#fence = undefined;
      else (this.#isResult ? this.#result : this.#code).add(line, number);
    } else if (plain === END_OF_CALL) {
      this.#endCall();
      this.#inside = "text";
    } else if (fence !== undefined) {
      this.#fence = fence;
      // Outputs are text; what is written has the language of its file.
      this.#isResult = language === "text" || (language === "" && this.#call.type !== "write");
      this.#hasResult ||= this.#isResult;
      this.#isDifference = language === "diff";
    } else if (plain === "**Error:**") this.#call.isFailed = true;
    else if (!plain.startsWith("<summary>") && plain !== "**Result:**") {
      this.#text.add(line, number);
    }
  }

  #endCall(): void {
    const { type, name, isFailed } = this.#call;
    const code = type === "shell" ? "command" : this.#isDifference ? "diff" : "content";
    const input = { ...toInput(type, this.#text.take()), ...textIn(code, this.#code.take()) };
    const id = this.#callIds.next(JSON.stringify([name, input]));
    this.#blocks.push({ type: "tool_use", id, name, input: JSON.stringify(input) });
    if (!this.#hasResult) return;
    const isOpen = this.#fence !== undefined;
    const output = this.#result.take((all) =>
      isOpen ? all.trim().replace(UNFENCED, "") : all.trim(),
    );
    this.#results.push(resultBlock(id, name, output, isFailed));
    this.#hasResult = false;
  }
}

/** The command or the file is in backticks, on a line of its own; a long command is code. */
function toInput(type: string, shown: string): Record<string, string> {
  const name = { shell: "command", read: "file_path", write: "file_path" }[type];
  const [whole = "", quoted = ""] = /^[ \t]*`([^`\n]+)`$/m.exec(shown) ?? [];
  if (name === undefined || quoted === "") return textIn("text", shown);
  return { [name]: quoted, ...textIn("text", shown.replace(whole, () => "").trim()) };
}

function textIn(name: string, text: string): Record<string, string> {
  return text === "" ? {} : { [name]: text };
}
