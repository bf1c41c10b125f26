/**
 * Checks an input by its table in `inputs/`: refuses unknown fields, which would otherwise be ignored
 * silently, and values of the wrong kind.
 */

import { BackscrollError } from "./errors.ts";
import { wayFromElsewhere } from "./inputs/elsewhere.ts";
import { type Kinds, type ReadKind, readKind, type TypeOf } from "./inputs/kinds.ts";
import { describe, isPlainObject } from "./json.ts";
import { nearest } from "./suggest.ts";

/**
 * `Table` if it describes exactly the fields of `Input`, and each by a kind of its type; else a type
 * that names the fields that differ.
 */
export type KindsOf<Input, Table> = [Different<Input, Table>] extends [never]
  ? Table
  : { readonly differs: Different<Input, Table> };

type Different<Input, Table> = {
  [Name in keyof Input | keyof Table]-?: Name extends keyof Table & keyof Input
    ? [Exclude<Input[Name], undefined>] extends [TypeOf<Table[Name]>]
      ? IsRequired<Table[Name]> extends IsPresent<Input, Name>
        ? never
        : Name
      : Name
    : Name;
}[keyof Input | keyof Table];

type IsRequired<Given> = Given extends `${string}!` | { readonly must: true } ? true : false;
type IsPresent<Input, Name extends keyof Input> =
  Record<never, never> extends Pick<Input, Name> ? false : boolean;

/**
 * Gives `value` if it is a plain object with only fields of `table`, each of its kind. Throws
 * `invalid_input` with the field and what it must be, or the nearest known name. `what` names the
 * input for the caller.
 */
export function checkFields<Input extends object, const Table extends Kinds>(
  value: Input,
  what: string,
  table: KindsOf<Input, Table> & Table,
): Input {
  return check(value, what, table, "");
}

/** As `checkFields`, of a part of an input: errors name its fields by `path`. */
export function checkPart<Input extends object, const Table extends Kinds>(
  value: Input,
  path: string,
  table: KindsOf<Input, Table> & Table,
): Input {
  return check(value, path, table, `${path}.`);
}

function check<Input extends object>(
  value: Input,
  what: string,
  table: Kinds,
  prefix: string,
): Input {
  if (!isPlainObject(value)) {
    throw new BackscrollError(
      "invalid_input",
      `${what} must be an object, not ${describe(value)}`,
      { details: { field: what } },
    );
  }
  const { fields, required } = read(table);
  for (const name of Object.keys(value)) {
    const kind = fields.get(name);
    if (kind === undefined) throw unknownField(name, what, [...fields.keys()]);
    const given = value[name];
    if (given === undefined) continue;
    if (!kind.accepts(given)) throw wrongValue(prefix + name, kind, given);
    const flaw = kind.flaw?.(given);
    if (flaw !== undefined) throw refused(prefix + name, `${prefix}${name} must be ${flaw}`);
  }
  for (const name of required) {
    if (value[name] !== undefined) continue;
    throw wrongValue(prefix + name, fields.get(name) as ReadKind, undefined);
  }
  return value;
}

/** Gives `value` if it has these methods, such as a tenant. Throws `invalid_input` naming `field`. */
export function checkMethods<Value extends object>(
  value: Value,
  field: string,
  methods: readonly (keyof Value & string)[],
): Value {
  const kind = readKind({ methods });
  if (kind.accepts(value)) return value;
  throw wrongValue(field, kind, value);
}

interface ReadTable {
  readonly fields: ReadonlyMap<string, ReadKind>;
  readonly required: readonly string[];
}

const tables = new WeakMap<Kinds, ReadTable>();

function read(table: Kinds): ReadTable {
  let known = tables.get(table);
  if (known === undefined) {
    const fields = new Map(Object.entries(table).map(([name, kind]) => [name, readKind(kind)]));
    const required = [...fields.keys()].filter((name) => fields.get(name)?.isRequired);
    known = { fields, required };
    tables.set(table, known);
  }
  return known;
}

function wrongValue(field: string, { words, isChoice }: ReadKind, given: unknown): BackscrollError {
  const message =
    given === undefined
      ? `${field} is missing; it must be ${words}`
      : `${field} must be ${words}, not ${shown(given, isChoice)}`;
  return refused(field, message);
}

function refused(field: string, message: string): BackscrollError {
  return new BackscrollError("invalid_input", message, { details: { field } });
}

/** A text is shown only where it is a misspelt choice: it may be a secret elsewhere. */
function shown(value: unknown, isChoice: boolean): string {
  if (typeof value === "number") return String(value);
  return isChoice && typeof value === "string"
    ? JSON.stringify(value.slice(0, 80))
    : describe(value);
}

/** The error of an unknown field. */
export function unknownField(
  name: string,
  what: string,
  known: readonly string[],
): BackscrollError {
  const shownName = name.slice(0, 80);
  const elsewhere = wayFromElsewhere(name, known);
  const meant = elsewhere === undefined ? nearest(name, known) : undefined;
  const way =
    elsewhere ??
    (known.length === 0
      ? "it has none"
      : meant === undefined
        ? `it may have ${known.join(", ")}`
        : `did you mean ${meant}?`);
  return new BackscrollError("invalid_input", `${what} has no field "${shownName}"; ${way}`, {
    details: { field: shownName, ...(meant === undefined ? {} : { nearest: meant }) },
  });
}
