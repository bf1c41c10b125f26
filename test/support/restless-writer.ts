/** A process that appends without a pause, with index maintenance, until it is killed. */

import { open } from "../../src/index.ts";
import { receiveTask, say } from "./child-task.ts";

export interface RestlessTask {
  readonly address: string;
  readonly name: string;
  readonly flushAt: number;
  readonly leaseMs: number;
  /** Messages per append. */
  readonly messages: number;
}

const { address, name, flushAt, leaseMs, messages } = await receiveTask<RestlessTask>();
const engine = await open(address, {
  durability: "process",
  indexing: { flushAt, leaseMs },
});
const session = await engine.createSession({ agent: "test", createdBy: name });
for (let n = 0; ; n++) {
  await session.append(
    Array.from({ length: messages }, (_, i) => ({
      role: "user" as const,
      actor: name,
      content: `${name} says ${n} ${i}: the cron job runs twice because the lock is gone`,
    })),
  );
  say({ n });
}
