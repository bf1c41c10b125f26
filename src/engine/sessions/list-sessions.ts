/** Pages of sessions, newest interaction first. */

import { INPUTS } from "../../model/inputs/index.ts";
import { describe } from "../../model/json.ts";
import type { MetadataFilter, Session } from "../../model/session.ts";
import type { SessionFilter } from "../../store/records.ts";
import { checkInput, checkKey, checkLimit, checkPeriod, invalid, tooLarge } from "../check.ts";
import { formatPageCursor, parsePageCursor } from "../cursor.ts";
import type { EngineContext } from "../engine-context.ts";
import { readPricedUsage } from "./session-cost.ts";

/** Each field narrows the list. Times may be dates. */
export interface ListSessionsInput extends Omit<SessionFilter, "since" | "until" | "machineMade"> {
  /** Includes machine-made sessions. Default false. */
  readonly machineMade?: boolean;
  readonly since?: number | Date;
  readonly until?: number | Date;
  /** Adds `costs` to the page. Default false. */
  readonly costs?: boolean;
  /** At most 500. Default 50. */
  readonly limit?: number;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string;
}

export interface SessionListPage {
  readonly sessions: readonly Session[];
  /**
   * What each session's calls cost in whole microdollars, by the session's id: by the store's
   * prices, without its sub-agents. Only if `costs` was given.
   */
  readonly costs?: ReadonlyMap<string, number>;
  /** Absent on the last page. */
  readonly nextCursor?: string;
}

/** Answered from columns: no entry's content is read. */
export async function listSessions(
  engine: EngineContext,
  input: ListSessionsInput,
): Promise<SessionListPage> {
  const { store, tenant } = engine;
  const {
    costs = false,
    since,
    until,
    limit,
    cursor,
    machineMade = false,
    metadata,
    ...filter
  } = checkInput(input, "options", INPUTS.listSessions);
  for (const [field, value] of Object.entries(filter)) {
    if (value !== undefined) checkKey(value, field);
  }
  const { since: from, until: to } = checkPeriod({ since, until });
  const page = await store.listSessions(
    tenant,
    {
      ...filter,
      ...(metadata === undefined ? {} : { metadata: checkWanted(metadata) }),
      ...(machineMade ? {} : { machineMade: false }),
      ...(from === undefined ? {} : { since: from }),
      ...(to === undefined ? {} : { until: to }),
    },
    {
      limit: checkLimit(limit),
      ...(cursor === undefined ? {} : { after: parsePageCursor(cursor) }),
    },
  );
  const { sessions, next } = page;
  return {
    sessions,
    ...(costs ? { costs: await readCosts(engine, sessions) } : {}),
    ...(next === undefined ? {} : { nextCursor: formatPageCursor(next) }),
  };
}

async function readCosts(
  engine: EngineContext,
  sessions: readonly Session[],
): Promise<ReadonlyMap<string, number>> {
  const usage = await readPricedUsage(engine, sessions, engine.prices());
  const costs = [...usage].map(
    ([id, sums]) => [id, sums.reduce((sum, { costMicroUsd }) => sum + costMicroUsd, 0)] as const,
  );
  return new Map(costs);
}

/** The limit of metadata fields in a filter. */
const MAX_WANTED = 16;

function checkWanted(metadata: MetadataFilter): MetadataFilter {
  const fields = Object.entries(metadata);
  if (fields.length > MAX_WANTED) {
    throw tooLarge("metadata", MAX_WANTED, fields.length, "ask for fewer fields");
  }
  for (const [name, value] of fields) {
    checkKey(name, "metadata");
    if (typeof value === "string") checkKey(value, `metadata.${name}`);
    else if (typeof value !== "boolean" && !Number.isFinite(value)) {
      throw invalid(
        `metadata.${name}`,
        `metadata.${name} must be a string, a number, true or false, not ${describe(value)}`,
      );
    }
  }
  return Object.fromEntries(fields);
}
