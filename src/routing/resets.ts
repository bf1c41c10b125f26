/** The reset type of a key's conversation. */

import { defined } from "../model/defined.ts";
import type { JsonObject } from "../model/json.ts";
import type { RouteFields } from "../model/route.ts";
import { GROUP_KINDS, parseSessionKey, type SessionKey } from "./session-key.ts";

const RESET_TYPES = ["direct", "group", "thread"] as const;
export type ResetType = (typeof RESET_TYPES)[number];

/** Threads and topics are threads anywhere; groups, channels and rooms are groups. */
export function resetTypeOf(key: SessionKey): ResetType {
  if ("alias" in key) return "direct";
  if (key.branches.some(({ kind }) => kind === "thread" || kind === "topic")) return "thread";
  return GROUP_KINDS.some((kind) => kind === key.place.kind) ? "group" : "direct";
}

/** The channel of a key, for settings by channel. */
export function channelOf(key: SessionKey): string | undefined {
  return "alias" in key || !("channel" in key.place) ? undefined : key.place.channel;
}

/** As `parseSessionKey`, but a key of unknown form is an alias. */
export function readSessionKey(text: string): SessionKey {
  try {
    return parseSessionKey(text);
  } catch {
    return { alias: text };
  }
}

/**
 * Resolves the reset policy of a conversation.
 *
 * Four settings, by precedence: the channel's policy replaces all others; the type's overrides the
 * general one field by field; the legacy `idleMinutes` fills in missing minutes. Default: daily at
 * four.
 */

export const RESET_MODES = ["daily", "idle", "manual"] as const;
/** `manual`: only by command. */
export type ResetMode = (typeof RESET_MODES)[number];

export interface ResetSettings {
  readonly mode?: ResetMode;
  readonly atHour?: number;
  readonly idleMinutes?: number;
}

export interface ResetConfig {
  readonly reset?: ResetSettings;
  /** `dm` is the older name of `direct`. */
  readonly resetByType?: Readonly<Partial<Record<ResetType | "dm", ResetSettings>>>;
  readonly resetByChannel?: Readonly<Record<string, ResetSettings>>;
  /** The older place of `reset.idleMinutes`. */
  readonly idleMinutes?: number;
}

export interface ResetPolicy {
  readonly mode: ResetMode;
  readonly atHour: number;
  /** Null: idleness never resets. */
  readonly idleMinutes: number | null;
}

const DEFAULT_RESET_HOUR = 4;
/** Default of `idle`. */
const DEFAULT_IDLE_MINUTES = 60;

export function resolveResetPolicy(
  config: ResetConfig,
  type: ResetType,
  channel: string | undefined,
): ResetPolicy {
  const own = channelSettings(config.resetByChannel, channel);
  if (own !== undefined) return toPolicy(own, "daily");
  const { reset, resetByType, idleMinutes } = config;
  const byType = resetByType?.[type] ?? (type === "direct" ? resetByType?.dm : undefined);
  const isOnlyLegacy = reset === undefined && resetByType === undefined;
  const settings = {
    mode: byType?.mode ?? reset?.mode,
    atHour: byType?.atHour ?? reset?.atHour,
    idleMinutes: byType?.idleMinutes ?? reset?.idleMinutes ?? idleMinutes,
  };
  return toPolicy(defined(settings), isOnlyLegacy && idleMinutes !== undefined ? "idle" : "daily");
}

function channelSettings(
  all: ResetConfig["resetByChannel"],
  channel: string | undefined,
): ResetSettings | undefined {
  if (all === undefined || channel === undefined) return undefined;
  const wanted = channel.trim().toLowerCase();
  const name = Object.keys(all).find((each) => each.trim().toLowerCase() === wanted);
  return name === undefined ? undefined : all[name];
}

