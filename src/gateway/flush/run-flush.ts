/**
 * A memory flush: a silent turn in which the agent writes memories of what a compaction might lose.
 *
 * The model gets the conversation and one tool, which writes to the engine's memories. The turn's
 * messages are not appended, so no reader and no search sees them; an entry in the log records the
 * flush.
 */

import { appendFile, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ChatPart, ChatTool, ToolCallPart } from "../../context/chat-model.ts";
import type { ContextMessage } from "../../context/message.ts";
import type { SessionHandle } from "../../engine/session-handle.ts";
import type { Block } from "../../model/block.ts";
import { BackscrollError } from "../../model/errors.ts";
import { isPlainObject } from "../../model/json.ts";
import { isSilent } from "../silence/silence.ts";
import type { CheckedFlush } from "./flush-options.ts";

/** The one tool of a memory flush, described without the AI SDK: https://standardschema.dev. */
const SCHEMA = {
  type: "object",
  properties: {
    name: { type: "string", description: "A short name, such as deploy-steps." },
    content: { type: "string", description: "What to remember, in at most 8 KiB." },
  },
  required: ["name", "content"],
  additionalProperties: false,
};

const REMEMBER_TOOL: ChatTool = {
  description: "Keep a note for later conversations, in place of one of the same name.",
  inputSchema: {
    "~standard": {
      version: 1,
      vendor: "backscroll",
      validate: (value: unknown) =>
        isMemory(value) ? { value } : { issues: [{ message: "name and content must be texts" }] },
      jsonSchema: { input: () => SCHEMA, output: () => SCHEMA },
    },
  },
};

function isMemory(value: unknown): boolean {
  return (
    isPlainObject(value) &&
    typeof value["name"] === "string" &&
    typeof value["content"] === "string"
  );
}

export interface FlushResult {
  readonly memories: readonly string[];
  readonly file?: string;
}

export interface FlushRun {
  readonly tokenBudget: number;
  readonly now: number;
  /** The newest compaction, after which the flushed messages begin; null: no compaction yet. */
  readonly compaction: string | null;
  readonly signal?: AbortSignal;
}

/** The limit of tool rounds. */
const MAX_STEPS = 4;

/**
 * Throws the model's and the store's errors. Memories written before the failure stay; a retry uses
 * the same names.
 */
export async function runFlush(
  session: SessionHandle,
  flush: CheckedFlush,
  { tokenBudget, now, compaction, signal }: FlushRun,
): Promise<FlushResult> {
  const { messages } = await session.buildContext({
    tokenBudget: flush.tokenBudget ?? tokenBudget,
    semanticRecall: false,
  });
  const day = dayOf(now, flush.timeZone);
  const talk = [...messages, toMessage("user", [{ type: "text", text: flush.prompt }])];
  const written: NewMemory[] = [];
  for (let step = 1; step <= MAX_STEPS; step++) {
    const { text, calls } = await ask(flush, talk, signal);
    if (calls.length === 0) {
      written.push(...(await keepText(session, text, `flush-${day}`, written)));
      break;
    }
    talk.push(toMessage("assistant", callBlocks(text, calls)));
    for (const call of calls) talk.push(await carryOut(session, call, written));
  }
  const { folder } = flush;
  const file =
    folder === undefined || written.length === 0
      ? undefined
      : await writeDayFile(folder, day, written);
  const memories = [...new Set(written.map(({ name }) => name))];
  await session.appendCustom("memory_flush", { model: flush.model.name, memories, compaction });
  return file === undefined ? { memories } : { memories, file };
}

async function ask(
  { model, systemPrompt, timeoutMs }: CheckedFlush,
  messages: readonly ContextMessage[],
  signal: AbortSignal | undefined,
): Promise<{ readonly text: string; readonly calls: readonly ToolCallPart[] }> {
  const parts: ChatPart[] = [];
  const stream = model.stream({
    instructions: systemPrompt,
    messages,
    tools: { remember: REMEMBER_TOOL },
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(signal === undefined ? {} : { signal }),
  });
  for await (const part of stream) parts.push(part);
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  return { text, calls: parts.filter((part) => part.type === "tool_call") };
}

