/**
 * Processes killed inside `eraseContent`, at random moments: each message is whole or erased, and a sweep
 * erases the rest. The moment of a kill depends on the clock, so this runs in `npm run stress` only;
 * `retention.test.ts` kills between two batches.
 */

import { join } from "node:path";
import { expect, test } from "vitest";
import { open, type SessionHandle, textOf } from "../src/index.ts";
import { Child } from "./support/child.ts";
import { createFolder } from "./support/folder.ts";
import { createDatabase } from "./support/postgres.ts";
import { SEED, seeded } from "./support/random.ts";
import type { RetentionTask } from "./support/retention-writer.ts";

const MESSAGES = 1_000;
/** Entries per batch; the process announces each batch. */
const BATCHES = 5;
const CONTENT = "a secret";
/** About as long as a batch takes. */
const LONGEST_WAIT_MS = 12;

const BACKENDS: readonly [string, () => Promise<string>, number][] = [
  ["SQLite", async () => join(createFolder(), "killed.db"), 100],
  ["PostgreSQL", createDatabase, 40],
];

test.each(BACKENDS)(
  "on %s, an erasure that was killed leaves whole or erased messages, and a sweep completes it",
  async (_, newAddress, kills) => {
    const random = seeded(SEED);
    const address = await newAddress();
    await using engine = await open(address, { inThread: true, indexing: { flushAt: 0 } });
    let partial = 0;
    for (let round = 0; round < kills; round++) {
      const retention = round % 2 === 0 ? "audit-only" : "ephemeral";
      const session = await engine.createSession({ agent: "a", createdBy: "b", retention });
      await session.append(
        Array.from({ length: MESSAGES }, () => ({ role: "user" as const, content: CONTENT })),
      );
      const child = new Child("./retention-writer.ts");
      child.tell({ address, sessionId: session.id, batches: null } satisfies RetentionTask);
      await child.until(1 + Math.floor(random() * BATCHES));
      await new Promise((resolve) => setTimeout(resolve, random() * LONGEST_WAIT_MS));
      await child.kill();
      expect(child.errors).toBe("");

      const erased = await countErased(session);
      if (erased > 0 && erased < MESSAGES - 1) partial++;
      // All but the newest message, which the compaction kept.
      expect(await engine.sweep()).toMatchObject({ erasedEntries: MESSAGES - 1 - erased });
      expect(await countErased(session)).toBe(MESSAGES - 1);
    }
    expect(await engine.verify()).toMatchObject({ ok: true, problems: [] });
    // Some kills precede the end of the first batch, some follow the last one.
    expect(partial).toBeGreaterThan(kills / 4);
  },
);

/** The number of erased messages; the others must be unchanged. */
async function countErased(session: SessionHandle): Promise<number> {
  let erased = 0;
  for (let offset = 0; offset < MESSAGES; offset += 500) {
    const { messages } = await session.listMessages({ offset, limit: 500 });
    expect(messages).toHaveLength(500);
    for (const message of messages) {
      if (message.erased) erased++;
      expect(textOf(message.blocks)).toBe(message.erased ? "" : CONTENT);
    }
  }
  return erased;
}
