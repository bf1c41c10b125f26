/** Turns of a conversation under the gateway's configuration and its route's settings. */

import type { SessionHandle } from "../../engine/session-handle.ts";
import type { TenantEngine } from "../../engine/tenant-engine.ts";
import { BackscrollError, messageOf } from "../../model/errors.ts";
import { checkFields } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import type { RouteFields } from "../../model/route.ts";
import {
  type AfterTurn,
  type AutoCompactionOptions,
  autoCompaction,
  type TurnContext,
} from "../after-turn/auto-compaction.ts";
import type { EventListener, GatewayEvent } from "../compaction/events.ts";
import type { TurnUsage } from "../compaction/read-figures.ts";
import { readAutoState } from "../compaction/session-state.ts";
import type { GatewayConfig } from "../config/gateway-config.ts";
import type { GenerateInput, GeneratePart, GenerateResult } from "../generate/generate-input.ts";
import { runGenerate } from "../generate/run-generate.ts";
import { modelOf, routeOf } from "../routes/route-of.ts";
import { type AnyModel, chooseModel, type GatewayModel, noModel } from "./choose-model.ts";
import { type CompactionSetup, compactionOf } from "./compaction-of.ts";
import { isOn, shownThoughts } from "./levels.ts";

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
    ...(flush === undefined ? {} : { flush }),
    ...(summaries === undefined ? {} : { compact: summaries }),
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
