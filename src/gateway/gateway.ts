/**
 * The gateway routes an inbound message to its session.
 *
 * It applies the routing rules of its configuration to the engine's operations and keeps no state,
 * so many gateways may share one store.
 */

import { createHash } from "node:crypto";
import { KeyedQueue } from "../async/keyed-queue.ts";
import type { SessionHandle } from "../engine/session-handle.ts";
import type { TenantEngine } from "../engine/tenant-engine.ts";
import type { Entry } from "../model/entry.ts";
import { BackscrollError } from "../model/errors.ts";
import { checkFields, checkMethods, checkPart } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import type { SessionRoute } from "../model/route.ts";
import type { Session } from "../model/session.ts";
import { carryOver, matchTrigger, readSessionKey } from "../routing/resets.ts";
import { resolveSessionKey } from "../routing/resolve-key.ts";
import { formatSessionKey, normalizeAgentId, parseSessionKey } from "../routing/session-key.ts";
import type { AutoCompactionOptions } from "./after-turn/auto-compaction.ts";
import type { EventListener } from "./compaction/decide.ts";
import type { TurnUsage } from "./compaction/session-state.ts";
import type { GatewayConfig, GatewayConfigInput } from "./config/gateway-config.ts";
import { readConfig } from "./config/read-config.ts";
import { type GenerateStream, streamOf } from "./generate/generate.ts";
import {
  type CheckedInbound,
  checkInbound,
  type InboundAction,
  type InboundMessage,
  type InboundReason,
  type InboundResult,
  type InboundTurn,
  labelsOf,
  placeOf,
} from "./inbound-message.ts";
import {
  answerCommand,
  type CompactCommand,
  type CompactOnRequest,
  matchCommand,
} from "./session-status.ts";
import { explainPolicy, findSession, forkParent, resetDue, startSession } from "./start-session.ts";
import {
  answerTurn,
  type CompactionSetup,
  endTurn,
  type GatewayAfterTurn,
  type GatewayAnswer,
  type GatewayGenerateInput,
  type GatewayTurnContext,
  summariesOf,
  type TurnParts,
} from "./turns/answer-turn.ts";
import { type GatewayModel, storeModels } from "./turns/choose-model.ts";
import { type GatewayReply, type ReplyOptions, replyTo } from "./turns/reply.ts";

export interface GatewayOptions {
  /** The clock, in epoch milliseconds. Default: the machine's. */
  readonly now?: () => number;
  /** Handles `/compact`. Default: compacts with `summaries` and the sender's instructions. */
  readonly compact?: CompactOnRequest;
  /**
   * The model that answers and writes memories: one for all routes, or chosen by a route's
   * overrides and levels. Default: the store's model that the configuration names.
   */
  readonly model?: GatewayModel;
  /** The summarizer and its options. */
  readonly summaries?: NonNullable<AutoCompactionOptions["compact"]>;
  /** Flush options without a configuration key, such as `folder`. */
  readonly flush?: NonNullable<CompactionSetup["flush"]>;
  /** Receives the events of `afterTurn` and `generate` of all conversations. */
  readonly onEvent?: EventListener;
}

/** Lost compare-and-swap races on a route before `route_conflict` is thrown. */
const MAX_TRIES = 10;

/** Throws `invalid_input` naming the setting that is wrong. */
export function openGateway(
  tenant: TenantEngine,
  config: GatewayConfigInput | GatewayConfig = {},
  options: GatewayOptions = {},
): Gateway {
  const read = readConfig(config, process.env);
  return new Gateway(tenant, read.config, options);
}

export class Gateway {
  readonly tenant: TenantEngine;
  readonly config: GatewayConfig;
  readonly #now: () => number;
  readonly #compact: CompactCommand;
  readonly #turns: TurnParts;
  /** By session: of two writes at once the later may be acknowledged first, and be answered first. */
  readonly #stores = new KeyedQueue();

