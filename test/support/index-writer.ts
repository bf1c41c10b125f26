/** A process that appends, deletes and maintains the index in turn, until it is killed. */

import { Engine } from "../../src/engine/engine.ts";
import { openStore } from "../../src/open.ts";
import { receiveTask, say } from "./child-task.ts";
import type { IndexTask } from "./index-task.ts";

await workForever(await receiveTask<IndexTask>());

async function workForever(task: IndexTask): Promise<void> {
  const { address, inThread, module, name, leaseMs } = task;
  const indexing = { module, flushAt: 0, leaseMs };
  const store = await openStore(address, { inThread, durability: "process", indexing });
  const engine = new Engine(store);
  for (let n = 0; ; n++) {
    const id = `${name}-${n}`;
    const session = await engine.createSession({ id, agent: "test", createdBy: "test" });
    await session.append([
      { role: "user", content: `one ${n}` },
      { role: "assistant", content: `two ${n}` },
    ]);
    if (n % 4 === 3) await engine.deleteSession(`${name}-${n - 3}`);
    const maintenance = n % 3 === 2 ? "merge" : n % 7 === 6 ? "maintain" : "flush";
    const { busy } = await store.maintain("default", maintenance);
    say({ n, busy });
  }
}
