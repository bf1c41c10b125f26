/** Turns of a conversation under the gateway's configuration and its route's settings. */

import type { ChatModel } from "../../context/chat-model.ts";
import { contextWindow } from "../../context/context-window.ts";
import type { SessionHandle } from "../../engine/session-handle.ts";
import type { TenantEngine } from "../../engine/tenant-engine.ts";
import { defined } from "../../model/defined.ts";
import { BackscrollError, messageOf } from "../../model/errors.ts";
import { checkFields, checkPart } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import type { RouteFields } from "../../model/route.ts";
import { type AiSdkModel, toChatModel } from "../../providers/language-model.ts";
import {
  type AfterTurn,
  type AutoCompactionOptions,
  autoCompaction,
  type TurnContext,
} from "../after-turn/auto-compaction.ts";
import type { MemoryFlushOptions } from "../after-turn/run-flush.ts";
import {
  type AutoPolicy,
  clawPolicy,
  nonePolicy,
  piPolicy,
  turnsPolicy,
} from "../compaction/auto-policy.ts";
import type { EventListener, GatewayEvent } from "../compaction/decide.ts";
import { readAutoState, type TurnUsage } from "../compaction/session-state.ts";
import type { GatewayConfig } from "../config/gateway-config.ts";
import type { GenerateInput, GeneratePart, GenerateResult } from "../generate/generate-options.ts";
import { runGenerate } from "../generate/run-generate.ts";
import type { SilenceMode } from "../silence.ts";
import { modelOf, routeOf } from "../start-session.ts";
import {
  type AnyModel,
  chooseModel,
  type GatewayModel,
  isOn,
  noModel,
  shownThoughts,
} from "./choose-model.ts";

/**
 * Denormalisation: copies a turn's counters and marks to the route, under the names that gateways
 * use.
 *
 * The session's values are authoritative. The route has copies so that one read gives the state of
 * a conversation.
 *
 * Concurrent turns write the same fields, so the next turn repairs a lost update.
 */
const MAX_TRIES = 5;

/** Writes only the changed fields, and only while the route leads to the session. */
async function mirrorTurn(tenant: TenantEngine, session: SessionHandle): Promise<void> {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const route = (await routeOf(tenant, session.id))?.route;
    if (route === undefined) return;
    const fields = Object.entries(await readFields(session, route.fields));
    const news = fields.filter(([name, value]) => route.fields[name] !== value);
    if (news.length === 0) return;
    try {
      const expectedVersion = route.version;
      await tenant.routes.patch(route.key, Object.fromEntries(news), { expectedVersion });
      return;
    } catch (error) {
      const isGone = BackscrollError.is(error, "session_key_not_found");
      if (!isGone && !BackscrollError.is(error, "route_conflict")) throw error;
    }
  }
}

/** An imported route has counted compactions elsewhere: the count does not shrink. */
async function readFields(session: SessionHandle, known: RouteFields): Promise<RouteFields> {
  const { tokens, metadata } = await session.meta();
  const { contextTokens } = await session.usage();
  const { compactionCount, memoryFlushAt, memoryFlushCompactionCount } = readAutoState(metadata);
  const { inputTokens, outputTokens } = tokens;
  return {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    contextTokens,
    compactionCount: Math.max(compactionCount, known.compactionCount ?? 0),
    ...(memoryFlushAt === null ? {} : { memoryFlushAt }),
    ...(memoryFlushCompactionCount === null ? {} : { memoryFlushCompactionCount }),
  };
}

/** As for `generate`; defaults come from the configuration and the route. */
export interface GatewayGenerateInput extends Omit<GenerateInput, "model" | "tools"> {
  /** Overrides the gateway's and the route's model. */
  readonly model?: AnyModel;
  /** One set for all, or chosen by the route: the host interprets `elevatedLevel`. */
  readonly tools?: GatewayTools;
}

export type GatewayTools =
  | NonNullable<GenerateInput["tools"]>
  | ((fields: RouteFields) => NonNullable<GenerateInput["tools"]>);

interface Delivery {
  /** False: the route's send policy denies delivery. */
  readonly deliver: boolean;
  /** Further messages to send: with `verboseLevel` on, a note of each compaction. */
  readonly notices: readonly string[];
}

