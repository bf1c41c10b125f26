/** A process that tries to open, read and write a store, and prints each outcome. */

import { BackscrollError, type OpenOptions, open } from "../../src/index.ts";
import { receiveTask, say } from "./child-task.ts";

export interface ProbeTask {
  readonly address: string;
  /** Default: `s`. */
  readonly session?: string;
  readonly options: OpenOptions;
}

/** "ok", or the code of the error. */
export interface Probe {
  readonly open: string;
  readonly read?: string;
  readonly write?: string;
  /** Messages of the session, and reported losses. */
  readonly messages?: number;
  readonly losses?: number;
}

const { address, session: id = "s", options } = await receiveTask<ProbeTask>();
let losses = 0;
try {
  await using engine = await open(address, { ...options, onLoss: () => void losses++ });
  let messages = 0;
  const read = await outcome(async () => {
    messages = (await engine.listMessages(id)).total;
  });
  const write = await outcome(async () => {
    const session = await engine.getSession(id);
    await session.append({ role: "user", content: "probe" });
  });
  say({ open: "ok", read, write, messages, losses } satisfies Probe);
} catch (error) {
  say({ open: codeOf(error) } satisfies Probe);
}

async function outcome(action: () => Promise<unknown>): Promise<string> {
  try {
    await action();
    return "ok";
  } catch (error) {
    return codeOf(error);
  }
}

function codeOf(error: unknown): string {
  return BackscrollError.is(error) ? error.code : `no code: ${error}`;
}
