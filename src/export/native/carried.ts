/**
 * The messages of a path for another agent: with complete tool pairs, ids of calls and names of
 * tools that every provider accepts, without data of the first provider; and the port of a writer
 * of another agent's session files.
 */

import type { Block, ToolResultBlock, ToolUseBlock } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";
import { COPIED_PICTURE, type LineMark, type SessionMark } from "../../transcript/copy-mark.ts";
import { parseExact } from "../../transcript/exact-json.ts";
import type { LossLog } from "../format.ts";

export interface CarriedMessage {
  readonly role: "user" | "assistant" | "tool";
  /** Never empty. For a tool, one result. */
  readonly blocks: readonly Block[];
  readonly at: number;
  readonly model: string | null;
  /** The entry that it copies; null for added text. */
  readonly entry: string | null;
  /** Synthetic: a summary, or a result that completes a pair. */
  readonly injected: boolean;
}

/** The capabilities of the continuing agent. */
interface Reader {
  /** The provider whose encrypted thoughts and signatures are kept. */
  readonly provider: "anthropic" | "openai" | null;
  /** Whether its files hold plain thoughts. */
  readonly readsThoughts: boolean;
  /**
   * Whether a result is part of its call: then each message with calls is followed by its results.
   */
  readonly holdsResults: boolean;
  /** Whether a result can be marked as failed. */
  readonly marksFailures: boolean;
  /** Whether a message is one text, without pictures. */
  readonly isText?: true;
}

interface CarryOptions {
  readonly reader: Reader;
  /** Every message of the path, including covered ones. */
  readonly full: boolean;
}

const NO_RESULT = "[no result of this call was recorded]";
const SUMMARY_OPENING = "The conversation before this point was compacted to this summary:";
const OPENING = "[the conversation begins with an answer]";

/** `path` from its root on. */
export function carryMessages(
  path: readonly Entry[],
  options: CarryOptions,
  losses: LossLog,
): CarriedMessage[] {
  const said = fromSummary(path, options.full, losses)
    .flatMap((entry) => carryEntry(entry, options.reader, losses))
    .filter(({ blocks }) => blocks.length > 0);
  const paired = new Pairing(options.reader, losses).pair(said);
  const [first] = paired;
  if (first === undefined || first.role === "user") return paired;
  const opening = { role: "user" as const, blocks: [text(OPENING)], at: first.at, model: null };
  return [{ ...opening, entry: null, injected: true }, ...paired];
}

/** The newest compaction, and its kept messages. */
function fromSummary(path: readonly Entry[], full: boolean, losses: LossLog): readonly Entry[] {
  const at = full ? -1 : path.findLastIndex(({ kind }) => kind === "compaction");
  const compaction = path[at];
  if (compaction === undefined) return path.filter(({ kind }) => kind !== "compaction");
  const kept = (compaction.data as { firstKeptEntryId?: unknown } | null)?.firstKeptEntryId;
  const from = path.findIndex(({ id }) => id === kept);
  const start = from < 0 || from > at ? at : from;
  losses.add(
    "summarised messages",
    path.slice(0, start).filter(({ kind }) => kind === "message").length,
  );
  const rest = path.slice(start).filter(({ kind }) => kind !== "compaction");
  return [compaction, ...rest];
}

function carryEntry(entry: Entry, reader: Reader, losses: LossLog): CarriedMessage[] {
  const base = {
    at: entry.createdAt,
    model: entry.model,
    entry: entry.copiedFrom ?? entry.id,
    injected: false,
  };
  if (entry.erased) {
    losses.add("messages whose content was erased");
    return [];
  }
  switch (entry.kind) {
    case "compaction": {
      const blocks = carryBlocks(entry, reader, losses);
      const said = [text(SUMMARY_OPENING), ...blocks];
      const whole = reader.isText ? inOneText(said, losses) : said;
      return [{ ...base, role: "user", blocks: whole, injected: true }];
    }
    case "custom_message":
    case "branch_summary": {
      const blocks = carryBlocks(entry, reader, losses);
      const said = reader.isText ? inOneText(blocks, losses) : blocks;
      return [{ ...base, role: "user", blocks: said, injected: true }];
    }
    case "message":
      break;
    default:
      return [];
  }
  if (entry.role === "system" || isInjected(entry)) {
    losses.add("messages injected by the first agent");
    return [];
  }
  const blocks = carryBlocks(entry, reader, losses);
  const results = blocks.filter((block) => block.type === "tool_result");
  const others = blocks.filter((block) => block.type !== "tool_result");
  const role = entry.role === "assistant" ? "assistant" : "user";
  const said = reader.isText ? inOneText(others, losses) : others;
  return [
    ...results.map((block) => ({ ...base, role: "tool" as const, blocks: [block] })),
    ...(said.length === 0 ? [] : [{ ...base, role: role as "user", blocks: said }]),
  ];
}