/** `text` is empty if delivery is denied; `entry` has the answer. */
export interface GatewayAnswer extends GenerateResult, Delivery {
  /** With `reasoningLevel` on, the model's thinking. */
  readonly thoughts: readonly string[];
}

export interface GatewayAfterTurn extends AfterTurn, Delivery {}

export interface GatewayTurnContext extends TurnContext {
  /** The model that answered and writes memories. Default: the gateway's. */
  readonly model?: AnyModel;
}

/** The parts that a turn needs. */
export interface TurnParts {
  readonly tenant: TenantEngine;
  readonly config: GatewayConfig;
  readonly model?: GatewayModel;
  readonly flush?: NonNullable<CompactionSetup["flush"]>;
  readonly summaries?: NonNullable<AutoCompactionOptions["compact"]>;
  readonly onEvent?: EventListener;
  readonly now: () => number;
}

/** Throws `model_unavailable` without a model, and what `generate` throws. */
export async function answerTurn(
  parts: TurnParts,
  input: GatewayGenerateInput,
  tell: (part: GeneratePart) => void,
): Promise<GatewayAnswer> {
  checkFields(input, "options", INPUTS["gateway.generate"]);
  const { tenant, config } = parts;
  const { tools: given = {}, ...call } = input;
  const { conversationId: sessionId, onEvent } = call;
  const session = tenant.session(sessionId);
  await session.meta();
  const fields = await fieldsOf(tenant, sessionId);
  const chosen = chooseModel(parts.model, input.model, fields);
  if (chosen === undefined) throw noModel();
  const { model, problems, ...more } = chosen;
  const preset = compactionOf(config, setupOf(parts, { model }));
  const { contextWindow = preset.compaction.contextWindow } = input;
  const deliver = fields.sendPolicy !== "deny";
  const tellDelivered = (part: GeneratePart) => {
    if (deliver || (part.type !== "start" && part.type !== "text")) tell(part);
  };
  const added: GatewayEvent[] = [];
  const heard: EventListener = (event) => {
    parts.onEvent?.(event);
    onEvent?.(event);
  };
  const tellOwn = (event: GatewayEvent) => {
    added.push(event);
    heard(event);
    tell({ type: "event", event });
  };
  for (const message of problems) tellOwn({ type: "setting_ignored", sessionId, message });
  const result = await runGenerate(
    tenant,
    {
      silence: preset.silence,
      compaction: { ...preset.compaction, contextWindow },
      ...more,
      ...call,
      model,
      contextWindow,
      onEvent: heard,
      tools: typeof given === "function" ? given(fields) : given,
    },
    tellDelivered,
  );
  await mirror(tenant, session, tellOwn);
  const events = [...result.events, ...added];
  const notices = noticesOf(fields, result.events);
  const thoughts = deliver && !result.silent ? shownThoughts(fields, result.entry) : [];
  return { ...result, text: deliver ? result.text : "", events, deliver, notices, thoughts };
}

/** For hosts that make their own calls: the end of a turn. */
export async function endTurn(
  parts: TurnParts,
  session: SessionHandle,
  usage: TurnUsage | undefined,
  { model: given, ...turn }: GatewayTurnContext,
): Promise<GatewayAfterTurn> {
  const { tenant, config, onEvent } = parts;
  const fields = await fieldsOf(tenant, session.id);
  const model = chooseModel(parts.model, given, fields)?.model;
  const who = model === undefined ? { modelName: await modelOf(session, fields) } : { model };
  const { compaction } = compactionOf(config, setupOf(parts, who));
  const heard = onEvent === undefined ? {} : { onEvent };
  const after = await autoCompaction({ ...compaction, ...heard }).afterTurn(session, usage, turn);
  const events = [...after.events];
  await mirror(tenant, session, (event) => {
    events.push(event);
    onEvent?.(event);
  });
  const deliver = fields.sendPolicy !== "deny";
  return { ...after, events, deliver, notices: noticesOf(fields, events) };
}

async function fieldsOf(tenant: TenantEngine, sessionId: string): Promise<RouteFields> {
  return (await routeOf(tenant, sessionId))?.route?.fields ?? {};
}

