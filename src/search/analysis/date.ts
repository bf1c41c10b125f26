/** Dates in ISO form: `2023-05-08`, `2023/05/08`, `2023-05`, also inside timestamps. */

import { DIGIT } from "./character.ts";

export interface IsoDate {
  /** With dashes, for any separator. */
  readonly iso: string;
  readonly year: string;
  /** 1 to 12. */
  readonly month: number;
  /** 0 for a month without a day. */
  readonly day: number;
  readonly end: number;
}

/** The date that begins at the digit at `from`. */
export function dateAt(text: string, classes: Uint8Array, from: number): IsoDate | undefined {
  const century = text.charCodeAt(from) === 0x31 ? 19 : 20;
  const separator = text[from + 4];
  if (separator !== "-" && separator !== "/") return undefined;
  if (!digits(classes, from, 4) || number(text, from, 2) !== century) return undefined;
  if (!digits(classes, from + 5, 2) || classes[from - 1] === DIGIT) return undefined;
  const month = number(text, from + 5, 2);
  if (month < 1 || month > 12) return undefined;

  const year = text.slice(from, from + 4);
  const iso = `${year}-${text.slice(from + 5, from + 7)}`;
  if (text[from + 7] === separator && digits(classes, from + 8, 2)) {
    const day = number(text, from + 8, 2);
    if (day < 1 || day > 31 || classes[from + 10] === DIGIT) return undefined;
    return { iso: `${iso}-${text.slice(from + 8, from + 10)}`, year, month, day, end: from + 10 };
  }
  // `2023/05` may be part of a path or a fraction; `2023-05` is a month.
  if (separator === "/" || classes[from + 7] === DIGIT) return undefined;
  return { iso, year, month, day: 0, end: from + 7 };
}

function digits(classes: Uint8Array, from: number, count: number): boolean {
  for (let i = from; i < from + count; i++) if (classes[i] !== DIGIT) return false;
  return true;
}

function number(text: string, from: number, count: number): number {
  return Number(text.slice(from, from + count));
}
