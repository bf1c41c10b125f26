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
  "test/docs",
  "src/store/postgres/postgres-store",
  "test/fleet/failover",
  "test/fleet/pooler",
  "test/bit-flips",
  "test/tarball",
  "test/trace",
  "test/retention",
  "test/server/chaos",
  "test/gateway/flush-processes",
  "test/server/hostile",
  "src/store/sqlite/sqlite-store",
  "src/engine/search",
  "src/engine/context/context",
  "src/engine/leases/hold-lease",
  "test/lease-crash",
  "test/adapters/killed-agents",
  "test/server/answers",
  "test/server/process",
  "test/masked-ids",
  "test/long-deletion",
  "test/cli-remote",
  "test/cli-ingest",
  "src/store/postgres/transaction-pooler",
  "test/crash",
  "test/periods",
  "test/adapters/openai-agents",
  "test/concurrency",
  "test/backup",
  "test/cli-setup",
  "src/engine/retention/retention",
  "test/bad-files",
  "test/mcp-backpressure",
  "test/damaged-reads",
  "test/meaning",
  "src/client/remote-session",
  "src/engine/records/records",
  "src/store/sqlite/executor/threads",
  "test/server/isolation.property",
  "test/context.property",
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
  "test/mcp-fresh",
  "test/adapters/mastra",
  "test/adapters/langgraph",
  "src/engine/verify/verify",
  "src/search/search.property",
  "src/archive/late-files",
  "src/engine/index-maintenance",
  "src/engine/index-setting",
  "test/bad-input",
  "test/store-kit",
  "test/cli-hook",
  "test/full-disk",
  "test/power-loss",
  "test/turns-of-processes",
  "test/release/stores",
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
