/** Outlines a session, and finds a text in it, in the order of its messages. Public reads only. */

import { toolEffects } from "../compaction/digest/ledger.ts";
import { oneLine } from "../compaction/digest/timeline.ts";
import type { TenantApi } from "../engine/interfaces.ts";
import { type Block, inputTextOf, type ToolUseBlock, textOf } from "../model/block.ts";
import type { Entry } from "../model/entry.ts";
import { checkFields } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import type { Outline, OutlineCall } from "../model/outline.ts";
import { isInjected, withoutInjected } from "../search/document/injected.ts";
import { type RunFinder, runFinder } from "../search/text/text-run.ts";
import { type ComparedPairs, countChanges } from "./count-changes.ts";

export interface OutlineInput {
  /** A leaf other than the active one. */
  readonly leaf?: string;
  /** The index of the first message to read. At most 2,000 messages are read. */
  readonly offset?: number;
  /** A text to find, in any case. White space matches any other. */
  readonly find?: string;
}

/** About 10 MB of a coding session: a tenth of a second. */
const MAX_READ = 2_000;
/** Messages with their payloads per read. */
const PAGE = 250;
const TURN_CHARACTERS = 240;
/** Pairs of lines that are compared for the sizes of edits: a tenth of a second. */
const MAX_PAIRS = 20_000_000;

export async function outlineSession(
  tenant: TenantApi,
  sessionId: string,
  input: OutlineInput = {},
): Promise<Outline> {
  const { leaf, offset = 0, find } = checkFields(input, "options", INPUTS.outlineSession);
  const reader = new OutlineReader(
    find === undefined ? undefined : runFinder({ text: find, wholeWords: false, ignoreCase: true }),
  );
  let end = offset;
  let total: number;
  do {
    const page = await tenant.listMessages(sessionId, {
      offset: end,
      limit: PAGE,
      ...(leaf === undefined ? {} : { leaf }),
    });
    total = page.total;
    for (const entry of page.messages) reader.add(entry);
    end += page.messages.length;
    if (page.messages.length === 0) break;
  } while (end < total && end < offset + MAX_READ);
  const { turns, calls, commits, matches } = reader;
  return { offset, end, total, turns, calls: [...calls.values()], commits, matches };
}

class OutlineReader {
  readonly turns: Outline["turns"][number][] = [];
  /** By the call's id, which a later call may have again. */
  readonly calls = new Map<string, OutlineCall>();
  readonly commits: Outline["commits"][number][] = [];
  readonly matches: number[] = [];
  readonly #find: RunFinder | undefined;
  readonly #commands = new Map<string, string>();
  readonly #pairs: ComparedPairs = { left: MAX_PAIRS };

  constructor(find: RunFinder | undefined) {
    this.#find = find;
  }

  add({ blocks, role, index, createdAt: at, metadata }: Entry): void {
    if (index === null) return;
    if (role === "user" && !isInjected(metadata)) {
      const text = withoutInjected(textOf(blocks)).trim();
      if (text !== "") this.turns.push({ index, at, text: oneLine(text, TURN_CHARACTERS) });
    }
    for (const block of blocks) {
      if (block.type === "tool_use") this.#call(block, index);
      else if (block.type === "tool_result") this.#result(block, index);
    }
    const find = this.#find;
    if (find !== undefined && blocks.some((block) => find(shownText(block)) !== undefined)) {
      this.matches.push(index);
    }
  }

  #call(block: ToolUseBlock, index: number): void {
    const input = inputTextOf(block);
    const { commands, read, changed } = toolEffects(block.name, input);
    const [path = null] = changed;
    const kind =
      path !== null ? "edit" : commands.length > 0 ? "run" : read.length > 0 ? "read" : "other";
    const lines = path === null ? { added: 0, removed: 0 } : countChanges(input, this.#pairs);
    this.calls.delete(block.id);
    this.calls.set(block.id, { index, kind, failed: false, path, ...lines });
    if (commands.length > 0) this.#commands.set(block.id, commands.join("\n"));
  }

  #result({ toolUseId, output, isError }: Extract<Block, { type: "tool_result" }>, at: number) {
    const call = this.calls.get(toolUseId);
    if (isError && call !== undefined) {
      this.calls.set(toolUseId, { ...call, failed: true, path: null, added: 0, removed: 0 });
    }
    const command = this.#commands.get(toolUseId);
    if (isError || command === undefined || !COMMITS.test(command)) return;
    const text = typeof output === "string" ? output : textOf(output);
    for (const [, hash = "", subject = ""] of text.matchAll(COMMITTED)) {
      this.commits.push({ index: call?.index ?? at, hash, subject });
    }
  }
}

const COMMITS = /\bgit (?:-C \S+ )?commit\b/;
/** `[main 4be1c20] subject`. */
const COMMITTED = /^\[[^\]\n]{1,200} ([0-9a-f]{7,40})\] ?(.{0,120})/gm;

function shownText(block: Block): string {
  switch (block.type) {
    case "text":
    case "thinking":
      return block.text;
    case "tool_use":
      return `${block.name}\n${strings(block.input)}`;
    case "tool_result":
      return typeof block.output === "string"
        ? block.output
        : block.output.map(shownText).join("\n");
    default:
      return "";
  }
}

/** The texts of arguments as a reader sees them: without the escapes of JSON. */
function strings(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return String(value);
  return Object.values(value).map(strings).join("\n");
}