/** One text, and the calls. */
function inOneText(blocks: readonly Block[], losses: LossLog): Block[] {
  const calls = blocks.filter(({ type }) => type === "tool_use");
  losses.add("pictures", blocks.filter(({ type }) => type === "image").length);
  const texts = blocks.flatMap((block) => {
    if (block.type === "text") return [block.text];
    return block.type === "image" ? [COPIED_PICTURE] : [];
  });
  return [...(texts.length === 0 ? [] : [text(texts.join("\n\n"))]), ...calls];
}

function isInjected({ metadata }: Entry): boolean {
  return metadata["injected"] === true || metadata["recalled"] === true;
}

function carryBlocks(entry: Entry, reader: Reader, losses: LossLog): Block[] {
  return entry.blocks.flatMap((block): Block[] => {
    switch (block.type) {
      case "text":
        // Providers refuse blank text.
        return block.text.trim() === "" ? [] : [text(block.text)];
      case "thinking":
        return carryThought(block, entry, reader, losses);
      case "opaque":
        if (block.provider !== undefined && block.provider === reader.provider) return [block];
        losses.add(
          isSealed(block.json)
            ? "sealed thoughts of another provider"
            : "blocks that only another provider understands",
        );
        return [];
      default:
        return [block];
    }
  });
}

function isSealed(json: string): boolean {
  return /"type":\s*"(?:reasoning|redacted_thinking|compaction)"|"encrypted_content"/.test(json);
}

function carryThought(
  block: Extract<Block, { type: "thinking" }>,
  entry: Entry,
  reader: Reader,
  losses: LossLog,
): Block[] {
  const { signature } = block;
  const isOwn = reader.provider === "anthropic" && /^claude/i.test(entry.model ?? "");
  if (isOwn && signature !== undefined) {
    return [{ type: "thinking", text: block.text, signature }];
  }
  if (signature !== undefined) losses.add("signatures of another provider");
  if (block.text.trim() === "") return [];
  if (reader.readsThoughts) return [{ type: "thinking", text: block.text }];
  losses.add("thoughts");
  return [];
}

/** Puts each result right after its call's answer, and completes calls without one. */
class Pairing {
  readonly #reader: Reader;
  readonly #losses: LossLog;
  readonly #names = new ToolNames();

  constructor(reader: Reader, losses: LossLog) {
    this.#reader = reader;
    this.#losses = losses;
  }