/** Refused input becomes a tool result that the model can correct; store errors are thrown. */
async function carryOut(
  session: SessionHandle,
  call: ToolCallPart,
  written: NewMemory[],
): Promise<ContextMessage> {
  if (call.problem !== undefined) return toResult(call, call.problem, true);
  const memory = call.value as NewMemory;
  try {
    const { name, content } = await session.remember(memory.name, memory.content);
    written.push({ name, content });
    return toResult(call, `remembered ${name}`, false);
  } catch (error) {
    const refused =
      BackscrollError.is(error, "invalid_input") || BackscrollError.is(error, "too_large");
    if (refused) return toResult(call, (error as Error).message, true);
    throw error;
  }
}

/** A model without tool support answers with the text to keep. */
async function keepText(
  session: SessionHandle,
  text: string,
  name: string,
  written: readonly NewMemory[],
): Promise<NewMemory[]> {
  if (text.trim() === "" || isSilent(text, "leading") || written.length > 0) return [];
  const content = Buffer.from(text.trim())
    .subarray(0, MAX_TEXT_BYTES)
    .toString()
    .replace(/(?<!\uFFFD)\uFFFD+$/, "");
  const own = `${name}-${session.id}`;
  await session.remember(own, content);
  return [{ name: own, content }];
}

/** Well below the limit of a memory. */
const MAX_TEXT_BYTES = 6_000;

function callBlocks(text: string, calls: readonly ToolCallPart[]): Block[] {
  return [
    ...(text === "" ? [] : [{ type: "text" as const, text }]),
    ...calls.map(({ id, name, input }) => ({ type: "tool_use" as const, id, name, input })),
  ];
}

function toResult({ id, name }: ToolCallPart, output: string, isError: boolean): ContextMessage {
  return toMessage("tool", [
    { type: "tool_result", toolUseId: id, toolName: name, output, isError },
  ]);
}

function toMessage(role: ContextMessage["role"], blocks: readonly Block[]): ContextMessage {
  return { role, actor: null, blocks, part: "recent", entryIds: [], model: null };
}

/**
 * Memories in a file per day, for agents whose workspace is a folder.
 *
 * The file is append-only, and a line that it already has is skipped: a repeated flush is
 * idempotent.
 */
interface NewMemory {
  readonly name: string;
  readonly content: string;
}

/** The day of `now` in a time zone, as `YYYY-MM-DD`. */
export function dayOf(now: number, timeZone?: string): string {
  const parts = new Intl.DateTimeFormat("en-CA", {
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    ...(timeZone === undefined ? {} : { timeZone }),
  }).formatToParts(now);
  const part = (type: string) => parts.find((found) => found.type === type)?.value ?? "";
  return `${part("year")}-${part("month")}-${part("day")}`;
}

/** Gives the path of the file. */
async function writeDayFile(
  folder: string,
  day: string,
  memories: readonly NewMemory[],
): Promise<string> {
  const file = join(folder, `${day}.md`);
  await mkdir(folder, { recursive: true });
  const present = await readOrEmpty(file);
  const known = new Set(present.split("\n"));
  const lines = memories
    .map(({ name, content }) => `- **${oneLine(name)}**: ${oneLine(content)}`)
    .filter((line, i, all) => !known.has(line) && all.indexOf(line) === i);
  if (lines.length === 0) return file;
  const start = present === "" ? `# ${day}\n\n` : present.endsWith("\n") ? "" : "\n";
  await appendFile(file, `${start}${lines.join("\n")}\n`);
  return file;
}

/** A memory is one line: text after a line break must not pose as another memory. */
function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, (space) => (/[\r\n\u2028\u2029]/.test(space) ? " / " : space));
}

async function readOrEmpty(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
