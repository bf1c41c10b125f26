/**
 * Reads the acts of a session in order: messages, tool calls and their results.
 *
 * Page by page along the active path. Large payloads are read as previews, unless a text is sought.
 */

import { type ToolEffects, toolEffects } from "../compaction/digest/ledger.ts";
import type { TenantApi } from "../engine/interfaces.ts";
import { inputTextOf, type ToolResultBlock, type ToolUseBlock, textOf } from "../model/block.ts";
import type { Entry } from "../model/entry.ts";
import { MAX_PAGE } from "../model/limits.ts";
import { isInjected, withoutInjected } from "../search/document/injected.ts";
import { isOwnTool } from "../search/document/own-tools.ts";
import type { RunFinder } from "../search/text/text-run.ts";

/** The limit of messages read of one session: the newest. */
const MAX_READ_MESSAGES = 5_000;
/** Messages with their payloads per read: an average page of a coding session has half a megabyte. */
const WHOLE_PAGE = 100;
/** Longer outputs without the sought text are cut to lines at both ends of this length. */
const KEPT_END = 4_096;

interface Saying {
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

interface CallResult {
  readonly index: number;
  readonly failed: boolean;
  readonly output: string;
}

export type Act = Saying | Call;

interface ReadActs {
  readonly acts: readonly Act[];
  readonly messages: number;
  /** The number of older messages, which were not read. */
  readonly unread: number;
}

interface Period {
  /** At or after, epoch milliseconds. */
  readonly since?: number | undefined;
  /** Before. */
  readonly until?: number | undefined;
}

export async function readActs(
  tenant: TenantApi,
  sessionId: string,
  period: Period = {},
): Promise<ReadActs> {
  const { total } = await tenant.listMessages(sessionId, { limit: 1, preview: true });
  const start = Math.max(0, total - MAX_READ_MESSAGES);
  const reader = new ActReader(period);
  for (let offset = start; offset < total; offset += MAX_PAGE) {
    const page = await tenant.listMessages(sessionId, { offset, limit: MAX_PAGE, preview: true });
    reader.add(page.messages);
    if (page.messages.length === 0) break;
  }
  return { acts: reader.acts, messages: reader.messages, unread: start };
}

interface PathActs {
  readonly acts: readonly Act[];
  /** Messages on the path, and those of them that were read. */
  readonly total: number;
  readonly read: number;
}

/** The acts of the active path with their payloads: all, or until the pages so far are enough. */
export async function readPath(
  tenant: TenantApi,
  sessionId: string,
  period: Period,
  find: RunFinder,
  isEnough: (acts: readonly Act[]) => boolean,
): Promise<PathActs> {
  const reader = new ActReader(period, find);
  for (let read = 0; ; ) {
    const page = await tenant.listMessages(sessionId, { offset: read, limit: WHOLE_PAGE });
    const { total, messages } = page;
    reader.add(messages);
    read += messages.length;
    const isDone = messages.length < WHOLE_PAGE || isEnough(reader.acts);
    if (isDone) return { acts: reader.acts, total, read };
  }
}

/** The same for all branches, in the order of writing. Indexes count along each branch. */
export async function readTree(
  tenant: TenantApi,
  sessionId: string,
  period: Period,
  find: RunFinder,
): Promise<readonly Act[]> {
  const reader = new ActReader(period, find);
  let after: string | undefined;
  do {
    const page = await tenant.session(sessionId).listEntries({
      tree: true,
      limit: WHOLE_PAGE,
      ...(after === undefined ? {} : { after }),
    });
    reader.add(page.entries);
    after = page.next;
  } while (after !== undefined);
  return reader.acts;
}

/** The acts of some messages in order. A call whose result is not among them has none. */
export function actsOf(entries: readonly Entry[]): readonly Act[] {
  const reader = new ActReader({}, undefined);
  reader.add(entries);
  return reader.acts;
}

class ActReader {
  readonly acts: Act[] = [];
  /** Within the period. */
  messages = 0;
  readonly #since: number;
  readonly #until: number;
  readonly #find: RunFinder | undefined;
  readonly #open = new Map<string, Call>();

  constructor(
    { since = 0, until = Number.POSITIVE_INFINITY }: Period,
    find: RunFinder | undefined = undefined,
  ) {
    this.#since = since;
    this.#until = until;
    this.#find = find;
  }

  add(entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (entry.createdAt < this.#since || entry.createdAt >= this.#until) continue;
      this.messages++;
      this.#add(entry);
    }
  }

  #add({ blocks, role, index, createdAt: at, metadata }: Entry): void {
    if (index === null) return;
    const text = isInjected(metadata) ? "" : textOf(blocks).trim();
    if (text !== "" && (role === "user" || role === "assistant")) {
      const said = role === "user" ? withoutInjected(text).trim() : text;
      if (said !== "") this.acts.push({ type: "said", index, role, text: said, at });
    }
    for (const block of blocks) {
      if (block.type === "tool_use") this.#call(block, index, at);
      else if (block.type === "tool_result") this.#result(block, index, at);
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

  #result(block: ToolResultBlock, index: number, at: number): void {
    const { toolUseId, toolName = "tool", output, isError: failed } = block;
    if (isOwnTool(toolName)) return;
    const text = typeof output === "string" ? output : textOf(output);
    const result = { index, failed, output: this.#kept(text) };
    const call = this.#open.get(toolUseId);
    this.#open.delete(toolUseId);
    if (call !== undefined) call.result = result;
    // Its call is before the period, or was not stored.
    else if (this.#find !== undefined) {
      const effects = toolEffects(toolName, "");
      this.acts.push({ type: "call", index, tool: toolName, input: "", effects, at, result });
    }
  }

  #kept(output: string): string {
    if (this.#find === undefined || output.length <= 2 * KEPT_END) return output;
    if (this.#find(output) !== undefined) return output;
    // Whole lines, so that no cut makes a word of a part of one.
    const head = output.slice(0, output.lastIndexOf("\n", KEPT_END) + 1);
    const from = output.indexOf("\n", output.length - KEPT_END);
    return `${head}…${from < 0 ? "" : output.slice(from)}`;
  }
}

const REDIRECTED = / 2>(?:&1| ?\/dev\/null)(?= |$)/g;
const SHORTENS = /^ ?(?:tail|head|less|cat|wc)(?: -{0,2}[\w=]+)* ?$/;

export function bareCommand(command: string): string {
  const parts = command.replace(/\s+/g, " ").trim().replace(REDIRECTED, "").split("|");
  while (parts.length > 1 && SHORTENS.test(parts.at(-1) ?? "")) parts.pop();
  return parts.join("|").trim();
}