  pair(messages: readonly CarriedMessage[]): CarriedMessage[] {
    const results = new Map<string, CarriedMessage[]>();
    for (const message of messages) {
      const [block] = message.blocks;
      if (block?.type !== "tool_result") continue;
      results.set(block.toolUseId, [...(results.get(block.toolUseId) ?? []), message]);
    }
    const used = new Set<CarriedMessage>();
    const paired: CarriedMessage[] = [];
    let open: { readonly call: ToolUseBlock; readonly id: string; readonly at: number }[] = [];
    const close = () => {
      for (const { call, id, at } of open) {
        const found = results.get(call.id)?.find((message) => !used.has(message));
        if (found === undefined) this.#losses.add("calls without a result, closed with a note");
        else used.add(found);
        paired.push(this.#result(found, call, id, at));
      }
      open = [];
    };
    for (const message of messages) {
      if (message.role === "tool") {
        if (open.length > 0) close();
        continue;
      }
      if (message.role === "user") close();
      const blocks = message.blocks.map((block) => {
        if (block.type !== "tool_use" || message.role !== "assistant") return block;
        const id = this.#names.callId(block.id);
        const name = this.#names.toolName(block.name);
        if (id !== block.id || name !== block.name) {
          this.#losses.add("call ids and tool names written in another way");
        }
        open.push({ call: block, id, at: message.at });
        return { ...block, id, name };
      });
      paired.push({ ...message, blocks });
      if (this.#reader.holdsResults) close();
    }
    close();
    const lost = messages.filter((message) => message.role === "tool" && !used.has(message)).length;
    this.#losses.add("results without a call", lost);
    return paired;
  }

  #result(
    found: CarriedMessage | undefined,
    call: ToolUseBlock,
    id: string,
    at: number,
  ): CarriedMessage {
    const name = this.#names.toolName(call.name);
    const block = found?.blocks[0] as ToolResultBlock | undefined;
    const result: ToolResultBlock = {
      type: "tool_result",
      toolUseId: id,
      toolName: name,
      output: block === undefined ? NO_RESULT : plainOutput(block.output, this.#losses),
      isError: block?.isError ?? true,
    };
    if (result.isError && !this.#reader.marksFailures) this.#losses.add("marks of failed results");
    if (this.#reader.holdsResults && typeof result.output !== "string") {
      const pictures = result.output.filter(({ type }) => type === "image");
      this.#losses.add("pictures in results", pictures.length);
    }
    const own = { role: "tool" as const, at, model: null, entry: null, injected: true };
    return { ...(found ?? own), role: "tool", blocks: [result] };
  }
}

/** Texts and images, or a plain string for text only. */
function plainOutput(
  output: ToolResultBlock["output"],
  losses: LossLog,
): ToolResultBlock["output"] {
  if (typeof output === "string") return output;
  const kept = output.filter((block) => block.type === "text" || block.type === "image");
  losses.add("parts of results that are neither text nor a picture", output.length - kept.length);
  if (kept.some(({ type }) => type === "image")) {
    return kept.map((block) => (block.type === "text" ? text(block.text) : block));
  }
  return kept.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

function text(value: string): Block {
  return { type: "text", text: value };
}

export interface NativeFormat {
  /** The name of its reader. */
  readonly name: string;
  readonly reader: Reader;
  /** The whole file. */
  write(input: NativeInput): string;
}

export interface NativeInput {
  /** Id of the new session, in the agent's own form. */
  readonly id: string;
  readonly cwd: string;
  readonly gitBranch: string | null;
  readonly title: string;
  /** Epoch milliseconds: the time of writing. */
  readonly now: number;
  readonly messages: readonly CarriedMessage[];
  readonly mark: SessionMark;
  /** A new UUID for a line. */
  readonly newUuid: () => string;
}

export function lineMark({ entry, injected }: CarriedMessage): LineMark {
  return { ...(entry === null ? {} : { entry }), ...(injected ? { injected: true } : {}) };
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

export function jsonLines(records: readonly object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

/** A result as one text; a picture is named. */
export function outputText({ output }: ToolResultBlock): string {
  if (typeof output === "string") return output;
  return output.map((each) => (each.type === "text" ? each.text : COPIED_PICTURE)).join("\n");
}

/** Arguments as an object, as most formats keep them; other values go into `input`. */
export function toArguments(input: string): object {
  try {
    const value = parseExact(input);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    // A number of many digits is raw JSON.
    if (isObject && !("rawJSON" in value && Object.getPrototypeOf(value) === null)) return value;
  } catch {
    // A model's arguments may be invalid JSON.
  }
  return { input };
}

/** OpenAI refuses call ids and names of more than 64 characters. */
const MAX_LENGTH = 64;

class ToolNames {
  readonly #ids = new Set<string>();

  /** Unique among the ids that were given before. */
  callId(id: string): string {
    const clean = clear(id, "call");
    let unique = clean;
    for (let n = 2; this.#ids.has(unique); n++) {
      const end = `_${n}`;
      unique = `${clean.slice(0, MAX_LENGTH - end.length)}${end}`;
    }
    this.#ids.add(unique);
    return unique;
  }

  toolName(name: string): string {
    return clear(name, "tool");
  }
}

function clear(text: string, fallback: string): string {
  const clean = text.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, MAX_LENGTH);
  return clean === "" ? fallback : clean;
}
