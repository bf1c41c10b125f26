/** Longest-first scheduling of test files: a long file that starts last would run alone at the end. */

import { sep } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The longest files, longest first. The others follow in vitest's order. */
const LONG: readonly string[] = [
  "test/browser/page/read",
  "test/browser/page/keep",
  "test/browser/page/find",
  "test/browser/page/safety",
  "test/browser/page/access",
  "test/browser/reference",
  "test/docs",
  "src/store/postgres/postgres-store",
  "test/fleet/failover",
  "test/bit-flips",
  "test/tarball",
  "test/retention",
  "test/server/chaos",
  "test/gateway/flush-processes",
  "test/server/hostile",
  "src/store/sqlite/sqlite-store",
  "src/engine/search",
  "src/engine/leases/hold-lease",
  "test/lease-crash",
  "test/adapters/killed-agents",
  "test/server/answers",
  "test/server/process",
  "src/store/postgres/transaction-pooler",
  "test/crash",
  "test/concurrency",
  "test/backup",
  "test/cli-setup",
  "src/engine/retention/retention",
  "test/bad-files",
  "test/mcp-backpressure",
  "test/damaged-reads",
  "test/meaning",
  "test/server/openapi",
  "test/cli-formats",
  "src/adapters/ai-sdk/resumable/resumable-streams",
  "src/gateway/turns/reply-again",
  "test/damaged-log",
  "src/client/import-session",
  "src/store/sqlite/sqlite-index",
  "test/search-equality",
  "test/session-primitives",
  "test/mcp-stdio",
  "test/mcp-tools",
  "test/mcp-outside",
  "test/fleet/followers",
  "test/cli-remote",
  "test/mcp-fresh",
  "test/adapters/mastra",
  "test/adapters/langgraph",
  "src/engine/context/context",
  "src/engine/verify/verify",
  "src/search/search.property",
  "src/archive/late-files",
  "src/engine/index-maintenance",
  "src/engine/index-setting",
  "test/bad-input",
  "test/cli-ingest",
  "test/store-kit",
  "test/cli-hook",
].map((name) => `${name}.test.ts`);

export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const path = moduleId.split(sep).join("/");
  const place = LONG.findIndex((name) => path.endsWith(`/${name}`));
  return place === -1 ? LONG.length : place;
}
