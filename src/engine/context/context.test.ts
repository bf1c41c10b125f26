/** Context and compaction through the engine: the same cases on both databases. */

import { afterAll, beforeAll, describe } from "vitest";
import { createDatabase } from "../../../test/support/postgres.ts";
import { open } from "../../open.ts";
import { compactCases } from "../compaction/cases/compact.cases.ts";
import { summarizeCases } from "../compaction/cases/summarize.cases.ts";
import type { Engine } from "../engine.ts";
import { extractFactsCases } from "../facts/cases/extract-facts.cases.ts";
import { rulesCases } from "../rules/cases/rules.cases.ts";
import { buildContextCases } from "./cases/build-context.cases.ts";
import { oddSessionCases } from "./cases/odd-sessions.cases.ts";
import { recallEvictedCases } from "./cases/recall-evicted.cases.ts";

let tenants = 0;

function contextCases(name: string, address: () => Promise<string>): void {
  describe(name, () => {
    let engine: Engine;
    beforeAll(async () => {
      engine = await open(await address());
    });
    afterAll(() => engine.close());
    const cases = { tenant: () => engine.forTenant(`tenant-${++tenants}`) };
    buildContextCases(cases);
    recallEvictedCases(cases);
    compactCases(cases);
    summarizeCases(cases);
    oddSessionCases(cases);
    extractFactsCases(cases);
    rulesCases(cases);
  });
}

contextCases("on SQLite", async () => ":memory:");
contextCases("on PostgreSQL", createDatabase);
