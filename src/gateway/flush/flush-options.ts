/** Options of a memory flush and their defaults. */

import type { ChatModel } from "../../context/chat-model.ts";
import { checkDuration } from "../../engine/leases/claim-lease.ts";
import { COMPACTION } from "../../model/compaction-numbers.ts";
import { checkPart } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { SHORT_LEASE_MS } from "../../model/lease.ts";
import { type AiSdkModel, toChatModel } from "../../providers/language-model.ts";
import { SILENT_TOKEN } from "../silence/silence.ts";
import type { FlushSettings } from "./decide-flush.ts";

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
