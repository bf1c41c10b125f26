/** Totals over sessions, on the wire. */

import type { Stats, Sum } from "../engine/sessions/stats.ts";
import { USAGE } from "../model/entry.ts";
import { totalTokens } from "../model/prices.ts";
import { fromWire, toWire, type WireOf } from "./shape.ts";

export interface WireSum extends WireOf<typeof USAGE> {
  readonly sessions: number;
  readonly subagents: number;
  readonly messages: number;
  /** Tokens of all four kinds. */
  readonly tokens: number;
  /** In whole microdollars. */
  readonly cost_microusd: number;
}

export interface WireBusySession extends WireOf<typeof USAGE> {
  readonly session_id: string;
  readonly short_id: string;
  readonly title: string;
  readonly agent: string;
  readonly messages: number;
  readonly tokens: number;
  readonly cost_microusd: number;
}

export interface WireStats {
  readonly total: WireSum;
  readonly agents: readonly ({ readonly agent: string } & WireSum)[];
  readonly projects: readonly ({ readonly project_path: string } & WireSum)[];
  readonly models: readonly ({ readonly model: string } & WireSum)[];
  readonly days: readonly ({ readonly day: string } & WireSum)[];
  readonly tools: readonly { readonly tool: string; readonly calls: number }[];
  readonly busiest: readonly WireBusySession[];
  readonly prices: { readonly as_of: string; readonly unknown_models: readonly string[] };
}

export function toWireStats(stats: Stats): WireStats {
  const { total, agents, projects, models, days, tools, busiest, prices } = stats;
  return {
    total: toWireSum(total),
    agents: [...agents].map(([agent, sum]) => ({ agent, ...toWireSum(sum) })),
    projects: [...projects].map(([path, sum]) => ({ project_path: path, ...toWireSum(sum) })),
    models: [...models].map(([model, sum]) => ({ model, ...toWireSum(sum) })),
    days: [...days].map(([day, sum]) => ({ day, ...toWireSum(sum) })),
    tools: [...tools]
      .map(([tool, calls]) => ({ tool, calls }))
      .sort((a, b) => b.calls - a.calls || (a.tool < b.tool ? -1 : 1)),
    busiest: busiest.map(
      ({ sessionId, shortId, title, agent, messages, tokens, costMicroUsd }) => ({
        session_id: sessionId,
        short_id: shortId,
        title,
        agent,
        messages,
        tokens: totalTokens(tokens),
        ...toWire(USAGE, tokens),
        cost_microusd: costMicroUsd,
      }),
    ),
    prices: toWirePrices(prices),
  };
}

export function toWirePrices({ asOf, unknown }: Stats["prices"]): WireStats["prices"] {
  return { as_of: asOf, unknown_models: unknown };
}

export function fromWireStats(stats: WireStats): Stats {
  return {
    total: fromWireSum(stats.total),
    agents: new Map(stats.agents.map((row) => [row.agent, fromWireSum(row)])),
    projects: new Map(stats.projects.map((row) => [row.project_path, fromWireSum(row)])),
    models: new Map(stats.models.map((row) => [row.model, fromWireSum(row)])),
    days: new Map(stats.days.map((row) => [row.day, fromWireSum(row)])),
    tools: new Map(stats.tools.map(({ tool, calls }) => [tool, calls])),
    busiest: stats.busiest.map((row) => ({
      sessionId: row.session_id,
      shortId: row.short_id,
      title: row.title,
      agent: row.agent,
      messages: row.messages,
      tokens: fromWire(USAGE, row),
      costMicroUsd: row.cost_microusd,
    })),
    prices: { asOf: stats.prices.as_of, unknown: stats.prices.unknown_models },
  };
}

function toWireSum(sum: Sum): WireSum {
  const { sessions, subagents, messages, tokens, costMicroUsd } = sum;
  return {
    sessions,
    subagents,
    messages,
    tokens: totalTokens(tokens),
    ...toWire(USAGE, tokens),
    cost_microusd: costMicroUsd,
  };
}

function fromWireSum(sum: WireSum): Sum {
  const { sessions, subagents, messages, cost_microusd: costMicroUsd } = sum;
  return { sessions, subagents, messages, tokens: fromWire(USAGE, sum), costMicroUsd };
}
