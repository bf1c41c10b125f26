/**
 * Prompts that were typed while Claude Code was working.
 *
 * They are in `queue-operation` lines only: `enqueue` has the text. `dequeue` starts a turn with
 * it, and a user's line with the same text follows. `remove` hands it to the model in the middle of
 * a turn, beside the results of tools; newer versions then write an `attachment` line of the type
 * `queued_command`, older ones write nothing. `popAll` takes it back into the input field.
 *
 * So a removed or dequeued prompt counts as delivered once the model answers, unless another line
 * has its text. A retracted prompt, or one without a following answer, is not a message.
 */

import type { JsonObject, JsonValue } from "../../model/json.ts";
import { type Fields, textField, timeField } from "../fields.ts";

export interface QueuedPrompt {
  readonly id: string;
  readonly text: string;
  /** When it was typed, in epoch milliseconds. */
  readonly at: number | null;
  /** Another line has its text. */
  readonly isShown?: boolean;
  /** Tool results are beside its removal: the model gets it with them. */
  readonly isWithResults?: boolean;
}

/** Limit of queued prompts. */
const MAX_WAITING = 100;

export class ClaudeQueue {
  /** In order of typing. */
  #waiting: QueuedPrompt[];
  /** Removed or dequeued; the next answer shows that the model has them. */
  #taken: QueuedPrompt[];
  /** The conversation's last line held tool results. */
  #isAfterResults: boolean;

  constructor(state?: JsonValue) {
    const { waiting = [], taken = [], isAfterResults = false } = (state ?? {}) as JsonObject;
    this.#waiting = waiting as unknown as QueuedPrompt[];
    this.#taken = taken as unknown as QueuedPrompt[];
    this.#isAfterResults = isAfterResults === true;
  }

  state(): JsonValue {
    const { length } = this.#waiting;
    const isEmpty = length === 0 && this.#taken.length === 0 && !this.#isAfterResults;
    if (isEmpty) return {};
    return {
      waiting: this.#waiting,
      taken: this.#taken,
      isAfterResults: this.#isAfterResults,
    } as unknown as JsonValue;
  }

  /** Processes a `queue-operation` line. `id` identifies the line. */
  operate(record: Fields, id: string): void {
    const text = textField(record, "content")?.trim() ?? "";
    switch (record["operation"]) {
      case "enqueue":
        if (text === "") return;
        this.#waiting.push({ id, text, at: timeField(record, "timestamp") });
        this.#waiting = this.#waiting.slice(-MAX_WAITING);
        return;
      case "popAll":
        this.#waiting = this.#waiting.filter((prompt) => text !== "" && !isPart(prompt.text, text));
        return;
      case "remove":
      case "dequeue": {
        const named = this.#waiting.findIndex((prompt) => text !== "" && prompt.text === text);
        const [prompt] = this.#waiting.splice(Math.max(0, named), 1);
        if (prompt === undefined || prompt.isShown) return;
        this.#taken.push({ ...prompt, isWithResults: this.#isAfterResults });
        return;
      }
      default:
    }
  }

  /** Called for tool results: prompts taken before them went to the model with them. */
  noteResults(): void {
    this.#isAfterResults = true;
    this.#taken = this.#taken.map((prompt) => ({ ...prompt, isWithResults: true }));
  }

  /** Called for a line of Claude Code in the user's name with the text. */
  noteShown(text: string): void {
    this.#waiting = without(this.#waiting, text);
    this.#taken = without(this.#taken, text);
  }

  /** Called for an `attachment` line with the prompt. Its `remove` may follow. */
  noteAttached(text: string): void {
    this.#taken = without(this.#taken, text);
    const at = this.#waiting.findIndex((prompt) => !prompt.isShown && isSame(prompt.text, text));
    const prompt = this.#waiting[at];
    if (prompt !== undefined) this.#waiting[at] = { ...prompt, isShown: true };
  }

  /**
   * Called for a user's line. Gives the prompts that the model got before it: those that went with
   * results. The line itself is the dequeued prompt, or its edited form.
   */
  beforePrompt(text: string): readonly QueuedPrompt[] {
    this.#isAfterResults = false;
    if (INTERRUPTED.test(text)) return [];
    this.#waiting = without(this.#waiting, text);
    const delivered = this.#taken.filter(
      (prompt) => prompt.isWithResults && !isPart(prompt.text, text),
    );
    this.#taken = [];
    return delivered;
  }

  /** Called for an answer: gives the prompts that the model got before it. */
  beforeAnswer(): readonly QueuedPrompt[] {
    this.#isAfterResults = false;
    if (this.#taken.length === 0) return [];
    const delivered = this.#taken;
    this.#taken = [];
    return delivered;
  }
}

/** Text that Claude Code writes in the user's name when a turn is stopped. */
const INTERRUPTED = /^\s*\[Request interrupted by user[^\]]*\]\s*$/;

function without(prompts: readonly QueuedPrompt[], text: string): QueuedPrompt[] {
  const at = prompts.findIndex((prompt) => isSame(prompt.text, text));
  return at < 0 ? [...prompts] : prompts.toSpliced(at, 1);
}

function isSame(a: string, b: string): boolean {
  return a.trim() === b.trim();
}

/** Several prompts may be joined in one line. */
function isPart(prompt: string, text: string): boolean {
  return text.includes(prompt);
}
