/**
 * Processes killed with SIGKILL while they flush and merge.
 *
 * The index then finds each message of each existing session once: immediately, and after another process
 * has continued maintenance.
 */

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { openStore } from "../src/open.ts";
import { T0 } from "../src/store/cases/fixture.cases.ts";
import { expectAgreement } from "../src/store/cases/index-fixture.cases.ts";
import { TRIVIAL_INDEX } from "../src/store/cases/trivial-index.cases.ts";
import type { Store } from "../src/store/store.ts";
import { Child, codeFile } from "./support/child.ts";
import { createFolder } from "./support/folder.ts";
import type { IndexTask } from "./support/index-task.ts";
import { createDatabase } from "./support/postgres.ts";
import { SEED, seeded } from "./support/random.ts";
import { repeats } from "./support/repeats.ts";

const LEASE_MS = 40;
const TENANT = "default";
const random = seeded(SEED);
const INDEX_OF_CHILDREN = pathToFileURL(
  codeFile("../../src/store/cases/trivial-index.cases.ts"),
).href;

test("on SQLite the index survives killed maintenance", async () => {
  await killMaintainers(join(createFolder(), "crash.db"), repeats(3, 100));
});

test("on PostgreSQL the index survives killed maintenance", async () => {
  await killMaintainers(await createDatabase(), repeats(2, 40));
});

/** In each round two processes share the store until both are killed. */
async function killMaintainers(address: string, rounds: number): Promise<void> {
  const indexing = { module: TRIVIAL_INDEX, flushAt: 0, leaseMs: LEASE_MS };
  const store = await openStore(address, { inThread: true, indexing });
  let done = 0;
  let next = start();
  for (let round = 0; round < rounds; round++) {
    const pair = next;
    for (const [i, child] of pair.entries()) {
      const name = `r${round}-${i}`;
      const task: IndexTask = {
        address,
        name,
        module: INDEX_OF_CHILDREN,
        inThread: i === 0 || round % 2 === 0,
        leaseMs: LEASE_MS,
      };
      child.tell(task);
    }
    // The next two start while these work: start-up is most of a process's life.
    next = round + 1 < rounds ? start() : [];
    await Promise.all(pair.map(liveAndDie));
    done += pair
      .flatMap((child) => child.said<{ busy: boolean }>())
      .filter(({ busy }) => !busy).length;
    await expectAgreement(store, TENANT);
    if (round % 4 === 3) await clear(store);
  }
  await clear(store);
  expect(await store.checkIntegrity()).toEqual([]);
  // Guards against processes that were killed before they wrote.
  expect(done).toBeGreaterThan(rounds);
  await store.close();
}

function start(): Child[] {
  return [new Child("./index-writer.ts"), new Child("./index-writer.ts")];
}

/** Each is killed somewhere in a flush or a merge. */
async function liveAndDie(child: Child): Promise<void> {
  await child.until(1 + random() * 8);
  await new Promise((resolve) => setTimeout(resolve, random() * 8));
  const { signal } = await child.kill();
  expect(child.errors).toBe("");
  expect(signal).toBe("SIGKILL");
}

/** Continues maintenance after the dead processes' leases expire, and deletes most sessions. */
async function clear(store: Store): Promise<void> {
  const maintenance = async () => (await store.maintain(TENANT, "maintain")).busy;
  await expect.poll(maintenance, { timeout: 60_000, interval: 10 }).toBe(false);
  await expectAgreement(store, TENANT);
  expect((await store.indexStatus(TENANT)).lag).toBe(0);
  const { sessions } = await store.listSessions(TENANT, {}, { limit: 500 });
  for (const { id } of sessions.slice(3)) await store.deleteSession(TENANT, id, "test", T0);
  await expectAgreement(store, TENANT);
}
