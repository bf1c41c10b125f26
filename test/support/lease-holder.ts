/** A process that reports when it acquires a lease, and holds it until it is killed. */

import { open } from "../../src/index.ts";
import { receiveTask, say } from "./child-task.ts";

export interface LeaseTask {
  readonly address: string;
  readonly name: string;
  readonly durationMs: number;
}

const { address, name, durationMs } = await receiveTask<LeaseTask>();
const engine = await open(address);
await engine.holdLease(name, { durationMs }, async () => {
  say({ held: true });
  await new Promise(() => setInterval(() => undefined, 1_000));
});