  constructor(tenant: TenantEngine, config: GatewayConfig, options: GatewayOptions = {}) {
    this.tenant = checkMethods(tenant, "tenant", ["session", "getSession"]);
    this.config = config;
    const {
      now = Date.now,
      compact,
      ...parts
    } = checkFields(options, "options", INPUTS.openGateway);
    const { summaries, flush } = parts;
    if (summaries !== undefined) {
      checkPart(summaries, "summaries", INPUTS["autoCompaction.compact"]);
    }
    if (flush !== undefined) checkPart(flush, "flush", INPUTS["openGateway.flush"]);
    this.#now = now;
    this.#compact = {
      compact: compact ?? compactWith(summariesOf(config, summaries)),
      isHosts: compact !== undefined,
    };
    const { model } = config.agents.defaults;
    const known = model === null ? {} : { model: storeModels(tenant, model) };
    this.#turns = { tenant, config, now, ...known, ...parts };
  }

  /** The key of the conversation that a message belongs to. */
  keyOf(message: InboundMessage): string {
    const checked = checkInbound(message);
    const { key, agent = this.config.agents.defaults.id } = checked;
    if (key !== undefined) return formatSessionKey(parseSessionKey(key));
    const { dmScope, mainKey, identityLinks } = this.config.session;
    return resolveSessionKey({ ...placeOf(checked), agent }, { dmScope, mainKey, identityLinks });
  }

  /**
   * Finds or starts the session of a message, with the reason. Answers commands itself; returns the
   * agent's text as `text`.
   */
  async inbound(message: InboundMessage): Promise<InboundResult> {
    const checked = checkInbound(message);
    const key = this.keyOf(message);
    for (let tries = 1; ; tries++) {
      try {
        return await this.#take(checked, key);
      } catch (error) {
        // Another process changed or deleted the route: read it again.
        const isPassing =
          BackscrollError.is(error, "route_conflict") ||
          BackscrollError.is(error, "session_key_not_found");
        if (!isPassing || tries === MAX_TRIES) throw error;
      }
    }
  }

  /**
   * Runs `generate` with the configured compaction, flush and silence and the route's model and
   * delivery settings, then updates the route's counters and marks.
   */
  generate(input: GatewayGenerateInput): Promise<GatewayAnswer> {
    return answerTurn(this.#turns, input, () => undefined);
  }

  generateStream(input: GatewayGenerateInput): GenerateStream<GatewayAnswer> {
    return streamOf((tell) => answerTurn(this.#turns, input, tell));
  }

  /** Routes, stores and answers a message, and gives the text to send. */
  reply(message: InboundMessage, options: ReplyOptions = {}): Promise<GatewayReply> {
    const parts = {
      inbound: (taken: InboundMessage) => this.inbound(taken),
      generate: (input: GatewayGenerateInput) => this.generate(input),
      isAnswering: this.#turns.model !== undefined,
      instructions: this.config.agents.defaults.instructions,
    };
    return replyTo(parts, message, options);
  }

  /** For hosts that make their own calls: compacts, flushes and counts at the end of a turn. */
  afterTurn(
    session: SessionHandle,
    usage?: TurnUsage,
    turn: GatewayTurnContext = {},
  ): Promise<GatewayAfterTurn> {
    return endTurn(this.#turns, session, usage, turn);
  }

  async #take(message: CheckedInbound, key: string): Promise<InboundResult> {
    const route = await this.tenant.routes.find(key);
    const session =
      route === undefined ? undefined : await findSession(this.tenant, route.sessionId);
    const actor = this.#actorOf(message, key);
    const mayCommand = message.kind === "message" && message.authorized;
    const command = mayCommand ? matchCommand(message.text) : undefined;
    if (command !== undefined) {
      const handle = session && (await this.tenant.getSession(session.id));
      const { tenant, config } = this;
      const answer = await answerCommand(tenant, config, handle, command, this.#compact);
      return {
        key,
        action: "continued",
        reason: "fresh",
        why: "a command starts nothing",
        session: handle ?? null,
        route: route ?? null,
        text: "",
        actor,
        entry: null,
        answer,
        previousSessionId: null,
        deliver: isDelivered(route),
      };
    }
    const trigger = mayCommand
      ? matchTrigger(message.text, this.config.session.resetTriggers)
      : undefined;
    const text = trigger?.rest ?? message.text;
    const wanted = this.#decide(message, key, route, session, trigger !== undefined);
    const delivery = deliveryOf(message);
    const isEnding = wanted.action === "reset";
    const known =
      delivery !== undefined && session !== undefined && wanted.reason !== "repeated"
        ? await findRepeated(this.tenant, session, delivery, isEnding)
        : undefined;
    const decided =
      known === undefined ? wanted : ({ action: "continued", reason: "repeated" } as const);
    const { reason } = decided;
    const routed =
      decided.action === "continued" && route !== undefined
        ? { action: decided.action, route: await this.#relabel(route, message) }
        : await this.#start(message, key, route, session, actor, decided);
    const handle = await this.tenant.getSession(routed.route.sessionId);
    const previous = routed.action === "continued" ? undefined : route?.sessionId;
    const turn = {
      key,
      action: routed.action,
      why: this.#why(message, key, routed.action, reason),
      reason: routed.action === "forked" ? ("thread" as const) : reason,
      session: handle,
      route: routed.route,
      actor,
      previousSessionId: previous ?? null,
      deliver: isDelivered(routed.route),
    };
    if (trigger !== undefined && text === "") {
      return { ...turn, text: "", entry: null, answer: "A new session has begun." };
    }
    const isStored = message.append && text !== "" && known === undefined;
    const entry = isStored
      ? await this.#stores.run(handle.id, () => store(handle, message, actor, text))
      : (known ?? null);
    return { ...turn, text, entry, answer: null } satisfies InboundTurn;
  }

  #decide(
    message: CheckedInbound,
    key: string,
    route: SessionRoute | undefined,
    session: Session | undefined,
    isAsked: boolean,
  ): { readonly action: InboundAction; readonly reason: InboundReason } {
    if (route === undefined) return { action: "created", reason: "first" };
    if (session === undefined) return { action: "created", reason: "missing" };
    const delivery = deliveryOf(message);
    if (delivery !== undefined && route.fields["startedBy"] === delivery) {
      return { action: "continued", reason: "repeated" };
    }
    if (isAsked) return { action: "reset", reason: "command" };
    if (message.kind !== "message") return { action: "continued", reason: "housekeeping" };
    const due = resetDue(this.config, key, session, this.#now(), message.channel);
    return due === undefined
      ? { action: "continued", reason: "fresh" }
      : { action: "reset", reason: due.reason };
  }

  async #start(
    message: CheckedInbound,
    key: string,
    route: SessionRoute | undefined,
    previous: Session | undefined,
    actor: string,
    decided: { readonly action: InboundAction; readonly reason: InboundReason },
  ): Promise<{ readonly action: InboundAction; readonly route: SessionRoute }> {
    const { reason } = decided;
    const how = reason === "command" ? "explicit" : "stale";
    const delivery = deliveryOf(message);
    const start = {
      key,
      actor,
      reason,
      agent: this.#agentOf(message, key),
      fields: {
        ...carryOver(route?.fields ?? {}, how),
        ...labelsOf(message),
        ...(delivery === undefined ? {} : { startedBy: delivery }),
      },
      previousSessionId: route?.sessionId ?? null,
      previous,
      version: route?.version ?? 0,
    };
    if (reason === "first") {
      const fork = { ...start, reason: "thread" };
      const forked = await forkParent(this.tenant, fork, this.config);
      if (forked !== undefined) return { action: "forked", route: forked };
    }
    return { action: decided.action, route: await startSession(this.tenant, start) };
  }

  /** Writes the message's labels only if they changed. */
  async #relabel(route: SessionRoute, message: CheckedInbound): Promise<SessionRoute> {
    const labels = Object.entries(labelsOf(message));
    const news = labels.filter(([name, value]) => route.fields[name] !== value);
    if (news.length === 0) return route;
    return this.tenant.routes.patch(route.key, Object.fromEntries(news));
  }

  #agentOf(message: CheckedInbound, key: string): string {
    const parsed = readSessionKey(key);
    const named = "agent" in parsed ? parsed.agent : null;
    return named ?? normalizeAgentId(message.agent ?? this.config.agents.defaults.id);
  }

  #actorOf(message: CheckedInbound, key: string): string {
    const { sender, peer, chatType = "direct" } = message;
    const writer = sender ?? (chatType === "direct" ? peer : undefined);
    return writer === undefined || writer.trim() === "" ? this.#agentOf(message, key) : writer;
  }

  #why(
    { channel }: CheckedInbound,
    key: string,
    action: InboundAction,
    reason: InboundReason,
  ): string {
    const rule = explainPolicy(this.config, key, channel);
    if (action === "forked") return "a thread starts as a fork of its parent conversation";
    switch (reason) {
      case "first":
        return "the key had no session";
      case "missing":
        return "the session of this key was deleted";
      case "command":
        return "a command asked for a new session";
      case "daily":
        return `the daily reset is due: sessions are reset ${rule}`;
      case "idle":
        return `idle for too long: sessions are reset ${rule}`;
      case "housekeeping":
        return "automatic input starts no session";
      case "repeated":
        return "a redelivery: the message is stored already";
      default:
        return `the session continues: sessions are reset ${rule}`;
    }
  }
}

