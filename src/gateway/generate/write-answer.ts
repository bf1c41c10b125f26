/**
 * Stores one streamed message of a model.
 *
 * The message is written as it arrives, so a crash loses little and subscribers see it. It is
 * opened only once the answer cannot be silent any more, since followers see open messages. A
 * silent answer is stored in one piece at its end.
 */

import type { ChatEnd, ChatPart, ToolCallPart } from "../../context/chat-model.ts";
import type { MessageStream } from "../../engine/message-stream.ts";
import type { SessionHandle } from "../../engine/session-handle.ts";
import type { Block } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { JsonObject } from "../../model/json.ts";
import { streamReader } from "../../providers/chat-model.ts";
import { type SilenceMode, silenceFilter } from "../silence.ts";
import type { GeneratePart } from "./generate-options.ts";

export interface AnswerSettings {
  readonly session: SessionHandle;
  readonly actor: string;
  readonly model: string;
  readonly contextWindow: number;
  readonly silence: SilenceMode | false;
  readonly metadata: JsonObject;
  /** The aborted message that this one replaces. */
  readonly supersedes: string | undefined;
  readonly tell: (part: GeneratePart) => void;
  /** After its abort nothing more is taken from the model and nothing is committed. */
  readonly signal: AbortSignal | undefined;
}

export interface WrittenAnswer {
  readonly calls: readonly ToolCallPart[];
  /** The text to deliver. */
  readonly text: string;
  readonly silent: boolean;
  readonly end: ChatEnd;
  /**
   * Commits the message to the conversation. If the signal was aborted before that, aborts the
   * message and throws `model_failed`.
   */
  commit(): Promise<Entry>;
  /** Runs after the commit. */
  afterwards?: () => Promise<void>;
  /** Aborts it; the text received so far is kept. */
  abort(reason: string): Promise<void>;
}

/**
 * Consumes all parts of one call. If the call fails, aborts the message, passes its id (if any) to
 * `onAborted`, and throws the failure.
 */
export async function writeAnswer(
  parts: AsyncIterable<ChatPart>,
  settings: AnswerSettings,
  onAborted: (id: string) => void,
): Promise<WrittenAnswer> {
  const { signal } = settings;
  const answer = new Answer(settings);
  try {
    const taken = signal === undefined ? parts : streamReader(parts, signal);
    for await (const part of taken) await answer.take(part);
    signal?.throwIfAborted();
    return await answer.finish();
  } catch (error) {
    const id = await answer.abort(signal?.aborted === true ? "aborted" : "failed");
    if (id !== undefined) onAborted(id);
    const isTold = signal?.aborted !== true || BackscrollError.is(error, "model_failed");
    throw isTold ? error : stopped("while the model was answering");
  }
}

export function stopped(when: string): BackscrollError {
  const details = { kind: "aborted" };
  return new BackscrollError("model_failed", `the answer was stopped ${when}`, { details });
}

class Answer {
  readonly #settings: AnswerSettings;
  readonly #filter: ReturnType<typeof silenceFilter> | null;
  /** Parts that arrived before the message was opened. */
  readonly #held: (string | Block)[] = [];
  readonly #calls: ToolCallPart[] = [];
  #stream: MessageStream | undefined;
  #text = "";
  #end: ChatEnd = { type: "end", finishReason: "unknown", usage: null };

  constructor(settings: AnswerSettings) {
    this.#settings = settings;
    this.#filter = settings.silence === false ? null : silenceFilter(settings.silence);
  }

  async take(part: ChatPart): Promise<void> {
    switch (part.type) {
      case "text": {
        const passed = this.#filter === null ? part.text : this.#filter.push(part.text);
        await this.#write(part.text, passed !== "");
        this.#deliver(passed);
        break;
      }
      case "thinking":
        await this.#write(part.block, false);
        break;
      case "tool_call": {
        const { id, name, input } = part;
        this.#calls.push(part);
        await this.#write({ type: "tool_use", id, name, input }, false);
        break;
      }
      case "end":
        this.#end = part;
    }
  }

  async finish(): Promise<WrittenAnswer> {
    const { silent, text } = this.#filter?.end() ?? { silent: false, text: "" };
    if (!silent && (text !== "" || this.#calls.length > 0)) await this.#open();
    this.#deliver(text);
    return {
      calls: this.#calls,
      text: this.#text,
      silent,
      end: this.#end,
      commit: () => this.#commit(silent),
      abort: async (reason) => {
        await this.abort(reason);
      },
    };
  }

  /** Gives the id of the message, if one was opened. */
  async abort(reason: string): Promise<string | undefined> {
    const stream = this.#stream;
    if (stream === undefined) return undefined;
    // If this fails too, the lease aborts the message; the first failure is thrown.
    await stream.abort(reason).catch(() => undefined);
    return stream.id;
  }

  /** Appends a piece in order; opens the message once it may be visible. */
  async #write(piece: string | Block, isDecided: boolean): Promise<void> {
    this.#held.push(piece);
    if (isDecided || this.#stream !== undefined) await this.#open();
  }

  async #open(): Promise<void> {
    const { session, actor, model, tell } = this.#settings;
    if (this.#stream === undefined) {
      this.#stream = await session.openMessage({ role: "assistant", actor, model });
      tell({ type: "start", entryId: this.#stream.id });
    }
    for (const piece of this.#held.splice(0)) await this.#stream.write(piece);
  }

  #deliver(text: string): void {
    if (text === "") return;
    this.#text += text;
    this.#settings.tell({ type: "text", text });
  }

  async #commit(silent: boolean): Promise<Entry> {
    const { signal } = this.#settings;
    try {
      signal?.throwIfAborted();
      return await this.#store(silent);
    } catch (error) {
      if (signal?.aborted !== true || error !== signal.reason) throw error;
      await this.abort("aborted");
      throw stopped("before it was stored; its text so far is kept");
    }
  }

  async #store(silent: boolean): Promise<Entry> {
    const { contextWindow, metadata, supersedes, signal } = this.#settings;
    const { usage } = this.#end;
    const figures = { contextWindow, ...(usage === null ? {} : { usage }) };
    if (this.#stream !== undefined) {
      const replaced = supersedes === undefined ? {} : { supersedes };
      return this.#stream.commit({ ...figures, metadata, ...replaced }, signal);
    }
    const { session, actor, model } = this.#settings;
    return session.append({
      role: "assistant",
      actor,
      model,
      ...figures,
      content: toBlocks(this.#held),
      metadata: silent ? { ...metadata, silent: true } : metadata,
    });
  }
}

/** Joins neighbouring texts into one block. An empty answer is an empty text. */
function toBlocks(pieces: readonly (string | Block)[]): Block[] {
  const blocks: Block[] = [];
  for (const piece of pieces) {
    const last = blocks.at(-1);
    if (typeof piece !== "string") blocks.push(piece);
    else if (last?.type === "text")
      blocks[blocks.length - 1] = { type: "text", text: last.text + piece };
    else blocks.push({ type: "text", text: piece });
  }
  return blocks.length === 0 ? [{ type: "text", text: "" }] : blocks;
}
