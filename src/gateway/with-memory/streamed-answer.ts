/** Stores an answer while it streams through an app's model. */

import type { MessageStream } from "../../engine/message-stream.ts";
import type { Usage } from "../../model/entry.ts";
import { type MemoryTurn, readUsage } from "./memory-turn.ts";
import { readPart } from "./read-prompt.ts";
import type { SdkPart } from "./sdk-model.ts";

export class StreamedAnswer {
  readonly #turn: MemoryTurn;
  readonly #model: string;
  readonly #thoughts = new Map<string, string>();
  #stream: MessageStream | undefined;
  #usage: Usage | null = null;
  #hasCalls = false;
  #failed = false;

  constructor(turn: MemoryTurn, model: string) {
    this.#turn = turn;
    this.#model = model;
  }

  async take(part: SdkPart): Promise<void> {
    const id = String(part["id"]);
    // The names of the pieces differ between the versions of the specification.
    const piece = String(part["delta"] ?? part["textDelta"] ?? "");
    switch (part.type) {
      case "text-delta":
        await this.#write(piece);
        break;
      case "reasoning-delta":
        this.#thoughts.set(id, (this.#thoughts.get(id) ?? "") + piece);
        break;
      case "reasoning-end": {
        const text = this.#thoughts.get(id) ?? "";
        for (const block of readPart({ ...part, type: "reasoning", text }))
          await this.#write(block);
        break;
      }
      case "tool-call":
        this.#hasCalls = true;
        for (const block of readPart(part)) await this.#write(block);
        break;
      case "finish":
        this.#usage = readUsage(part["usage"]);
        break;
      case "error":
        this.#failed = true;
    }
  }

  /** Stores it, unless `signal` is aborted. Gives whether the turn is over: no tool call is open. */
  async end(signal?: AbortSignal): Promise<boolean> {
    if (this.#failed) {
      await this.abort("failed");
      return false;
    }
    this.#stream ??= await this.#open();
    const usage = this.#usage === null ? {} : { usage: this.#usage };
    await this.#stream.commit({ contextWindow: this.#turn.contextWindow, ...usage }, signal);
    this.#stream = undefined;
    return !this.#hasCalls;
  }

  /** The text received so far is kept. If this fails too, the lease aborts the message. */
  async abort(reason: string): Promise<void> {
    const stream = this.#stream;
    this.#stream = undefined;
    await stream?.abort(reason).catch(() => undefined);
  }

  async #write(piece: Parameters<MessageStream["write"]>[0]): Promise<void> {
    this.#stream ??= await this.#open();
    await this.#stream.write(piece);
  }

  #open(): Promise<MessageStream> {
    const { session, actor } = this.#turn;
    return session.openMessage({ role: "assistant", actor, model: this.#model });
  }
}
