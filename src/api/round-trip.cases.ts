/** Arbitrary values of each wire type. */

import fc from "fast-check";
import type { MessageInput } from "../engine/message-input.ts";
import type { ImportedEntry } from "../ingest/source.ts";
import type { Block } from "../model/block.ts";
import { ENTRY_KINDS, type EntryKind, ROLES, type Role, type Usage } from "../model/entry.ts";
import type { JsonObject, JsonValue } from "../model/json.ts";
import { RETENTIONS, type Session } from "../model/session.ts";
import {
  FIGURE_FIELDS,
  type Field,
  type FieldKind,
  fieldsOf,
  ORIGIN_FIELDS,
  SESSION_FIELDS,
} from "../model/session-fields.ts";
import { readShapeKind, type Shape, type ShapeKind } from "../model/shape.ts";
import type { SessionHead } from "./imported-session.ts";

export type Any<Value> = fc.Arbitrary<Value>;

export const count: Any<number> = fc.nat();
export const bytes: Any<Uint8Array> = fc.uint8Array();
export const text: Any<string> = fc.string({ unit: "grapheme" });
export const textOrNull: Any<string | null> = fc.option(text, { nil: null });
export const texts: Any<string[]> = fc.array(text, { maxLength: 3 });
export const flag: Any<boolean> = fc.boolean();
export const time: Any<number> = fc.integer({ min: 0, max: Date.UTC(2200, 0) });
const timeOrNull = fc.option(time, { nil: null });
/** As `JSON.parse` gives it: without negative zero. */
const json: Any<JsonValue> = fc
  .jsonValue({ maxDepth: 3 })
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonValue);
const metadata: Any<JsonObject> = fc.dictionary(fc.string(), json, {
  maxKeys: 4,
  noNullPrototype: true,
});
export const number: Any<number> = fc
  .double({ noNaN: true, noDefaultInfinity: true })
  .map((value) => value + 0);
/** A name of ours: `firstKeptEntryId`. */
const ownName = fc.stringMatching(/^[a-z][a-z0-9]{0,5}([A-Z][a-z0-9]{0,4}){0,3}$/);
const ownFields: Any<JsonObject> = fc.dictionary(ownName, json, {
  maxKeys: 4,
  noNullPrototype: true,
});
export const role: Any<Role> = fc.constantFrom(...ROLES);
export const roleOrNull: Any<Role | null> = fc.option(role, { nil: null });
export const exact: { readonly noNullPrototype: true } = { noNullPrototype: true } as const;

export const usage: Any<Usage> = fc.record(
  { inputTokens: count, outputTokens: count, cacheCreationTokens: count, cacheReadTokens: count },
  exact,
);
const usageOrNull = fc.option(usage, { nil: null });

const simpleBlock: Any<Block> = fc.oneof(
  fc.record({ type: fc.constant("text" as const), text }, exact),
  // A provider's own field keeps its name, even if it looks like ours.
  fc.record({ type: fc.constant("text" as const), text, is_error: flag, toolName: text }, exact),
  fc.record(
    { type: fc.constant("thinking" as const), text, signature: text },
    { ...exact, requiredKeys: ["type", "text"] },
  ),
  fc.record({ type: fc.constant("tool_use" as const), id: text, name: text, input: text }, exact),
  fc.record(
    { type: fc.constant("image" as const), mediaType: text, data: text, url: text },
    { ...exact, requiredKeys: ["type"] },
  ),
  fc.record(
    { type: fc.constant("opaque" as const), provider: text, json: text },
    { ...exact, requiredKeys: ["type", "json"] },
  ),
);
const block: Any<Block> = fc.oneof(
  simpleBlock,
  fc.record(
    {
      type: fc.constant("tool_result" as const),
      toolUseId: text,
      toolName: text,
      output: fc.oneof(text, fc.array(simpleBlock, { maxLength: 3 })),
      isError: flag,
    },
    { ...exact, requiredKeys: ["type", "toolUseId", "output", "isError"] },
  ),
);
export const blocks: Any<Block[]> = fc.array(block, { maxLength: 4 });
const kind = fc.constantFrom(...(Object.keys(ENTRY_KINDS) as EntryKind[]));

const optionalText = fc.record(
  Object.fromEntries(Object.keys(ORIGIN_FIELDS).map((name) => [name, text])),
  { ...exact, requiredKeys: [] },
);