function setupOf(
  { flush, summaries, now }: TurnParts,
  who: Pick<CompactionSetup, "model" | "modelName">,
): CompactionSetup {
  return {
    ...who,
    now,
    ...defined({ flush, compact: summaries }),
  };
}

/** The turn is answered, so a stale route must not fail it. */
async function mirror(tenant: TenantEngine, session: SessionHandle, tell: EventListener) {
  try {
    await mirrorTurn(tenant, session);
  } catch (error) {
    const message = messageOf(error);
    tell({ type: "route_not_updated", sessionId: session.id, message });
  }
}

function noticesOf(fields: RouteFields, events: readonly GatewayEvent[]): string[] {
  if (fields.sendPolicy === "deny" || !isOn(fields.verboseLevel)) return [];
  return events.flatMap((event) =>
    event.type === "compacted" ? [`🧹 Auto-compaction complete (count ${event.count})`] : [],
  );
}

/** Maps a gateway's configuration to the options of compaction, memory flush and silence. */
export interface CompactionSetup {
  /** The model that answers and writes memories; undefined: no memory flush. */
  readonly model?: ChatModel | AiSdkModel;
  /** The model's name where the model itself is absent: for its window. */
  readonly modelName?: string | null;
  /** Flush options without a configuration key, such as the folder of day files. */
  readonly flush?: Partial<Omit<MemoryFlushOptions, "enabled">>;
  readonly compact?: NonNullable<AutoCompactionOptions["compact"]>;
  readonly now?: () => number;
}

export interface ConfiguredCompaction {
  readonly compaction: AutoCompactionOptions & { readonly contextWindow: number };
  readonly silence: SilenceMode;
}

/** For `autoCompaction` and `generate`, which do not know the configuration. */
export function compactionOf(
  config: GatewayConfig,
  setup: CompactionSetup = {},
): ConfiguredCompaction {
  const { now, flush } = checkFields(setup, "setup", INPUTS.compactionOf);
  if (flush !== undefined) checkPart(flush, "flush", INPUTS["openGateway.flush"]);
  const compact = summariesOf(config, setup.compact);
  const model = setup.model === undefined ? undefined : toChatModel(setup.model);
  const name = model?.name ?? setup.modelName ?? null;
  const unknown = model?.maxInputTokens ?? config.agents.defaults.contextTokens ?? undefined;
  return {
    compaction: {
      policy: policyOf(config),
      ...(name === null ? {} : { model: name }),
      contextWindow: contextWindow(name, unknown).tokens,
      flush: flushOf(config, setup),
      compact,
      ...(now === undefined ? {} : { now }),
    },
    silence: config.silence,
  };
}

/** The summarizer and its options: the host's take precedence. */
export function summariesOf(
  { compaction }: GatewayConfig,
  given: CompactionSetup["compact"],
): NonNullable<AutoCompactionOptions["compact"]> {
  if (given !== undefined) return given;
  const { summarizer } = compaction;
  return summarizer === "model" ? { summarizer, fallback: "mechanical" } : {};
}

function policyOf({ compaction, agents }: GatewayConfig): AutoPolicy {
  const { enabled, policy, reserveTokens, keepRecentTokens, inputTokens } = compaction;
  if (!enabled) return nonePolicy();
  switch (policy) {
    case "none":
      return nonePolicy();
    case "turns":
      return turnsPolicy();
    case "claw":
      // The configuration already includes the environment variable.
      return clawPolicy(inputTokens === 0 ? {} : { inputTokens }, {});
    case "pi": {
      const { reserveTokensFloor } = agents.defaults.compaction;
      return piPolicy({ reserveTokens, reserveTokensFloor, keepRecentTokens });
    }
  }
}

function flushOf(config: GatewayConfig, setup: CompactionSetup): MemoryFlushOptions | false {
  const { enabled, softThresholdTokens, prompt, systemPrompt } =
    config.agents.defaults.compaction.memoryFlush;
  const model = setup.flush?.model ?? setup.model;
  if (!enabled || model === undefined) return false;
  return {
    softThresholdTokens,
    timeZone: config.session.timeZone,
    ...(prompt === null ? {} : { prompt }),
    ...(systemPrompt === null ? {} : { systemPrompt }),
    ...setup.flush,
    model,
  };
}
