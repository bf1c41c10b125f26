/** Sums over sessions: by agent, project, model and day, with tokens by kind and cost. */

import type { Usage } from "../../model/entry.ts";
import { checkPart } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { MAX_PAGE } from "../../model/limits.ts";
import { combineUsage, type PriceTable, totalTokens } from "../../model/prices.ts";
import { isSubAgent, type Session } from "../../model/session.ts";
import type { FiltersOf } from "../../model/session-filters.ts";
import { checkInput, invalid } from "../check.ts";
import type { EngineContext } from "../engine-context.ts";
import {
  type ListSessionsInput,
  listSessions,
  type PricedSum,
  readPricedUsage,
} from "./list-sessions.ts";
import { resolveSession } from "./resolve-session.ts";

export interface Sum {
  /** Sub-agents count with their parent. */
  sessions: number;
  subagents: number;
  messages: number;
  tokens: Usage;
  /** In whole microdollars by list prices, without models of unknown price. */
  costMicroUsd: number;
}

interface BusySession {
  readonly sessionId: string;
  readonly shortId: string;
  readonly title: string;
  readonly agent: string;
  readonly messages: number;
  readonly tokens: Usage;
  readonly costMicroUsd: number;
}

export interface Stats {
  readonly total: Sum;
  readonly agents: ReadonlyMap<string, Sum>;
  /** By project path; sessions without a project under the empty path. */
  readonly projects: ReadonlyMap<string, Sum>;
  /** By the agent's model name. `messages` are those with usage. */
  readonly models: ReadonlyMap<string, Sum>;
  /** By local day, `2026-05-04`: sessions by last interaction, tokens by message. */
  readonly days: ReadonlyMap<string, Sum>;
  /** Calls per tool, in ingested sessions. */
  readonly tools: ReadonlyMap<string, number>;
  /** The 20 sessions with most tokens, descending. */
  readonly busiest: readonly BusySession[];
  readonly prices: {
    readonly asOf: string;
    /** Used models without a price. */
    readonly unknown: readonly string[];
  };
}

export interface StatsInput
  extends Pick<ListSessionsInput, FiltersOf<"stats"> | "since" | "until"> {
  /** One session alone, without its sub-agents: its id, or its short id. */
  readonly session?: string;
  /** Default: the store's. */
  readonly prices?: PriceTable;
}

/** Reads sessions' fields and usage sums page by page, without content. */
export async function addUp(engine: EngineContext, input: StatsInput = {}): Promise<Stats> {
  const { prices = engine.prices(), session, ...filter } = checkInput(input, "input", INPUTS.stats);
  checkPart(prices, "prices", INPUTS["stats.prices"]);
  const tally = new Tally(prices.asOf);
  const add = async (sessions: readonly Session[]) => {
    const usage = await readPricedUsage(engine, sessions, prices);
    for (const each of sessions) {
      tally.addSession(each);
      for (const sum of usage.get(each.id) ?? []) tally.addUsage(each, sum);
    }
    tally.endPage();
  };
  if (session !== undefined) {
    if (Object.values(filter).some((value) => value !== undefined)) {
      throw invalid("session", "a session leaves nothing to filter; leave out the other fields");
    }
    await add([await resolveSession(engine, session)]);
    return tally.stats();
  }
  let cursor: string | undefined;
  do {
    const page = await listSessions(engine, {
      ...filter,
      machineMade: true,
      limit: MAX_PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    await add(page.sessions);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return tally.stats();
}

const MAX_BUSIEST = 20;

class Tally {
  readonly #asOf: string;
  readonly #total = emptySum();
  readonly #agents = new Map<string, Sum>();
  readonly #projects = new Map<string, Sum>();
  readonly #models = new Map<string, Sum>();
  readonly #days = new Map<string, Sum>();
  readonly #modelSessions = new Set<string>();
  readonly #unknown = new Set<string>();
  readonly #tools = new Map<string, number>();
  readonly #page = new Map<string, BusySession>();
  #busiest: readonly BusySession[] = [];

  constructor(asOf: string) {
    this.#asOf = asOf;
  }

  addSession(session: Session): void {
    const day = under(this.#days, dayOf(session.lastInteractionAt));
    for (const sum of [...this.#sumsOf(session), day]) {
      if (isSubAgent(session)) sum.subagents++;
      else sum.sessions++;
      sum.messages += session.messageCount;
    }
    for (const [tool, calls] of Object.entries(session.figures?.toolCounts ?? {})) {
      this.#tools.set(tool, (this.#tools.get(tool) ?? 0) + calls);
    }
    const { id, shortId, title, agent, messageCount: messages } = session;
    const { tokens } = emptySum();
    this.#page.set(id, { sessionId: id, shortId, title, agent, messages, tokens, costMicroUsd: 0 });
  }

  /** Called when the usage of all sessions so far is complete. */
  endPage(): void {
    this.#busiest = [...this.#busiest, ...this.#page.values()]
      .filter(({ tokens }) => totalTokens(tokens) > 0)
      .sort((a, b) => totalTokens(b.tokens) - totalTokens(a.tokens))
      .slice(0, MAX_BUSIEST);
    this.#page.clear();
  }

  addUsage(session: Session, sum: PricedSum): void {
    const { at, messages, usage, costMicroUsd: cost } = sum;
    const name = sum.model ?? "";
    if (sum.isUnknown) this.#unknown.add(name);
    const ofModel = under(this.#models, name);
    ofModel.messages += messages;
    const key = `${name}\n${session.id}`;
    if (!this.#modelSessions.has(key)) {
      this.#modelSessions.add(key);
      if (isSubAgent(session)) ofModel.subagents++;
      else ofModel.sessions++;
    }
    const busy = this.#page.get(session.id);
    if (busy !== undefined) {
      const tokens = combineUsage(busy.tokens, usage, (a, b) => a + b);
      this.#page.set(session.id, { ...busy, tokens, costMicroUsd: busy.costMicroUsd + cost });
    }
    for (const each of [...this.#sumsOf(session), ofModel, under(this.#days, dayOf(at))]) {
      each.tokens = combineUsage(each.tokens, usage, (a, b) => a + b);
      each.costMicroUsd += cost;
    }
  }

  stats(): Stats {
    return {
      total: this.#total,
      agents: this.#agents,
      projects: this.#projects,
      models: this.#models,
      days: this.#days,
      tools: this.#tools,
      busiest: this.#busiest,
      prices: { asOf: this.#asOf, unknown: [...this.#unknown].sort() },
    };
  }

  #sumsOf({ agent, origin }: Session): Sum[] {
    const project = under(this.#projects, origin.projectPath ?? "");
    return [this.#total, under(this.#agents, agent), project];
  }
}

function emptySum(): Sum {
  const tokens = { inputTokens: 0, outputTokens: 0, cacheCreationTokens: 0, cacheReadTokens: 0 };
  return { sessions: 0, subagents: 0, messages: 0, tokens, costMicroUsd: 0 };
}

function under(sums: Map<string, Sum>, key: string): Sum {
  let sum = sums.get(key);
  if (sum === undefined) {
    sum = emptySum();
    sums.set(key, sum);
  }
  return sum;
}

function dayOf(ms: number): string {
  const time = new Date(ms);
  const two = (value: number) => String(value).padStart(2, "0");
  return [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join("-");
}
