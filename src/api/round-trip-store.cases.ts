/** Arbitrary values of store reports. */

import fc from "fast-check";
import type { Tombstone } from "../engine/forget.ts";
import type { SweepReport } from "../engine/sweep.ts";
import type { VerifyReport } from "../engine/verify/verify.ts";
import type { StoreLoss } from "../model/store-loss.ts";
import type { IndexStatus } from "../store/index/index-status.ts";
import type { IngestedFile } from "../store/ingested-file.ts";
import type { StoreStatus } from "../store/records.ts";
import {
  type Any,
  bytes,
  count,
  exact,
  flag,
  text,
  textOrNull,
  texts,
  time,
} from "./round-trip.cases.ts";

export const tombstone: Any<Tombstone> = fc.record(
  {
    sessionId: text,
    originKey: textOrNull,
    entryCount: count,
    digest: text,
    reason: text,
    deletedAt: time,
  },
  exact,
);

export const sweep: Any<SweepReport> = fc.record(
  {
    deletedSessions: fc.array(fc.record({ tenant: text, sessionId: text }, exact)),
    abortedMessages: fc.array(fc.record({ tenant: text, entryId: text }, exact)),
    forgottenKeys: count,
    collectedBlobs: count,
    deletedRecords: count,
    erasedEntries: count,
    more: fc.constant(false),
  },
  exact,
);

export const verification: Any<VerifyReport> = fc.record(
  {
    ok: flag,
    tenants: count,
    sessions: count,
    entries: count,
    changes: count,
    damage: fc.array(text),
    problemCount: count,
    problems: fc.array(
      fc.record({ tenant: text, sessionId: textOrNull, entryId: textOrNull, problem: text }, exact),
    ),
    heads: fc.dictionary(text, text, { noNullPrototype: true }),
  },
  exact,
);

const loss: Any<StoreLoss> = fc.oneof(
  fc.record(
    { kind: fc.constant("log" as const), foundAt: time, commits: count, kept: textOrNull },
    exact,
  ),
  fc.record(
    {
      kind: fc.constantFrom("index" as const, "failover" as const),
      foundAt: time,
      tenant: text,
      changes: count,
    },
    exact,
  ),
);

const limit = fc.option(count, { nil: null });
const vectorStatus: Any<IndexStatus["vectors"]> = fc.option(
  fc.record(
    {
      embedder: text,
      dimensions: count,
      through: count,
      lag: count,
      gaps: fc.array(fc.record({ from: count, to: count }, exact), { maxLength: 3 }),
      vectors: count,
      segments: count,
      bytes: count,
    },
    exact,
  ),
);

export const status: Any<StoreStatus> = fc.record(
  {
    backend: fc.constantFrom("sqlite" as const, "postgres" as const),
    address: fc.constantFrom(":memory:", "/var/lib/backscroll.db", "postgres://host/db"),
    schemaVersion: count,
    epoch: text,
    databaseBytes: count,
    walBytes: count,
    losses: fc.array(loss, { maxLength: 3 }),
    followers: fc.array(
      fc.record(
        {
          address: fc.constant("postgres://host:5432/db"),
          isThere: fc.boolean(),
          behind: count,
          lagMs: count,
        },
        exact,
      ),
      { maxLength: 3 },
    ),
    tenants: fc.array(
      fc.record(
        {
          tenant: text,
          sessions: count,
          entries: count,
          messages: count,
          pending: count,
          contentBytes: count,
          memories: count,
          facts: count,
          feedPosition: count,
          feedHead: text,
          index: fc.record(
            { lag: count, segments: count, documents: count, bytes: count, vectors: vectorStatus },
            exact,
          ),
          quota: fc.record(
            { maxSessions: limit, maxEntries: limit, maxContentBytes: limit },
            exact,
          ),
        },
        exact,
      ),
      { maxLength: 3 },
    ),
  },
  exact,
);

export const indexStatus: Any<IndexStatus> = fc.record(
  {
    version: count,
    through: count,
    head: count,
    lag: count,
    segments: count,
    documents: count,
    bytes: count,
    positionBytes: count,
    dead: count,
    analyzers: texts,
    vectors: vectorStatus,
    holder: textOrNull,
    failure: text,
  },
  {
    ...exact,
    requiredKeys: [
      "version",
      "through",
      "head",
      "lag",
      "segments",
      "documents",
      "bytes",
      "positionBytes",
      "dead",
      "analyzers",
      "vectors",
      "holder",
    ],
  },
);

export const ingestedFile: Any<IngestedFile> = fc.record(
  {
    path: text,
    source: text,
    size: count,
    mtimeUs: fc.maxSafeNat(),
    offset: count,
    lines: count,
    tailHash: fc.option(bytes, { nil: null }),
    state: textOrNull,
    seenAt: time,
  },
  exact,
);
