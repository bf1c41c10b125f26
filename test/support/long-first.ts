/** The order of the files: a long one that began last would have the end of the run to itself. */

import { sep } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Those that take longest, the longest first. The others come as vitest would have them. */
const LONG: readonly string[] = [
  "browser/page/read",
  "browser/page/safety",
  "browser/page/keep",
  "browser/page/find",
  "browser/page/access",
  "docs",
  "retention",
  "gateway/flush-processes",
  "bit-flips",
  "server/chaos",
  "fleet/failover",
  "fleet/followers",
  "concurrency",
  "lease-crash",
  "cli-remote",
  "damaged-log",
  "damaged-reads",
  "tarball",
  "bad-files",
  "crash",
  "server/process",
  "search-equality",
  "server/hostile",
  "backup",
  "index-kills",
  "index-crash",
  "bad-input",
  "mcp-outside",
  "mcp-tools",
  "power-loss",
  "gateway/loop-pi",
  "mcp-stdio",
  "mcp-backpressure",
  "gateway/loop-turns",
]
  .map((name) => `test/${name}.test.ts`)
  .concat("src/store/postgres/postgres-store.test.ts", "src/store/sqlite/sqlite-store.test.ts")
  .concat("src/store/postgres/transaction-pooler.test.ts")
  .concat("src/engine/leases/hold-lease.test.ts", "src/engine/retention/retention.test.ts")
  .concat("src/client/import-session.test.ts", "src/engine/search.test.ts");

export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

/** A worker keeps the modules of one project: so one after the other, the short files at the end. */
const PROJECTS: readonly string[] = ["browser", "e2e", "unit"];

function rankOf({ moduleId, project }: TestSpecification): number {
  const path = moduleId.split(sep).join("/");
  const place = LONG.findIndex((name) => path.endsWith(`/${name}`));
  const ofProject = 2 * LONG.length * PROJECTS.indexOf(project.name);
  return ofProject + (place === -1 ? LONG.length : place);
}
