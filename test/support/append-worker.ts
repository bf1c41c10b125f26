/** A process that appends messages to each of its sessions, some of them concurrently. */

import { open } from "../../src/index.ts";
import { receiveTask, say } from "./child-task.ts";

export interface AppendWork {
  readonly address: string;
  readonly name: string;
  readonly sessions: readonly string[];
  /** Appends to each session. */
  readonly count: number;
  /** Concurrent appends. */
  readonly atOnce: number;
}

const work = await receiveTask<AppendWork>();
await using engine = await open(work.address, { durability: "process" });
const sessions = await Promise.all(work.sessions.map((id) => engine.getSession(id)));
let sent = 0;
await Promise.all(Array.from({ length: work.atOnce }, (_, lane) => appendInTurn(lane)));
say({ appended: sent });

/** Awaits each append, so that the appends of one lane are ordered. */
async function appendInTurn(lane: number): Promise<void> {
  while (sent < work.count * sessions.length) {
    const n = sent++;
    const session = sessions[n % sessions.length];
    await session?.append({ role: "user", actor: work.name, content: `${work.name} ${lane} ${n}` });
  }
}
