/** A process that tries to open, read and write a store, and says what came of each. */

import { BackscrollError, type OpenOptions, open } from "../../src/index.ts";
import { receiveTask, say } from "./child-task.ts";

export interface ProbeTask {
  readonly address: string;
  readonly options: OpenOptions;
}

/** "ok", or the code of the error. */
export interface Probe {
  readonly open: string;
  readonly read?: string;
  readonly write?: string;
}

const { address, options } = await receiveTask<ProbeTask>();
try {
  await using engine = await open(address, options);
  const read = await outcome(() => engine.listMessages("s"));
  const write = await outcome(async () => {
    const session = await engine.getSession("s");
    await session.append({ role: "user", content: "probe" });
  });
  say({ open: "ok", read, write } satisfies Probe);
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
