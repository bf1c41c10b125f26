import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CompactionPlan } from "../compaction/plan.ts";
import type { BuiltContext } from "../engine/context/build-context.ts";
import { fromWireChange, toWireChange } from "./change.ts";
import { fromWirePlan, toWirePlan } from "./compaction-plan.ts";
import {
  fromWireCompaction,
  fromWireContext,
  fromWireContextUsage,
  fromWirePrune,
  fromWireRecalled,
  fromWireSummary,
  toWireCompaction,
  toWireContext,
  toWireContextUsage,
  toWirePrune,
  toWireRecalled,
  toWireSummary,
} from "./context.ts";
import { fromWireEntry, toWireEntry } from "./entry.ts";
import {
  fromWireMaintenance,
  fromWireRoute,
  fromWireRouteSession,
  fromWireSessionStatus,
  toWireMaintenance,
  toWireRoute,
  toWireRouteSession,
  toWireSessionStatus,
} from "./gateway.ts";
import {
  fromWireImportedEntry,
  fromWireSessionHead,
  toWireImportedEntry,
  toWireSessionHead,
} from "./imported-session.ts";
import { fromWireIngestedFile, toWireIngestedFile } from "./ingested-file.ts";
import {
  fromWireSweep,
  fromWireTombstone,
  fromWireVerification,
  toWireSweep,
  toWireTombstone,
  toWireVerification,
} from "./maintenance.ts";
import { fromWireMessage, toWireMessage } from "./message-input.ts";
import { fromWireFact, fromWireMemory, toWireFact, toWireMemory } from "./note.ts";
import {
  bytes,
  change,
  count,
  entry,
  fact,
  importedEntry,
  memory,
  message,
  session,
  sessionHead,
} from "./round-trip.cases.ts";
import {
  compactionResult,
  context,
  contextUsage,
  hit,
  plan,
  recalled,
  searchResult,
  summary,
} from "./round-trip-answers.cases.ts";
import {
  maintenance,
  prune,
  route,
  routeSession,
  sessionStatus,
} from "./round-trip-gateway.cases.ts";
import {
  indexStatus,
  ingestedFile,
  status,
  sweep,
  tombstone,
  verification,
} from "./round-trip-store.cases.ts";
import { fromWireHit, fromWireSearchResult, toWireHit, toWireSearchResult } from "./search.ts";
import { fromWireSession, toWireSession } from "./session.ts";
import { fromWireIndexReport, fromWireStatus, toWireIndexReport, toWireStatus } from "./status.ts";
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

describe("values survive the wire and back unchanged", () => {
  test("an entry, with blocks and data", () => check(entry, toWireEntry, fromWireEntry));
  test("a session", () => check(session, toWireSession, fromWireSession));
  test("a change", () => check(change, toWireChange, fromWireChange));
  test("a memory", () => check(memory, toWireMemory, fromWireMemory));
  test("a fact", () => check(fact, toWireFact, fromWireFact));
  test("a hit", () => check(hit, toWireHit, fromWireHit));
  test("a search", () => check(searchResult, toWireSearchResult, fromWireSearchResult));
  test("recalled passages", () => check(recalled, toWireRecalled, fromWireRecalled));
  test("a context", () =>
    check<BuiltContext, ReturnType<typeof toWireContext>>(context, toWireContext, fromWireContext));
  test("a compaction", () => check(compactionResult, toWireCompaction, fromWireCompaction));
  test("a compaction plan", () =>
    check<CompactionPlan, ReturnType<typeof toWirePlan>>(plan, toWirePlan, fromWirePlan));
  test("a summary", () => check(summary, toWireSummary, fromWireSummary));
  test("usage", () => check(contextUsage, toWireContextUsage, fromWireContextUsage));
  test("a tombstone", () => check(tombstone, toWireTombstone, fromWireTombstone));
  test("a sweep", () => check(sweep, toWireSweep, fromWireSweep));
  test("a verification", () => check(verification, toWireVerification, fromWireVerification));
  test("the status of a store", () => check(status, toWireStatus, fromWireStatus));
  test("the status of an index", () => check(indexStatus, toWireIndexReport, fromWireIndexReport));
  test("a file's read position", () =>
    check(ingestedFile, toWireIngestedFile, fromWireIngestedFile));
  test("an imported session", () => check(sessionHead, toWireSessionHead, fromWireSessionHead));
  test("its entries", () => check(importedEntry, toWireImportedEntry, fromWireImportedEntry));
  test("a route", () => check(route, toWireRoute, fromWireRoute));
  test("a route's session", () => check(routeSession, toWireRouteSession, fromWireRouteSession));
  test("a session's status", () =>
    check(sessionStatus, toWireSessionStatus, fromWireSessionStatus));
  test("a maintenance", () => check(maintenance, toWireMaintenance, fromWireMaintenance));
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