function toPolicy(settings: ResetSettings, otherwise: ResetMode): ResetPolicy {
  const mode = settings.mode ?? otherwise;
  const { atHour = DEFAULT_RESET_HOUR, idleMinutes } = settings;
  const hour = Number.isFinite(atHour) ? Math.floor(atHour) : DEFAULT_RESET_HOUR;
  return {
    mode,
    atHour: Math.min(23, Math.max(0, hour)),
    idleMinutes: toMinutes(idleMinutes) ?? (mode === "idle" ? DEFAULT_IDLE_MINUTES : null),
  };
}

function toMinutes(minutes: number | undefined): number | undefined {
  if (minutes === undefined || !Number.isFinite(minutes)) return undefined;
  return Math.max(1, Math.floor(minutes));
}

/**
 * Decides whether a session is due for a reset.
 *
 * The daily rule counts from the session's start, the idle rule from the last user message.
 * Bookkeeping affects neither. A clock that goes back makes a session younger, which never ends it.
 */

interface SessionTimes {
  readonly startedAt: number;
  readonly lastInteractionAt: number;
}

export type StaleReason = "daily" | "idle";

export interface DueReset {
  readonly reason: StaleReason;
  /** From this instant on, the next message starts another session. */
  readonly at: number;
}

/** Why the session is due for a reset; undefined while it is fresh. Of two reasons the earlier. */
export function dueReset(
  policy: ResetPolicy,
  times: SessionTimes,
  now: number,
  timeZone: string,
): DueReset | undefined {
  if (policy.mode === "daily" && lastBoundary(now, policy.atHour, timeZone) <= times.startedAt) {
    // Fast path: the day cannot be over.
    return idleReset(policy, times, now);
  }
  const next = nextReset(policy, times, timeZone);
  return next !== undefined && next.at <= now ? next : undefined;
}

/** The instant of the next reset if no message comes; undefined: never. */
export function nextReset(
  policy: ResetPolicy,
  times: SessionTimes,
  timeZone: string,
): DueReset | undefined {
  const { mode, atHour } = policy;
  if (mode === "manual") return undefined;
  const idle = idleReset(policy, times, Number.POSITIVE_INFINITY);
  if (mode === "idle") return idle;
  const daily: DueReset = { reason: "daily", at: nextBoundary(times.startedAt, atHour, timeZone) };
  return idle !== undefined && idle.at < daily.at ? idle : daily;
}

/** Strictly more than the minutes. */
function idleReset(
  { mode, idleMinutes }: ResetPolicy,
  { lastInteractionAt }: SessionTimes,
  now: number,
): DueReset | undefined {
  if (mode === "manual" || idleMinutes === null) return undefined;
  const at = lastInteractionAt + idleMinutes * 60_000 + 1;
  return at <= now ? { reason: "idle", at } : undefined;
}

/**
 * The daily reset time in a time zone, across daylight-saving changes.
 *
 * A day has 23 or 25 hours twice a year, so a boundary is a local date and an hour, converted to an
 * instant by the time zone. An hour skipped in spring begins at the change; of a repeated one in
 * autumn the first counts.
 */

const DAY_MS = 86_400_000;

/** The last instant at or before `now` at which the zone's clocks showed `hour` o'clock. */
export function lastBoundary(now: number, hour: number, timeZone: string): number {
  const today = localDay(now, timeZone);
  // Two steps suffice, except where a whole day was skipped, as at the date line.
  for (let back = 0; ; back++) {
    const boundary = momentOf(today - back * DAY_MS, hour, timeZone);
    if (boundary <= now) return boundary;
  }
}

/** The first moment after `time` at which the zone's clocks show `hour` o'clock. */
export function nextBoundary(time: number, hour: number, timeZone: string): number {
  const today = localDay(time, timeZone);
  for (let ahead = 0; ; ahead++) {
    const boundary = momentOf(today + ahead * DAY_MS, hour, timeZone);
    if (boundary > time) return boundary;
  }
}

