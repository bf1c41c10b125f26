/** Parses the text of options. */

import { parseTime } from "../api/text/time-input.ts";
import { normalizeRemote } from "../ingest/machine-paths.ts";
import type { JsonObject } from "../model/json.ts";
import { usageError } from "./command.ts";

export function toCount(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw usageError(`${option} must be a whole number, not "${text}"`, option);
}

/** A repository as stored: pasted from `git remote -v` or a browser, or typed in part. */
export function toRepo(text: string | undefined): string | undefined {
  return text === undefined ? undefined : normalizeRemote(text);
}

/** One of a few words. */
export function toChoice<Choice extends string>(
  text: string | undefined,
  choices: readonly Choice[],
  option: string,
): Choice | undefined {
  if (text === undefined) return undefined;
  const choice = choices.find((each) => each === text);
  if (choice !== undefined) return choice;
  throw usageError(`${option} must be one of ${choices.join(", ")}, not "${text}"`, option);
}

export function toNumber(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined;
  if (/^(?:\d+|\d*\.\d+)$/.test(text)) return Number(text);
  throw usageError(`${option} must be a number, not "${text}"`, option);
}

const UNIT_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/** The period of `--since` and `--until`: a day, a month or a year counts whole on either end. */
export function toPeriod({
  since,
  until,
}: {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}): { readonly since?: Date; readonly until?: Date } {
  return {
    ...(since === undefined ? {} : { since: parseTime(since, "--since", "since") }),
    ...(until === undefined ? {} : { until: parseTime(until, "--until", "until") }),
  };
}

/** A date (local midnight), an ISO 8601 time, or a duration from now: `30m`, `7d`. */
export function toFuture(text: string | undefined, option: string): Date | undefined {
  if (text === undefined) return undefined;
  const [, count, unit = ""] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  if (count !== undefined) return new Date(Date.now() + Number(count) * (UNIT_MS[unit] ?? 0));
  // JavaScript reads a date without a time as UTC; a user means the local day.
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const time = new Date(isDate ? `${text}T00:00` : text);
  if (startsWithDay(text) && !Number.isNaN(time.getTime())) return time;
  throw usageError(
    `${option} must be a date such as 2026-05-04, a time such as 2026-05-04T14:00Z, or a duration such as 7d or 12h, not "${text}"`,
    option,
  );
}

/** JavaScript would read the 30th of February as the 2nd of March. */
function startsWithDay(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})(?!\d)/.exec(text) ?? [];
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return date.getUTCDate() === Number(day);
}

export function toJsonValue(text: string, option: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw usageError(`${option} is not JSON: ${(cause as Error).message}`, option);
  }
}

export function toJsonObject(text: string | undefined, option: string): JsonObject | undefined {
  if (text === undefined) return undefined;
  const value = toJsonValue(text, option);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as JsonObject;
  }
  throw usageError(`${option} must be a JSON object such as {"ticket":"A-1"}`, option);
}

/** Drops undefined fields, so that the object can be spread into an argument of the library. */
export function given<Fields extends Record<string, unknown>>(
  fields: Fields,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as never;
}
