/**
 * Resolves the reset policy of a conversation.
 *
 * Four settings, by precedence: the channel's policy replaces all others; the type's overrides the
 * general one field by field; the legacy `idleMinutes` fills in missing minutes. Default: daily at
 * four.
 */

import type { ResetType } from "./reset-type.ts";

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

export const DEFAULT_RESET_HOUR = 4;
/** Default of `idle`. */
export const DEFAULT_IDLE_MINUTES = 60;

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
    ...given("mode", byType?.mode ?? reset?.mode),
    ...given("atHour", byType?.atHour ?? reset?.atHour),
    ...given("idleMinutes", byType?.idleMinutes ?? reset?.idleMinutes ?? idleMinutes),
  };
  return toPolicy(settings, isOnlyLegacy && idleMinutes !== undefined ? "idle" : "daily");
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

function given<Name extends string, Value>(name: Name, value: Value | undefined) {
  return value === undefined ? {} : ({ [name]: value } as { readonly [_ in Name]: Value });
}
