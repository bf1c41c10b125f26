/** The types of settings: how each is parsed, and how an error describes it. */

import type { JsonValue } from "../../model/json.ts";
import { SECRET_PREFIX, SECRET_PREFIX_WORDS } from "../../model/variables.ts";
import { isTimeZone } from "../../routing/resets.ts";

export interface SettingKind {
  /** Completes an error's `must be …`. */
  readonly wanted: string;
  /** The parsed value; undefined if invalid. */
  readonly read: (value: unknown) => JsonValue | undefined;
}

export function choice(...choices: readonly string[]): SettingKind {
  return {
    wanted: `one of ${choices.join(", ")}`,
    read: (value) => choices.find((each) => each === value),
  };
}

export const TEXT: SettingKind = {
  wanted: "a text that is not empty",
  read: (value) => (typeof value === "string" && value.trim() !== "" ? value : undefined),
};

export const TEXTS: SettingKind = {
  wanted: "a list of texts",
  read: (value) =>
    Array.isArray(value) && value.every((each) => TEXT.read(each) !== undefined)
      ? (value as string[])
      : undefined,
};

export const SECRET_PREFIXES: SettingKind = {
  wanted: `a list of texts of ${SECRET_PREFIX_WORDS}`,
  read: (value) =>
    Array.isArray(value) && value.every((each) => SECRET_PREFIX.test(String(each)))
      ? value.map(String)
      : undefined,
};

export const FLAG: SettingKind = {
  wanted: "true or false",
  read: (value) => (typeof value === "boolean" ? value : undefined),
};

export const COUNT: SettingKind = {
  wanted: "a whole number of at least 0",
  read: (value) =>
    Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined,
};

export const NUMBER: SettingKind = {
  wanted: "a number",
  read: (value) => (Number.isFinite(value) ? (value as number) : undefined),
};

export const TIME_ZONE: SettingKind = {
  wanted: "a time zone such as Europe/Vienna or UTC",
  read: (value) => (typeof value === "string" && isTimeZone(value) ? value : undefined),
};

const DURATION_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/** In milliseconds. */
export const DURATION: SettingKind = {
  wanted: 'a duration such as "30d", "12h" or "90m", or a number of milliseconds',
  read: (value) => COUNT.read(value) ?? measured(value, /^(\d{1,9})\s*([smhdw])$/i, DURATION_MS),
};

const DAY_MS = 86_400_000;

/** Null: for ever. Less than a day is a typing error. */
export const KEEP: SettingKind = {
  wanted: '"forever", or a duration of at least a day such as "90d" or "52w"',
  read: (value) => {
    if (value === "forever") return null;
    const read = DURATION.read(value);
    return typeof read === "number" && read >= DAY_MS ? read : undefined;
  },
};

const SIZE_BYTES: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1024,
  mb: 1024 ** 2,
  gb: 1024 ** 3,
};

export const SIZE: SettingKind = {
  wanted: 'a number of bytes, or a size such as "500mb" or "2gb"',
  read: (value) => COUNT.read(value) ?? measured(value, /^(\d{1,9})\s*(b|kb|mb|gb)$/i, SIZE_BYTES),
};

function measured(
  value: unknown,
  pattern: RegExp,
  units: Readonly<Record<string, number>>,
): number | undefined {
  const [, count, unit = ""] = typeof value === "string" ? (pattern.exec(value.trim()) ?? []) : [];
  const size = units[unit.toLowerCase()];
  return count === undefined || size === undefined ? undefined : Number(count) * size;
}
