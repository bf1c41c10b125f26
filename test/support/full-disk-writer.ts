/** A process that appends until the disk is full, and reports which calls still work. */

import { BackscrollError, open } from "../../src/index.ts";
import { receiveTask, say } from "./child-task.ts";

export interface FullDiskTask {
  readonly address: string;
  readonly inThread: boolean;
}

export type FullDiskLine =
  | { readonly appended: string }
  | { readonly refused: string }
  | { readonly readable: number; readonly problems: number; readonly again: string };

const { address, inThread } = await receiveTask<FullDiskTask>();
const engine = await open(address, { inThread });
const session = await engine.createSession({ id: "full", agent: "test", createdBy: "test" });

async function append(n: number): Promise<string | undefined> {
  try {
    const content = `${n} ${Math.random().toString(36).repeat(100)}`;
    const entry = await session.append({ role: "user", content });
    say({ appended: entry.id } satisfies FullDiskLine);
    return undefined;
  } catch (error) {
    return BackscrollError.is(error) ? error.code : `no code: ${error}`;
  }
}

let refused: string | undefined;
for (let n = 0; refused === undefined && n < 20_000; n++) refused = await append(n);
say({ refused: String(refused) } satisfies FullDiskLine);
const { total } = await session.listMessages({ limit: 1 });
const { problems } = await engine.verify();
const again = await append(-1);
say({
  readable: total,
  problems: problems.length,
  again: again ?? "appended",
} satisfies FullDiskLine);
await engine.close();
