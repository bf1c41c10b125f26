/** Sessions added up: by agent, by project and by day. */

import type { TenantApi } from "../engine/interfaces/tenant-api.ts";
import { MAX_PAGE } from "../model/limits.ts";
import type { Session } from "../model/session.ts";

export interface Sum {
  sessions: number;
  messages: number;
  /** What models were given and what they answered, without what came from a cache. */
  tokens: number;
}

export interface Tally {
  readonly total: Sum;
  readonly agents: ReadonlyMap<string, Sum>;
  /** By the project's path; what has none stands under the empty path. */
  readonly projects: ReadonlyMap<string, Sum>;
  /** By the local day of the last interaction, `2026-05-04`. */
  readonly days: ReadonlyMap<string, Sum>;
}

export interface TallyInput {
  readonly agent?: string;
  readonly projectId?: string;
  /** The repository's remote, or its last parts. */
  readonly repo?: string;
  readonly workstation?: string;
  readonly since?: Date;
  readonly until?: Date;
}

/** Reads what is known of each session, a page at a time, and no entry. */
export async function tallySessions(tenant: TenantApi, input: TallyInput): Promise<Tally> {
  const total = emptySum();
  const agents = new Map<string, Sum>();
  const projects = new Map<string, Sum>();
  const days = new Map<string, Sum>();
  let cursor: string | undefined;
  do {
    const page = await tenant.listSessions({
      ...{ ...input, limit: MAX_PAGE },
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const session of page.sessions) {
      add(total, session);
      add(under(agents, session.agent), session);
      add(under(projects, session.origin.projectPath ?? ""), session);
      add(under(days, dayOf(session.lastInteractionAt)), session);
    }
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return { total, agents, projects, days };
}

function emptySum(): Sum {
  return { sessions: 0, messages: 0, tokens: 0 };
}

function under(sums: Map<string, Sum>, key: string): Sum {
  let sum = sums.get(key);
  if (sum === undefined) {
    sum = emptySum();
    sums.set(key, sum);
  }
  return sum;
}

function add(sum: Sum, { messageCount, tokens }: Session): void {
  sum.sessions++;
  sum.messages += messageCount;
  sum.tokens += tokens.inputTokens + tokens.outputTokens;
}

function dayOf(ms: number): string {
  const time = new Date(ms);
  const two = (value: number) => String(value).padStart(2, "0");
  return [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join("-");
}
