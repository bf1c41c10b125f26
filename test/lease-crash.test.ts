/** Work under a lease continues in another process when its holder was killed. */

import { join } from "node:path";
import { describe, type TestContext, test } from "vitest";
import { open } from "../src/index.ts";
import { Child } from "./support/child.ts";
import { createFolder } from "./support/folder.ts";
import type { LeaseTask } from "./support/lease-holder.ts";
import { createDatabase } from "./support/postgres.ts";

const BACKENDS: readonly [string, (context: TestContext) => Promise<string>][] = [
  [
    "SQLite",
    async ({ onTestFinished }) =>
      join(
        createFolder((remove) => onTestFinished(remove)),
        "leases.db",
      ),
  ],
  ["PostgreSQL", createDatabase],
];

/** A holder renews it in time also where the machine is busy for four seconds. */
const durationMs = 6_000;

describe.concurrent.each(BACKENDS)("on %s", (_, newAddress) => {
  test.concurrent("exactly one process takes over the lease of a killed one", async (context) => {
    // The imported `expect` belongs to one test at a time.
    const { expect } = context;
    const address = await newAddress(context);
    await using engine = await open(address);
    const holder = new Child("./lease-holder.ts");
    holder.tell({ address, name: "job", durationMs } satisfies LeaseTask);
    await holder.until(1);
    expect(holder.said()).toEqual([{ held: true }]);

    const heirs: string[] = [];
    const stop = new AbortController();
    const waiting = ["a", "b"].map((heir) =>
      engine.holdLease("job", { durationMs, signal: stop.signal }, async (signal) => {
        heirs.push(heir);
        await new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => resolve());
        });
      }),
    );
    // A live holder renews its lease, so none takes over.
    await new Promise((resolve) => setTimeout(resolve, 1.2 * durationMs));
    expect(heirs).toEqual([]);

    expect(await holder.kill()).toMatchObject({ signal: "SIGKILL" });
    await expect.poll(() => heirs.length).toBe(1);
    // Long enough for the other process to poll again.
    await new Promise((resolve) => setTimeout(resolve, durationMs / 2));
    expect(heirs).toHaveLength(1);
    stop.abort();
    await Promise.all(waiting);
  });
});
