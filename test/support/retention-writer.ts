/**
 * A process that compacts a session with an erasing retention, until it is killed.
 *
 * It erases a given number of batches, reports it, and waits to be killed; or it erases all, and
 * announces each batch.
 */

import { openStore } from "../../src/open.ts";
import type { Store } from "../../src/store/store.ts";
import { engineOn } from "../../src/store-kit/index.ts";
import { receiveTask, say } from "./child-task.ts";

export interface RetentionTask {
  readonly address: string;
  readonly sessionId: string;
  /** Batches of `eraseContent` before it waits; null: it never waits. */
  readonly batches: number | null;
}

const { address, sessionId, batches } = await receiveTask<RetentionTask>();
const store = await openStore(address, { inThread: true, indexing: { flushAt: 0 } });
let erased = 0;
const eraseContent: Store["eraseContent"] = async (...args) => {
  if (batches === null || erased === batches) say({ erased });
  if (erased === batches) await new Promise(() => setInterval(() => undefined, 1_000));
  erased++;
  return store.eraseContent(...args);
};
const stopping = new Proxy(store, {
  get: (target, name) => {
    if (name === "eraseContent") return eraseContent;
    const value: unknown = Reflect.get(target, name, target);
    return typeof value === "function" ? value.bind(target) : value;
  },
});
const session = await engineOn(stopping).getSession(sessionId);
await session.compact({ keep: { messages: 1 } });
