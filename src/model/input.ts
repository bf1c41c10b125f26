/**
 * Refuses unknown fields of an input: a misspelt field, such as a scope, would otherwise be ignored
 * silently.
 */

import { BackscrollError } from "./errors.ts";
import { describe, isPlainObject } from "./json.ts";
import { nearest } from "./suggest.ts";

/** `Names` if they are exactly the fields of `Input`; else a type that names the difference. */
export type FieldsOf<Input, Names extends readonly string[]> = [
  Exclude<keyof Input, Names[number]>,
] extends [never]
  ? [Exclude<Names[number], keyof Input>] extends [never]
    ? Names
    : { readonly notOfTheInput: Exclude<Names[number], keyof Input> }
  : { readonly notInTheList: Exclude<keyof Input, Names[number]> };

/**
 * Gives `value` if it is a plain object with only fields among `names`. Throws `invalid_input` with
 * the field and the nearest known name. `what` names the input for the caller.
 */
export function checkFields<Input extends object, const Names extends readonly string[]>(
  value: Input,
  what: string,
  names: FieldsOf<Input, Names> & Names,
): Input {
  if (!isPlainObject(value)) {
    throw new BackscrollError(
      "invalid_input",
      `${what} must be an object, not ${describe(value)}`,
      {
        details: { field: what },
      },
    );
  }
  for (const name of Object.keys(value)) {
    if (!(names as readonly string[]).includes(name)) throw unknownField(name, what, names);
  }
  return value;
}

/** The error of an unknown field. */
export function unknownField(
  name: string,
  what: string,
  known: readonly string[],
): BackscrollError {
  const shown = name.slice(0, 80);
  const meant = nearest(name, known);
  const way =
    known.length === 0
      ? "it has none"
      : meant === undefined
        ? `it may have ${known.join(", ")}`
        : `did you mean ${meant}?`;
  return new BackscrollError("invalid_input", `${what} has no field "${shown}"; ${way}`, {
    details: { field: shown, ...(meant === undefined ? {} : { nearest: meant }) },
  });
}
