/** A process that compacts a session whose content is to be forgotten, until it is killed. */

import { open } from "../../src/index.ts";
import { receiveTask } from "./child-task.ts";

export interface RetentionTask {
  readonly address: string;
  readonly sessionId: string;
}

const { address, sessionId } = await receiveTask<RetentionTask>();
const engine = await open(address, { inThread: true, indexing: { flushAt: 0 } });
const session = await engine.getSession(sessionId);
await session.compact({ keep: { messages: 1 } });
await engine.close();
