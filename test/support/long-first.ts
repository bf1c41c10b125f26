/** The order of the files: a long one that began last would have the end of the run to itself. */

import { sep } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Those that take longest, the longest first. The others come as vitest would have them. */
const LONG: readonly string[] = [
  "docs",
  "server/chaos",
  "concurrency",
  "bit-flips",
  "cli-remote",
  "crash",
  "power-loss",
  "gateway/flush-processes",
  "retention",
  "bad-input",
  "damaged-reads",
  "tarball",
  "server/process",
  "lease-crash",
  "index-crash",
  "mcp-outside",
  "mcp-stdio",
  "mcp-backpressure",
  "search-equality",
  "server/hostile",
  "damaged-log",
  "gateway/loop-turns",
]
  .map((name) => `test/${name}.test.ts`)
  .concat("src/store/postgres/postgres-store.test.ts", "src/store/sqlite/sqlite-store.test.ts")
  .concat("src/engine/leases/hold-lease.test.ts", "src/engine/retention/retention.test.ts")
  .concat("src/client/import-session.test.ts", "src/engine/search.test.ts");

export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

/** A worker keeps the modules of one project: so one after the other, the short files at the end. */
function rankOf({ moduleId, project }: TestSpecification): number {
  const path = moduleId.split(sep).join("/");
  const place = LONG.findIndex((name) => path.endsWith(`/${name}`));
  const ofProject = project.name === "unit" ? 2 * LONG.length : 0;
  return ofProject + (place === -1 ? LONG.length : place);
}
