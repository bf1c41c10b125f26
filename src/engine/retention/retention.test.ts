/** Retention through the engine: the same cases on both databases. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase } from "../../../test/support/postgres.ts";
import { open } from "../../open.ts";
import type { Engine } from "../engine.ts";
import { coverageCases } from "./cases/coverage.cases.ts";
import { forgetCases } from "./cases/forget.cases.ts";

let tenants = 0;

function retentionCases(name: string, address: () => Promise<string>): void {
  describe(name, () => {
    let engine: Engine;
    beforeAll(async () => {
      engine = await open(await address(), { indexing: { flushAt: 0 } });
    });
    afterAll(() => engine.close());
    const cases = {
      engine: () => engine,
      tenant: () => engine.forTenant(`tenant-${++tenants}`),
    };
    // `forgetCases` leaves thousands of entries, after which these take a second each on
    // PostgreSQL.
    coverageCases(cases);
    forgetCases(cases);

    // Once, over the rows of all cases.
    test("every hash is intact after all cases", async () => {
      expect((await engine.verify()).problems).toEqual([]);
    });
  });
}

retentionCases("on SQLite", async () => ":memory:");
retentionCases("on PostgreSQL", createDatabase);
