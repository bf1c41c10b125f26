/** Sessions added up, on the wire. */

import type { Stats, Sum } from "../engine/sessions/stats.ts";
import { totalTokens } from "../model/entry.ts";
import { fromWireUsage, toWireUsage, type WireUsage } from "./usage.ts";

export interface WireSum extends WireUsage {
  readonly sessions: number;
  readonly subagents: number;
  readonly messages: number;
  /** Of all four kinds. */
  readonly tokens: number;
  /** In whole microdollars. */
  readonly cost_microusd: number;
}

export interface WireStats {
  readonly total: WireSum;
  readonly agents: readonly ({ readonly agent: string } & WireSum)[];
  readonly projects: readonly ({ readonly project_path: string } & WireSum)[];
  readonly models: readonly ({ readonly model: string } & WireSum)[];
  readonly days: readonly ({ readonly day: string } & WireSum)[];
  readonly prices: { readonly as_of: string; readonly unknown_models: readonly string[] };
}

export function toWireStats({ total, agents, projects, models, days, prices }: Stats): WireStats {
  return {
    total: toWireSum(total),
    agents: [...agents].map(([agent, sum]) => ({ agent, ...toWireSum(sum) })),
    projects: [...projects].map(([path, sum]) => ({ project_path: path, ...toWireSum(sum) })),
    models: [...models].map(([model, sum]) => ({ model, ...toWireSum(sum) })),
    days: [...days].map(([day, sum]) => ({ day, ...toWireSum(sum) })),
    prices: { as_of: prices.asOf, unknown_models: prices.unknown },
  };
}

export function fromWireStats(stats: WireStats): Stats {
  return {
    total: fromWireSum(stats.total),
    agents: new Map(stats.agents.map((row) => [row.agent, fromWireSum(row)])),
    projects: new Map(stats.projects.map((row) => [row.project_path, fromWireSum(row)])),
    models: new Map(stats.models.map((row) => [row.model, fromWireSum(row)])),
    days: new Map(stats.days.map((row) => [row.day, fromWireSum(row)])),
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
    ...toWireUsage(tokens),
    cost_microusd: costMicroUsd,
  };
}

function fromWireSum(sum: WireSum): Sum {
  const { sessions, subagents, messages, cost_microusd: costMicroUsd } = sum;
  return { sessions, subagents, messages, tokens: fromWireUsage(sum), costMicroUsd };
}
