/** Reads the values of arguments and options. */

import { BackscrollError } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import { MAX_BATCH_BYTES } from "../model/limits.ts";
import { usageError } from "./command.ts";
import type { Terminal } from "./terminal.ts";

export function toCount(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw usageError(`${option} must be a whole number, not "${text}"`, option);
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

/**
 * The text of an argument, or of standard input when it is `-` or left out. One final newline is
 * removed, which `echo` and editors add.
 */
export async function readText(argument: string | undefined, terminal: Terminal): Promise<string> {
  if (argument !== undefined && argument !== "-") return argument;
  if (process.stdin.isTTY) {
    terminal.note("Reading from standard input; end it with Ctrl-D on a line of its own.");
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_BATCH_BYTES) {
      throw new BackscrollError(
        "too_large",
        `standard input has more than ${MAX_BATCH_BYTES} bytes; append in several calls`,
        { details: { field: "stdin", limit: MAX_BATCH_BYTES, actual: bytes } },
      );
    }
  }
  return decode(Buffer.concat(chunks)).replace(/\r?\n$/, "");
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw usageError("standard input is not UTF-8 text; convert it first", "stdin");
  }
}
