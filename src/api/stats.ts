/** Sessions added up, on the wire. */

import type { Sum, Tally } from "../archive/tally.ts";

export interface WireStats {
  readonly total: Sum;
  readonly agents: readonly ({ readonly agent: string } & Sum)[];
  readonly projects: readonly ({ readonly project_path: string } & Sum)[];
  readonly days: readonly ({ readonly day: string } & Sum)[];
}

export function toWireStats({ total, agents, projects, days }: Tally): WireStats {
  return {
    total,
    agents: [...agents].map(([agent, sum]) => ({ agent, ...sum })),
    projects: [...projects].map(([path, sum]) => ({ project_path: path, ...sum })),
    days: [...days].map(([day, sum]) => ({ day, ...sum })),
  };
}
