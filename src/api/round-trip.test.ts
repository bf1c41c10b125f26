import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PruneOptions } from "../context/prune.ts";
import type { BuiltContext } from "../engine/context/build-context.ts";
import { ACCESS_TOKEN } from "../model/access.ts";
import * as contextShapes from "../model/answers/context.ts";
import * as gatewayShapes from "../model/answers/gateway.ts";
import * as storeShapes from "../model/answers/store.ts";
import { CHANGE } from "../model/change.ts";
import { ENTRY } from "../model/entry.ts";
import { FACT, MEMORY } from "../model/note.ts";
import { OUTLINE } from "../model/outline.ts";
import { RECORD_INFO } from "../model/record.ts";
import { REVIEW } from "../model/review.ts";
import { ROUTE_SESSION, SESSION_ROUTE } from "../model/route.ts";
import type { Shape } from "../model/shape.ts";
import { fromWireContext, fromWirePrune, toWireContext, toWirePrune } from "./context.ts";
import {
  fromWireImportedEntry,
  fromWireSessionHead,
  toWireImportedEntry,
  toWireSessionHead,
} from "./imported-session.ts";
import { fromWireMessage, toWireMessage } from "./message-input.ts";
import {
  type Any,
  arbitraryOf,
  bytes,
  count,
  exact,
  importedEntry,
  message,
  session,
  sessionHead,
  texts,
} from "./round-trip.cases.ts";
import { fromWireSession, toWireSession } from "./session.ts";
import { fromWire, toWire } from "./shape.ts";
import { fromWireBytes, toWireBytes, toWireTime } from "./wire.ts";

/** Through JSON, as over the network. */
function check<Value, Wire>(
  values: fc.Arbitrary<Value>,
  toWire: (value: Value) => Wire,
  fromWire: (wire: Wire) => Value,
): void {
  fc.assert(
    fc.property(values, (value) => {
      const wire = JSON.parse(JSON.stringify(toWire(value))) as Wire;
      expect(fromWire(wire)).toStrictEqual(value);
    }),
  );
}

const SHAPES: Readonly<Record<string, Shape>> = {
  ...storeShapes,
  ...contextShapes,
  ...gatewayShapes,
  ACCESS_TOKEN,
  CHANGE,
  ENTRY,
  FACT,
  MEMORY,
  RECORD_INFO,
  OUTLINE,
  REVIEW,
  ROUTE_SESSION,
  SESSION_ROUTE,
};

const context = fc.record(
  {
    messages: fc.array(
      fc.tuple(arbitraryOf(contextShapes.CONTEXT_MESSAGE), fc.boolean()).map(([each, aborted]) => {
        return { ...(each as object), ...(aborted ? { aborted } : {}) };
      }),
      { maxLength: 3 },
    ),
    omitted: arbitraryOf([contextShapes.OMISSION]),
    tokens: count,
    shortened: count,
  },
  exact,
) as unknown as Any<BuiltContext>;

const limits = "trimRatio trimAbove headCharacters tailCharacters clearRatio clearAbove".split(" ");
const prune = fc.record(
  {
    windowTokens: count,
    usedTokens: count,
    tools: fc.record({ allow: texts, deny: texts }, { ...exact, requiredKeys: [] }),
    limits: fc.record(Object.fromEntries(limits.map((name) => [name, count])), {
      ...exact,
      requiredKeys: [],
    }),
  },
  { ...exact, requiredKeys: ["windowTokens"] },
) as Any<PruneOptions>;

describe("values survive the wire and back unchanged", () => {
  test.each(Object.entries(SHAPES))("%s", (_name, shape) => {
    check<unknown, unknown>(
      arbitraryOf(shape),
      (value) => toWire(shape, value as never),
      (wire) => fromWire(shape, wire),
    );
  });

  test("a session", () => check(session, toWireSession, fromWireSession));
  test("a context", () =>
    check<BuiltContext, ReturnType<typeof toWireContext>>(context, toWireContext, fromWireContext));
  test("an imported session", () => check(sessionHead, toWireSessionHead, fromWireSessionHead));
  test("its entries", () => check(importedEntry, toWireImportedEntry, fromWireImportedEntry));
  test("pruning options", () => check(prune, toWirePrune, fromWirePrune));
  test("bytes", () => check(bytes, toWireBytes, fromWireBytes));

  test("a message to append", () => {
    fc.assert(
      fc.property(message, fc.option(count, { nil: undefined }), (input, at) => {
        const dated = at === undefined ? {} : { createdAt: at };
        const wire = toWireMessage({ ...input, ...dated }, (time) => toWireTime(Number(time)));
        const back = fromWireMessage(JSON.parse(JSON.stringify(wire)));
        const expected = { ...input, ...(at === undefined ? {} : { createdAt: new Date(at) }) };
        expect(back).toStrictEqual(expected);
      }),
    );
  });
});

test("a field that is absent is null on the wire, and names are in snake_case", () => {
  const shape = {
    foundAt: "time",
    index: { of: "count|null", wire: "msg_idx" },
    why: "text?",
  } as const;
  const wire = { found_at: "1970-01-01T00:00:00.000Z", msg_idx: null, why: null };
  expect(toWire(shape, { foundAt: 0, index: null })).toEqual(wire);
  expect(fromWire(shape, wire)).toEqual({ foundAt: 0, index: null });
});
