/**
 * A memory flush: a silent turn in which the agent writes memories of what a compaction might lose.
 *
 * The model gets the conversation and one tool, which writes to the engine's memories. The turn's
 * messages are not appended, so no reader and no search sees them; an entry in the log records the
 * flush.
 */

import { appendFile, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type {
  ChatModel,
  ChatPart,
  ChatTool,
  ContextMessage,
  ToolCallPart,
} from "../../context/chat-model.ts";
import { checkDuration } from "../../engine/leases/claim-lease.ts";
import type { SessionHandle } from "../../engine/session-handle.ts";
import type { Block } from "../../model/block.ts";
import { COMPACTION } from "../../model/compaction-numbers.ts";
import { defined } from "../../model/defined.ts";
import { BackscrollError } from "../../model/errors.ts";
import { checkPart } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { isPlainObject } from "../../model/json.ts";
import { SHORT_LEASE_MS } from "../../model/lease.ts";
import { type AiSdkModel, toChatModel } from "../../providers/language-model.ts";
import { type AutoPolicy, compactionThreshold } from "../compaction/auto-policy.ts";
import type { FlushReason } from "../compaction/decide.ts";
import { isSilent, SILENT_TOKEN } from "../silence.ts";

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

interface FlushRun {
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
    ...defined({ timeoutMs, signal }),
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

/** Options of a memory flush and their defaults. */
export interface MemoryFlushOptions extends Partial<FlushSettings> {
  /** The model that writes the memories: usually the conversation's, or a cheaper one. */
  readonly model: ChatModel | AiSdkModel;
  /** The prompt. A hint to answer `NO_REPLY` is added if it is missing. */
  readonly prompt?: string;
  readonly systemPrompt?: string;
  /** A folder with an append-only file `YYYY-MM-DD.md` per day. */
  readonly folder?: string;
  /** The time zone of the file's day. Default: the machine's. */
  readonly timeZone?: string;
  /** Default: the model's own timeout. */
  readonly timeoutMs?: number;
  /** Tokens of the conversation in the prompt. Default: the policy's remainder. */
  readonly tokenBudget?: number;
  /**
   * The lease's duration: other processes wait this long for one that died. Default 15 s, at least
   * 100 ms.
   */
  readonly leaseMs?: number;
}

export interface CheckedFlush extends FlushSettings {
  readonly model: ChatModel;
  readonly prompt: string;
  readonly systemPrompt: string;
  readonly folder: string | undefined;
  readonly timeZone: string | undefined;
  readonly timeoutMs: number | undefined;
  readonly tokenBudget: number | undefined;
  readonly leaseMs: number;
}

const DEFAULT_PROMPT =
  "This conversation will soon be summarised. Write down now what must not be lost, with the tool " +
  "`remember`: decisions, names, numbers, promises and open tasks that a later conversation would " +
  "need. Add to what you know; do not repeat what is written down already.";

const DEFAULT_SYSTEM =
  "This is a housekeeping turn that the user does not see. Use the tool, and say nothing to the user.";

const HINT = `When you are done, or there is nothing to write down, answer ${SILENT_TOKEN} and nothing else.`;

export function checkFlush(options: MemoryFlushOptions): CheckedFlush {
  checkPart(options, "flush", INPUTS["autoCompaction.flush"]);
  return {
    enabled: options.enabled ?? true,
    softThresholdTokens: options.softThresholdTokens ?? COMPACTION.flushTokens,
    workspaceAccess: options.workspaceAccess ?? "rw",
    model: toChatModel(options.model),
    prompt: withHint(options.prompt ?? DEFAULT_PROMPT),
    systemPrompt: withHint(options.systemPrompt ?? DEFAULT_SYSTEM),
    folder: options.folder,
    timeZone: options.timeZone,
    timeoutMs: options.timeoutMs,
    tokenBudget: options.tokenBudget,
    leaseMs: checkDuration(options.leaseMs ?? SHORT_LEASE_MS, "leaseMs", 100),
  };
}

function withHint(text: string): string {
  return text.includes(SILENT_TOKEN) ? text : `${text}\n\n${HINT}`;
}

/**
 * Decides whether to flush memories before a compaction: a pure function.
 *
 * The threshold lies a little below the compaction's and comes from the same reserve. A flush
 * happens once per cycle, from one compaction to the next.
 */
export interface FlushFigures {
  readonly contextTokens: number;
  readonly contextWindow: number;
  /** The token count is of the current context. */
  readonly fresh: boolean;
  /** Memories were flushed since the newest compaction. */
  readonly flushed: boolean;
  /** A compaction is about to happen: the threshold no longer matters. */
  readonly compacting: boolean;
  /** The turn was automatic: no user wrote. */
  readonly heartbeat: boolean;
}

export interface FlushSettings {
  readonly enabled: boolean;
  /** Distance of the flush below the compaction's threshold. */
  readonly softThresholdTokens: number;
  /** The agent's access to its workspace: with `ro` and `none` it writes no memories. */
  readonly workspaceAccess: "rw" | "ro" | "none";
}

export interface FlushDecision {
  readonly flush: boolean;
  readonly reason: FlushReason;
  readonly numbers: Readonly<Record<string, number>>;
}

export function decideFlush(
  policy: AutoPolicy,
  settings: FlushSettings,
  figures: FlushFigures,
): FlushDecision {
  checkPart(settings, "settings", INPUTS["decideFlush.settings"]);
  checkPart(figures, "figures", INPUTS["decideFlush.figures"]);
  const { contextTokens, compacting } = figures;
  const no = (reason: FlushReason) => ({ flush: false, reason, numbers: { contextTokens } });
  if (!settings.enabled || policy.name === "none") return no("disabled");
  if (settings.workspaceAccess !== "rw") return no("read_only_workspace");
  if (figures.heartbeat) return no("heartbeat");
  if (figures.flushed) return no("already_flushed");
  if (compacting) return { flush: true, reason: "before_compaction", numbers: { contextTokens } };
  if (!figures.fresh) return no("stale_count");
  const threshold = softThreshold(policy, settings.softThresholdTokens, figures.contextWindow);
  if (threshold === null) return no("no_soft_threshold");
  const flush = contextTokens >= threshold;
  const reason = flush ? "over_soft_threshold" : "below_soft_threshold";
  return { flush, reason, numbers: { contextTokens, threshold } };
}

/**
 * The context size, in tokens, that triggers a flush; null: the policy has no token threshold. In a
 * small window the distance is at most half of the threshold.
 */
export function softThreshold(
  policy: AutoPolicy,
  softThresholdTokens: number,
  contextWindow: number,
): number | null {
  const hard = hardThreshold(policy, contextWindow);
  if (hard === null) return null;
  return hard - Math.min(softThresholdTokens, Math.floor(hard / 2));
}

function hardThreshold(policy: AutoPolicy, contextWindow: number): number | null {
  if (policy.name === "pi") return compactionThreshold(policy, contextWindow);
  return policy.name === "claw" && policy.metric === "pressure" ? policy.inputTokens : null;
}