/** Keeps the engine's default number of messages; instructions need a model. */
function compactWith(summaries: ReturnType<typeof summariesOf>): CompactOnRequest {
  return (session, instructions) =>
    session.compact({ ...summaries, ...(instructions === "" ? {} : { instructions }) });
}

function isDelivered(route: SessionRoute | undefined): boolean {
  return route?.fields.sendPolicy !== "deny";
}

async function store(session: SessionHandle, message: CheckedInbound, actor: string, text: string) {
  const { id, kind } = message;
  const delivery = deliveryOf(message);
  const said = { role: "user", actor, content: text, interaction: kind === "message" } as const;
  if (id === undefined || delivery === undefined) return session.append(said);
  return session.append(
    { ...said, metadata: inboundMark(delivery, id) },
    { idempotencyKey: `inbound:${delivery}` },
  );
}

// Idempotency across resets: finds a redelivered message that was stored before a reset.
//
// Idempotency keys hold within one session. A reset starts another session, so the previous session
// must be searched as well.

/** Channels redeliver soon, so the newest entries suffice. */
const NEWEST = 50;

/**
 * The idempotency key of a delivery. The channel's message id alone is not unique: two accounts or
 * chats that share a session may both have a message 17.
 */
function deliveryOf(message: CheckedInbound): string | undefined {
  const { channel = null, account = null, peer = null, key = null, id } = message;
  if (id === undefined) return undefined;
  const place = JSON.stringify([channel, account, peer, key, id]);
  return createHash("sha256").update(place).digest("base64url");
}

/** The metadata of an entry: its delivery and the channel's message id. */
function inboundMark(
  delivery: string,
  id: string,
): { readonly inboundId: string; readonly delivery: string } {
  return { inboundId: id, delivery };
}

/** Searches the previous session, and the current one only if it is about to end. */
async function findRepeated(
  tenant: TenantEngine,
  session: Session,
  delivery: string,
  isEnding: boolean,
): Promise<Entry | undefined> {
  const { previousSessionId } = session.metadata;
  const found = isEnding ? await findIn(tenant, session.id, delivery) : undefined;
  if (found !== undefined || typeof previousSessionId !== "string") return found;
  return findIn(tenant, previousSessionId, delivery);
}

async function findIn(
  tenant: TenantEngine,
  sessionId: string,
  delivery: string,
): Promise<Entry | undefined> {
  try {
    const handle = await tenant.getSession(sessionId);
    const newest = await handle.history({ limit: NEWEST });
    return newest.findLast(({ metadata }) => metadata["delivery"] === delivery);
  } catch (error) {
    if (BackscrollError.is(error, "session_not_found")) return undefined;
    throw error;
  }
}
