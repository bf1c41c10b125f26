import { defineConfig, type ViteUserConfig } from "vitest/config";

/** `npm test` has just built the package: the processes that tests start may use it. */
const env = process.env["npm_lifecycle_event"] === "test" ? { BACKSCROLL_BUILT: "1" } : {};

const config: ViteUserConfig = defineConfig({
  test: {
    // Most tests wait for a disk or for another process: three at once also on two cores.
    maxWorkers: 3,
    globalSetup: ["./test/support/postgres-server.ts"],
    projects: [
      {
        test: {
          name: "unit",
          env,
          include: ["src/**/*.test.ts"],
          // One set of modules for all files of a worker: loading them anew took a third of the time.
          isolate: false,
          // No test takes seconds; a busy machine may.
          testTimeout: 30_000,
          hookTimeout: 30_000,
          expect: { poll: { timeout: 20_000 } },
        },
      },
      {
        test: {
          name: "e2e",
          env,
          include: ["test/**/*.test.ts"],
          // Hundreds of processes start and die in some; on a busy machine that takes minutes.
          testTimeout: 300_000,
          hookTimeout: 120_000,
          expect: { poll: { timeout: 20_000 } },
        },
      },
    ],
  },
});

export default config;
