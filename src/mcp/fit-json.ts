/**
 * Truncates data to a number of bytes as JSON: the last resort of a data answer. Small fields stay
 * whole, long texts are cut, lists end early, and fields without room are left out.
 */

import { cutToBytes } from "./cut-text.ts";

/** A shorter text may be an id, a time or a name, which must not be cut. */
const WHOLE_BYTES = 64;

/** Undefined if no part of `value` fits. */
export function fitJson(value: unknown, bytes: number): unknown {
  if (sizeOf(value) <= bytes) return value;
  if (typeof value === "string") return fitText(value, bytes);
  if (Array.isArray(value)) return fitList(value, bytes);
  if (typeof value === "object" && value !== null) return fitFields(value, bytes);
  return undefined;
}

function fitText(text: string, bytes: number): string | undefined {
  if (sizeOf(text) <= WHOLE_BYTES) return undefined;
  // Escaped characters take more than one byte.
  for (let room = bytes - 2; room >= WHOLE_BYTES; room = Math.floor(room * 0.8)) {
    const cut = cutToBytes(text, room);
    if (sizeOf(cut) <= bytes) return cut;
  }
  return undefined;
}

/** The first items that fit; the first one is truncated if it does not. */
function fitList(items: readonly unknown[], bytes: number): readonly unknown[] | undefined {
  let room = bytes - "[]".length;
  if (room < 0) return undefined;
  const shown: unknown[] = [];
  for (const item of items) {
    const fitted = shown.length === 0 ? fitJson(item, room) : item;
    const size = fitted === undefined ? Number.POSITIVE_INFINITY : sizeOf(fitted) + 1;
    if (size > room + 1) break;
    room -= size;
    shown.push(fitted);
  }
  return shown;
}

/** Each field gets an equal share; the remainder of small fields goes to larger ones. */
function fitFields(value: object, bytes: number): object | undefined {
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  const smallestFirst = fields
    .map(([name, field]) => ({ name, field, size: sizeOf(field), key: sizeOf(name) + 2 }))
    .sort((a, b) => a.size + a.key - (b.size + b.key));
  let room = bytes - "{}".length;
  if (room < 0) return undefined;
  const kept = new Map<string, unknown>();
  for (const [i, { name, field, key }] of smallestFirst.entries()) {
    const share = Math.floor(room / (smallestFirst.length - i)) - key;
    const fitted = share < 0 ? undefined : fitJson(field, share);
    if (fitted === undefined) continue;
    room -= sizeOf(fitted) + key;
    kept.set(name, fitted);
  }
  // In the value's own order.
  const shown = fields.filter(([name]) => kept.has(name)).map(([name]) => [name, kept.get(name)]);
  return Object.fromEntries(shown) as object;
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