export function isTimeZone(name: string): boolean {
  try {
    return formatOf(name) !== undefined;
  } catch {
    return false;
  }
}

/** The local date of a moment, as the UTC midnight of that date. */
function localDay(time: number, timeZone: string): number {
  const local = localTime(time, timeZone);
  return local - mod(local, DAY_MS);
}

/** The first instant of that hour on that day. `day` is a local date as its UTC midnight. */
function momentOf(day: number, hour: number, timeZone: string): number {
  const wanted = day + hour * 3_600_000;
  // The zone's UTC offsets before and after any change on this day.
  const before = offsetAt(wanted - DAY_MS, timeZone);
  const after = offsetAt(wanted + DAY_MS, timeZone);
  const moments = [wanted - before, wanted - after].filter(
    (moment) => localTime(moment, timeZone) === wanted,
  );
  // A skipped hour begins, by the old offset, at the moment of the change.
  return moments.length === 0 ? wanted - before : Math.min(...moments);
}

function offsetAt(time: number, timeZone: string): number {
  return localTime(time, timeZone) - (time - mod(time, 1_000));
}

/** The zone's local time, to the second, as if it were UTC. */
function localTime(time: number, timeZone: string): number {
  const parts: Record<string, number> = {};
  for (const { type, value } of formatOf(timeZone).formatToParts(time)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** Cached: creating one is the expensive part. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const two = "2-digit";
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    calendar: "iso8601",
    numberingSystem: "latn",
    year: "numeric",
    month: two,
    day: two,
    hour: two,
    minute: two,
    second: two,
  });
  formats.set(timeZone, format);
  return format;
}

function mod(value: number, by: number): number {
  return ((value % by) + by) % by;
}

/**
 * The fields of a route that survive a reset.
 *
 * An allow-list: other fields belong to the ended conversation.
 */

/** Labels of the place, which stays the same. A muted chat stays muted. */
const OF_THE_PLACE = [
  "chatType",
  "provider",
  "subject",
  "room",
  "space",
  "displayName",
  "sendPolicy",
] as const satisfies readonly (keyof RouteFields)[];

/** Preferences of the person: kept by an explicit reset, dropped by the daily one. */
const OF_THE_PERSON = [
  "thinkingLevel",
  "verboseLevel",
  "reasoningLevel",
] as const satisfies readonly (keyof RouteFields)[];

/**
 * The fields of the route's next session. Counters start at zero, flush marks are dropped, and no
 * choice of a model, an account or elevated rights is kept.
 */
export function carryOver(fields: JsonObject, reset: "explicit" | "stale"): JsonObject {
  const kept: readonly string[] =
    reset === "explicit" ? [...OF_THE_PLACE, ...OF_THE_PERSON] : OF_THE_PLACE;
  const carried = kept.flatMap((name) => {
    const value = fields[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(carried), compactionCount: 0 };
}

/** Commands at the start of a message for the gateway, and the text after them. */

export const DEFAULT_RESET_TRIGGERS: readonly string[] = ["/new", "/reset"];

interface Triggered {
  readonly trigger: string;
  /** The rest, unchanged. */
  readonly rest: string;
}

/**
 * The trigger that a message equals or begins with, ignoring case. White space must follow:
 * `/newer` is not `/new`. The longest match counts.
 */
export function matchTrigger(text: string, triggers: readonly string[]): Triggered | undefined {
  const trimmed = text.trim();
  const folded = trimmed.toLowerCase();
  const matches = triggers
    .map((trigger) => trigger.trim())
    .filter((trigger) => trigger !== "" && folded.startsWith(trigger.toLowerCase()))
    .filter((trigger) => /^(\s|$)/.test(trimmed.slice(trigger.length)))
    .sort((a, b) => b.length - a.length);
  const [trigger] = matches;
  return trigger === undefined
    ? undefined
    : { trigger, rest: trimmed.slice(trigger.length).trim() };
}