/** Arbitrary values of each kind of field; null where allowed. */
const KINDS: Readonly<Record<FieldKind, () => Any<unknown>>> = {
  text: () => text,
  count: () => count,
  amount: () => count,
  time: () => time,
  retention: () => fc.constantFrom(...RETENTIONS),
  names: () => texts,
  counts: () => fc.dictionary(text, count, { maxKeys: 3, noNullPrototype: true }),
  json: () => metadata,
  origin: () => optionalText,
  figures: () => recordOf(FIGURE_FIELDS),
  tokens: () => usage,
};

function recordOf(table: Readonly<Record<string, Field>>): Any<unknown> {
  const arbitraries = fieldsOf(table).map(([name, { kind, nullable }]) => {
    const value = KINDS[kind]();
    return [name, nullable ? fc.option(value, { nil: null }) : value] as const;
  });
  const required = fieldsOf(table).filter(([, { optional }]) => optional !== true);
  return fc.record(Object.fromEntries(arbitraries), {
    ...exact,
    requiredKeys: required.map(([name]) => name),
  });
}

export const session = recordOf(SESSION_FIELDS) as Any<Session>;

const KINDS_OF_SHAPES: Readonly<Record<string, Any<unknown>>> = {
  text,
  count,
  integer: fc.integer(),
  number,
  share: number,
  flag,
  time,
  bytes,
  json,
  object: metadata,
  fields: ownFields,
  counts: fc.dictionary(text, count, { maxKeys: 3, noNullPrototype: true }),
  texts: fc.dictionary(text, text, { maxKeys: 3, noNullPrototype: true }),
  unknown: json.filter((value) => value !== null),
  actors: fc.oneof(fc.constant("any"), texts),
  block,
  session,
  // Of our own kinds of entries, whose names are ours.
  data: ownFields,
};

/** Arbitrary values of a kind; with no absent field that is null on the wire. */
export function arbitraryOf(kind: ShapeKind): Any<unknown> {
  const { base, null: isNull } = readShapeKind(kind);
  const values = plainArbitrary(base);
  return isNull ? fc.option(values, { nil: null }) : values;
}

function plainArbitrary(kind: ShapeKind): Any<unknown> {
  if (typeof kind === "string") return KINDS_OF_SHAPES[kind] as Any<unknown>;
  if (Array.isArray(kind)) return fc.array(arbitraryOf(kind[0]), { maxLength: 3 });
  if ("special" in kind) return KINDS_OF_SHAPES[kind["special"] as string] as Any<unknown>;
  const choices = ("one" in kind ? kind["one"] : "some" in kind ? kind["some"] : undefined) as
    | readonly string[]
    | undefined;
  if (choices !== undefined) return fc.constantFrom(...choices);
  const fields = Object.entries(kind as Shape);
  const isAbsent = (each: ShapeKind) => readShapeKind(each).absent === true;
  return fc.record(
    Object.fromEntries(
      fields.map(([name, each]) => {
        const values = arbitraryOf(each);
        return [name, isAbsent(each) ? values.filter((value) => value !== null) : values];
      }),
    ),
    {
      ...exact,
      requiredKeys: fields.filter(([, each]) => !isAbsent(each)).map(([name]) => name),
    },
  );
}

export const sessionHead: Any<SessionHead> = fc.record(
  {
    source: text,
    agent: text,
    id: textOrNull,
    title: textOrNull,
    cwd: textOrNull,
    gitBranch: textOrNull,
    startedAt: timeOrNull,
    parentSession: textOrNull,
    metadata,
  },
  exact,
);

export const importedEntry: Any<ImportedEntry> = fc.record(
  {
    sourceId: text,
    parentSourceId: textOrNull,
    kind,
    role: roleOrNull,
    actor: textOrNull,
    blocks,
    data: fc.option(metadata, { nil: null }),
    references: texts,
    usage: usageOrNull,
    model: textOrNull,
    createdAt: timeOrNull,
    metadata,
  },
  {
    ...exact,
    requiredKeys: [
      "sourceId",
      "kind",
      "role",
      "actor",
      "blocks",
      "data",
      "usage",
      "model",
      "createdAt",
      "metadata",
    ],
  },
);

export const message: Any<MessageInput> = fc.record(
  {
    role,
    actor: text,
    content: fc.oneof(text, blocks),
    contextWindow: count,
    model: text,
    usage,
    adapter: text,
    metadata,
    interaction: flag,
    toolCalls: fc.array(fc.record({ id: text, name: text, input: json }, exact), { maxLength: 2 }),
    toolResults: fc.array(fc.record({ id: text, output: text, isError: flag }, exact), {
      maxLength: 2,
    }),
  },
  { ...exact, requiredKeys: ["role"] },
);
