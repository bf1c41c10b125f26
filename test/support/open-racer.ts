/** A process that creates stores, each at a given moment, to race with others. */

import { open } from "../../src/index.ts";
import { receiveTask, say } from "./child-task.ts";

export interface OpenRace {
  readonly name: string;
  /** The same moment for every process: epoch milliseconds. */
  readonly races: readonly { readonly address: string; readonly at: number }[];
}

export interface OpenedStore {
  readonly address: string;
  readonly epoch: string;
}

const { name, races } = await receiveTask<OpenRace>();
for (const { address, at } of races) {
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, at - Date.now())));
  await using engine = await open(address, { inThread: true });
  await engine.createSession({ id: name, agent: "race", createdBy: name });
  const { epoch } = await engine.status();
  say({ address, epoch } satisfies OpenedStore);
}
