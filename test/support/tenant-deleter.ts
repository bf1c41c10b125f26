/** A process that deletes a tenant and kills itself after some transactions. */

import { open } from "../../src/index.ts";
import { receiveTask } from "./child-task.ts";

const { address, tenant, transactions } = await receiveTask<{
  readonly address: string;
  readonly tenant: string;
  readonly transactions: number;
}>();
const engine = await open(address, { inThread: true });
let done = 0;
await engine.deleteTenant(tenant, {
  onProgress() {
    if (++done === transactions) process.kill(process.pid, "SIGKILL");
  },
});
