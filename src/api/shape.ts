/** Converts values of shapes to the wire and back: see `model/shape.ts`. */

import type { Block } from "../model/block.ts";
import { isPlainObject, type JsonObject } from "../model/json.ts";
import type { Session } from "../model/session.ts";
import {
  readShapeKind,
  type Shape,
  type ShapeKind,
  type ShapeKinds,
  type Special,
  type ValueOf,
} from "../model/shape.ts";
import { fromWireBlock, toWireBlock, type WireBlock } from "./block.ts";
import { fromWireSession, toWireSession, type WireSession } from "./session.ts";
import {
  fromWireBytes,
  fromWireFields,
  fromWireTime,
  toWireBytes,
  toWireFields,
  toWireName,
  toWireTime,
  type WireName,
} from "./wire.ts";

/** The type of a value on the wire. */
export type WireOf<Kind> = Kind extends "time" | "bytes"
  ? string
  : Kind extends keyof ShapeKinds
    ? ShapeKinds[Kind]
    : Kind extends `${infer Base}|null` | `${infer Base}?`
      ? WireOf<Base> | null
      : Kind extends readonly [infer Item]
        ? readonly WireOf<Item>[]
        : Kind extends { readonly some: unknown }
          ? string
          : Kind extends { readonly one: unknown }
            ? ValueOf<Kind>
            : Kind extends { readonly of: infer Base }
              ? WireOf<Base> | (Kind extends { null: true } | { absent: true } ? null : never)
              : Kind extends Special<infer Value>
                ? WireOfSpecial<Value>
                : {
                    readonly [Name in keyof Kind as WireNameOf<Name, Kind[Name]>]: WireOf<
                      Kind[Name]
                    >;
                  };

type WireOfSpecial<Value> = Value extends Session
  ? WireSession
  : Value extends Block
    ? WireBlock
    : Value;

type WireNameOf<Name, Kind> = Kind extends { readonly wire: infer Wire extends string }
  ? Wire
  : WireName<Name>;

/** Converts a value; `owner` is the object that has it. */
type Convert = (value: never, owner: JsonObject) => unknown;

interface Codec {
  readonly to: Convert;
  readonly from: Convert;
}

/** The kinds whose data has our fields. An extension's data keeps its own names. */
const OWN_DATA: ReadonlySet<unknown> = new Set([
  "compaction",
  "branch_summary",
  "summary",
  "label",
]);

function ownData(convert: (fields: JsonObject) => object): Convert {
  return (data: unknown, { kind }) =>
    OWN_DATA.has(kind) && isPlainObject(data) ? convert(data as JsonObject) : data;
}

/** The kinds that differ on the wire. */
const CODECS: Readonly<Record<string, Codec>> = {
  time: { to: toWireTime, from: fromWireTime },
  bytes: { to: toWireBytes, from: fromWireBytes },
  fields: { to: toWireFields, from: fromWireFields },
  block: { to: toWireBlock, from: fromWireBlock },
  session: { to: toWireSession, from: fromWireSession },
  data: { to: ownData(toWireFields), from: ownData(fromWireFields) },
};

export function toWire<const Kind>(kind: Kind, value: ValueOf<Kind>): WireOf<Kind> {
  const codec = codecOf(kind as ShapeKind);
  return (codec === undefined ? value : codec.to(value as never, {})) as WireOf<Kind>;
}

/** The inverse, of an answer of this version or an older one. */
export function fromWire<const Kind, Value extends ValueOf<Kind> = ValueOf<Kind>>(
  kind: Kind,
  wire: unknown,
): Value {
  const codec = codecOf(kind as ShapeKind);
  return (codec === undefined ? wire : codec.from(wire as never, {})) as Value;
}

const known = new WeakMap<object, Codec | undefined>();

/** Undefined: values are the same on the wire. */
function codecOf(kind: ShapeKind): Codec | undefined {
  if (typeof kind === "string") {
    const { base, null: isNull } = readShapeKind(kind);
    return isNull ? nullable(CODECS[base as string]) : CODECS[base as string];
  }
  if (!known.has(kind)) known.set(kind, makeCodec(kind));
  return known.get(kind);
}

function makeCodec(kind: Exclude<ShapeKind, string>): Codec | undefined {
  if (Array.isArray(kind)) {
    const item = codecOf(kind[0]);
    if (item === undefined) return undefined;
    return {
      to: (list: readonly never[], owner) => list.map((each) => item.to(each, owner)),
      from: (list: readonly never[], owner) => list.map((each) => item.from(each, owner)),
    };
  }
  if ("of" in kind) return nullable(codecOf(readShapeKind(kind as ShapeKind).base));
  if ("special" in kind) return CODECS[kind["special"] as string];
  if ("one" in kind || "some" in kind) return undefined;
  return objectCodec(kind as Shape);
}

function nullable(codec: Codec | undefined): Codec | undefined {
  if (codec === undefined) return undefined;
  return {
    to: (value, owner) => (value === null ? null : codec.to(value, owner)),
    from: (value, owner) => (value === null ? null : codec.from(value, owner)),
  };
}

function objectCodec(shape: Shape): Codec {
  const fields = Object.entries(shape).map(([name, kind]) => {
    const { base, wire = toWireName(name), absent = false } = readShapeKind(kind);
    return { name, wire, absent, codec: codecOf(base) };
  });
  // Copies of one object have their fields from the start, which is faster than adding them.
  const wired = Object.fromEntries(fields.map(({ wire }) => [wire, null as unknown]));
  const named = Object.fromEntries(
    fields.filter(({ absent }) => !absent).map(({ name }) => [name, null as unknown]),
  );
  return {
    to: (value: JsonObject) => {
      const made = { ...wired };
      for (const { name, wire, codec } of fields) {
        const given = value[name] ?? null;
        if (given === null) continue;
        made[wire] = codec === undefined ? given : codec.to(given as never, value);
      }
      return made;
    },
    from: (value: JsonObject) => {
      const made = { ...named };
      for (const { name, wire, codec } of fields) {
        const given = value[wire] ?? null;
        if (given === null) continue;
        made[name] = codec === undefined ? given : codec.from(given as never, value);
      }
      return made;
    },
  };
}
