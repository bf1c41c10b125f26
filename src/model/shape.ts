/**
 * Shapes: the fields of an answer, each with its kind, as a table of literals.
 *
 * A shape gives the TypeScript type of its values (`ValueOf`), both conversions to the wire
 * (`api/shape.ts`) and the schemas of REST and MCP (`api/shape-schema.ts`). A field's name on
 * the wire is its own in snake_case, unless `wire` says otherwise. On the wire every field is
 * present: one that is absent is null there.
 *
 * The notation of a kind:
 *
 * - `"count"`: a value of one kind; `"count|null"`: or null; `"count?"`: or absent;
 * - `[kind]`: a list; another shape: an object;
 * - `{ one: VALUES }`: one of these texts; `{ some: VALUES }`: one of them today, any text for readers;
 * - `{ of: kind }`: with `null`, `absent`, another name on the `wire`, or a description, `about`.
 */

import type { JsonObject, JsonValue } from "./json.ts";

/** The TypeScript type of each kind. */
export interface ShapeKinds {
  text: string;
  /** A whole number of at least 0. */
  count: number;
  integer: number;
  number: number;
  /** From 0 to 1. */
  share: number;
  flag: boolean;
  /** Epoch milliseconds; ISO 8601 on the wire. */
  time: number;
  /** Hexadecimal digits on the wire. */
  bytes: Uint8Array;
  json: JsonValue;
  /** An object with names of its writer. */
  object: JsonObject;
  /** An object with names of ours. */
  fields: JsonObject;
  counts: Readonly<Record<string, number>>;
  texts: Readonly<Record<string, string>>;
  unknown: unknown;
  /** Names, or any. */
  actors: readonly string[] | "any";
}

/** A kind with conversions of its own: `api/shape.ts` has them under its name. */
export interface Special<Value> {
  readonly special: "block" | "session" | "data";
  /** For the type alone. */
  readonly value?: Value;
}

export type ShapeKind =
  | string
  | readonly [ShapeKind]
  | Choice
  | Special<unknown>
  | Detailed
  | Shape;

interface Choice {
  readonly one?: readonly string[];
  readonly some?: readonly string[];
}

interface Detailed {
  readonly of: ShapeKind;
  readonly null?: true;
  readonly absent?: true;
  readonly wire?: string;
  readonly about?: string;
}

export interface Shape {
  readonly [field: string]: ShapeKind;
}

/** The type of the values of a kind. */
export type ValueOf<Kind> = Kind extends keyof ShapeKinds
  ? ShapeKinds[Kind]
  : Kind extends `${infer Base}|null`
    ? ValueOf<Base> | null
    : Kind extends `${infer Base}?`
      ? ValueOf<Base>
      : Kind extends readonly [infer Item]
        ? readonly ValueOf<Item>[]
        : Kind extends { readonly one: readonly (infer Value)[] }
          ? Value
          : Kind extends { readonly some: readonly (infer Value)[] }
            ? Value
            : Kind extends { readonly of: infer Base }
              ? ValueOf<Base> | (Kind extends { readonly null: true } ? null : never)
              : Kind extends Special<infer Value>
                ? Value
                : FieldsOf<Kind>;

/** The names whose values may be absent. */
type AbsentOf<Fields> = {
  [Name in keyof Fields]: Fields[Name] extends
    | `${string}?`
    | { readonly absent: true }
    | { readonly of: `${string}?` }
    ? Name
    : never;
}[keyof Fields];

type Values<Fields, Names extends keyof Fields> = {
  readonly [Name in Names]: ValueOf<Fields[Name]>;
};

/** The type of the objects of a shape: its fields keep their comments. */
export type FieldsOf<Fields> = [AbsentOf<Fields>] extends [never]
  ? Values<Fields, keyof Fields>
  : Values<Fields, Exclude<keyof Fields, AbsentOf<Fields>>> &
      Partial<Values<Fields, AbsentOf<Fields>>>;

/** A kind without its notation. */
export interface ReadShapeKind extends Omit<Detailed, "of"> {
  readonly base: Exclude<ShapeKind, Detailed>;
}

export function readShapeKind(kind: ShapeKind): ReadShapeKind {
  if (typeof kind === "string") {
    const base = kind.replace(/\|null$|\?$/, "");
    if (base === kind) return { base };
    return kind.endsWith("?") ? { base, absent: true } : { base, null: true };
  }
  if (!("of" in kind)) return { base: kind as ReadShapeKind["base"] };
  const { of, ...details } = kind as Detailed;
  return { ...readShapeKind(of), ...details };
}
