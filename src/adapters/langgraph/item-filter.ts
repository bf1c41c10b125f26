/** Filters of LangGraph's store: exact values, and operators on one field. */

import { BackscrollError } from "../../model/errors.ts";
import { isPlainObject } from "../../model/json.ts";

type Test = (value: unknown, wanted: unknown) => boolean;

const OPERATORS: Readonly<Record<string, Test>> = {
  $eq: (value, wanted) => value === wanted,
  $ne: (value, wanted) => value !== wanted,
  $gt: (value, wanted) => Number(value) > Number(wanted),
  $gte: (value, wanted) => Number(value) >= Number(wanted),
  $lt: (value, wanted) => Number(value) < Number(wanted),
  $lte: (value, wanted) => Number(value) <= Number(wanted),
  $in: (value, wanted) => Array.isArray(wanted) && wanted.includes(value),
  $nin: (value, wanted) => !(Array.isArray(wanted) && wanted.includes(value)),
};

export function fitsFilter(
  value: Readonly<Record<string, unknown>>,
  filter: Readonly<Record<string, unknown>>,
): boolean {
  return Object.entries(filter).every(([field, wanted]) => fits(value[field], wanted));
}

function fits(value: unknown, wanted: unknown): boolean {
  if (!isPlainObject(wanted)) return value === wanted;
  return Object.entries(wanted).every(([name, operand]) => {
    const test = OPERATORS[name];
    if (test !== undefined) return test(value, operand);
    const known = Object.keys(OPERATORS).join(", ");
    throw new BackscrollError("invalid_input", `filter has no operator ${name}; it has ${known}`, {
      details: { field: "filter" },
    });
  });
}
