/** Options that narrow several commands down. */

import { defined } from "../../model/defined.ts";
import {
  type FilteredCall,
  type FilterFields,
  type FiltersOf,
  filtersOf,
  SESSION_FILTERS,
  type SessionFilterName,
  type SessionFilterRow,
} from "../../model/session-filters.ts";
import { toRepo } from "../values.ts";

interface TextOption {
  readonly type: "string";
  readonly value: string;
  readonly help: string;
}

export const UNTIL = {
  type: "string",
  value: "TIME",
  help: "Up to then; a day, a month or a year counts whole.",
} as const;

type FlagOf<Name extends SessionFilterName> = (typeof SESSION_FILTERS)[Name] extends {
  readonly flag: infer Flag extends string;
}
  ? Flag
  : Name;

/** The option of each filter. */
export function filterOptions<Name extends SessionFilterName>(
  ...names: readonly Name[]
): Readonly<Record<FlagOf<Name>, TextOption>> {
  const options = names.map((name) => {
    const { flag = name, value = "NAME", help = "" }: SessionFilterRow = SESSION_FILTERS[name];
    return [flag, { type: "string", value, help }] as const;
  });
  return Object.fromEntries(options) as Readonly<Record<FlagOf<Name>, TextOption>>;
}

/** The filters of a call among a command's options. */
export function toFilters<Call extends FilteredCall>(
  call: Call,
  options: Readonly<Record<string, string | boolean | undefined>>,
): FilterFields<FiltersOf<Call>, string> {
  const values = filtersOf(call).map(([name, { flag = name }]) => {
    const text = options[flag] as string | undefined;
    return [name, name === "repo" ? toRepo(text) : text] as const;
  });
  return defined(Object.fromEntries(values)) as FilterFields<FiltersOf<Call>, string>;
}
