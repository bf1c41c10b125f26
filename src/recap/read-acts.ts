/**
 * Reads the acts of a session in order: messages, tool calls and their results.
 *
 * Page by page along the active path. Large payloads are read as previews.
 */

import { type ToolEffects, toolEffects } from "../compaction/digest/tool-effects.ts";
import type { TenantApi } from "../engine/interfaces/tenant-api.ts";
import { inputTextOf, type ToolResultBlock, type ToolUseBlock, textOf } from "../model/block.ts";
import type { Entry } from "../model/entry.ts";
import { MAX_PAGE } from "../model/limits.ts";
import { isInjected, withoutInjected } from "../search/document/injected.ts";
import { isOwnTool } from "../search/document/own-tools.ts";

/** The limit of messages read of one session: the newest. */
export const MAX_READ_MESSAGES = 5_000;

export interface Saying {
  readonly type: "said";
  /** Index of the message along the path. */
  readonly index: number;
  readonly role: "user" | "assistant";
  readonly text: string;
  readonly at: number;
}

export interface Call {
  readonly type: "call";
  readonly index: number;
  readonly tool: string;
  readonly input: string;
  readonly effects: ToolEffects;
  readonly at: number;
  /** Absent without a known result. */
  result?: CallResult;
}

export interface CallResult {
  readonly index: number;
  readonly failed: boolean;
  readonly output: string;
}

export type Act = Saying | Call;

export interface ReadActs {
  readonly acts: readonly Act[];
  readonly messages: number;
  /** The number of older messages, which were not read. */
  readonly unread: number;
}

export interface Period {
  /** At or after, epoch milliseconds. */
  readonly since?: number | undefined;
  /** Before. */
  readonly until?: number | undefined;
}

export async function readActs(
  tenant: TenantApi,
  sessionId: string,
  { since = 0, until = Number.POSITIVE_INFINITY }: Period = {},
): Promise<ReadActs> {
  const { total } = await tenant.listMessages(sessionId, { limit: 1, preview: true });
  const start = Math.max(0, total - MAX_READ_MESSAGES);
  const reader = new ActReader();
  let messages = 0;
  for (let offset = start; offset < total; offset += MAX_PAGE) {
    const page = await tenant.listMessages(sessionId, { offset, limit: MAX_PAGE, preview: true });
    for (const entry of page.messages) {
      if (entry.createdAt < since || entry.createdAt >= until) continue;
      messages++;
      reader.add(entry);
    }
    if (page.messages.length === 0) break;
  }
  return { acts: reader.acts, messages, unread: start };
}

class ActReader {
  readonly acts: Act[] = [];
  readonly #open = new Map<string, Call>();

  add({ blocks, role, index, createdAt: at, metadata }: Entry): void {
    if (index === null) return;
    const text = isInjected(metadata) ? "" : textOf(blocks).trim();
    if (text !== "" && (role === "user" || role === "assistant")) {
      const said = role === "user" ? withoutInjected(text).trim() : text;
      if (said !== "") this.acts.push({ type: "said", index, role, text: said, at });
    }
    for (const block of blocks) {
      if (block.type === "tool_use") this.#call(block, index, at);
      else if (block.type === "tool_result") this.#result(block, index);
    }
  }

  #call(block: ToolUseBlock, index: number, at: number): void {
    const { id, name } = block;
    const input = inputTextOf(block);
    // Our own tools quote other sessions, so they are skipped.
    if (isOwnTool(name)) return;
    const effects = toolEffects(name, input);
    const call: Call = { type: "call", index, tool: name, input, effects, at };
    this.#open.set(id, call);
    this.acts.push(call);
  }

  #result({ toolUseId, output, isError }: ToolResultBlock, index: number): void {
    const call = this.#open.get(toolUseId);
    if (call === undefined) return;
    this.#open.delete(toolUseId);
    const text = typeof output === "string" ? output : textOf(output);
    call.result = { index, failed: isError, output: text };
  }
}
