import { join } from "node:path";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { LongFirst } from "./test/support/long-first.ts";
import { isStress } from "./test/support/repeats.ts";

/** `npm test` has just built the package: commands that tests start may run what was built. */
const isBuilt =
  process.env["npm_lifecycle_event"] === "test" || process.env["BACKSCROLL_BUILT"] !== undefined;
const env = {
  ...(isBuilt ? { BACKSCROLL_BUILT: "1" } : {}),
  // No search of a test is partial because the machine is busy. Tests of deadlines name their own.
  BACKSCROLL_SEARCH_DEADLINE_MS: "600000",
};

// Compiled code and stripped types are kept between runs: workers and threads of stores start from it.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/compile");

/** So may the threads of stores that tests open: most of a test was the start of its threads. */
const setupFiles = [
  "./test/support/fixed-seeds.ts",
  ...(isBuilt ? ["./test/support/built-threads.ts"] : []),
];

/**
 * Node runs the sources of tests as it runs those of the program: it strips the types. Vite's transforms
 * took about 5 % of the processor time of a run, and workers another 5 % with their output. `vi.mock`
 * does not work without them.
 */
const experimental = { viteModuleRunner: false, nodeLoader: false };

const config: ViteUserConfig = defineConfig({
  test: {
    // Most tests wait for a disk or for another process: with three files at once, two cores were idle
    // for a quarter of the time. Five take 6 % longer than four.
    maxWorkers: 4,
    // A worker of a busy machine takes longer than the default of 10 s to end.
    teardownTimeout: 120_000,
    sequence: { sequencer: LongFirst },
    globalSetup: [
      "./test/support/temporary-folder.ts",
      "./test/support/postgres-server.ts",
      "./test/support/browser-server.ts",
      ...(isBuilt ? ["./test/support/bundled-children.ts"] : []),
    ],
    experimental,
    env,
    setupFiles,
    include: [
      "src/**/*.test.ts",
      "test/**/*.test.ts",
      ...(isStress ? ["test/**/*.stress.ts"] : []),
    ],
    // One set of modules for all files of a worker: loading them anew took a third of the time. So there
    // are no projects, either: a worker would load the modules anew for each.
    isolate: false,
    // Hundreds of processes start and die in some; on a busy machine that takes minutes.
    testTimeout: isStress ? 3_600_000 : 300_000,
    hookTimeout: isStress ? 3_600_000 : 300_000,
    expect: { poll: { timeout: 60_000 } },
    // A test that depends on what else the machine does is a defect. The run names it, and goes on.
    retry: isStress ? 0 : 2,
  },
});

export default config;
