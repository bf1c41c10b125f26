/** A process that runs turns of a shared session, and prints the outcome of each. */

import { autoCompaction, type GatewayEvent, piPolicy } from "../../src/gateway/index.ts";
import { open } from "../../src/index.ts";
import { compatibleModel } from "../../src/models.ts";
import { receiveTask, say } from "./child-task.ts";

export interface FlushTask {
  readonly address: string;
  readonly sessionId: string;
  readonly modelUrl: string;
  readonly name: string;
  /** Reported tokens of each turn: flushed from 16,000 on, compacted above 20,000. */
  readonly used: readonly number[];
  readonly leaseMs: number;
}

export interface TurnReport {
  readonly events: readonly GatewayEvent[];
}

const task = await receiveTask<FlushTask>();
// Threads of SQLite take longer to start than the turns take.
const inThread = !task.address.startsWith("postgres");
await using memory = await open(task.address, { durability: "process", inThread });
const session = await memory.getSession(task.sessionId);
const model = compatibleModel({ baseUrl: task.modelUrl, model: "noter" });
const housekeeping = autoCompaction({
  policy: piPolicy({ cooldownMessages: 0, minGainTokens: 0 }),
  contextWindow: 40_000,
  flush: { model, leaseMs: task.leaseMs },
});
const filler = "word ".repeat(600);
for (const [i, inputTokens] of task.used.entries()) {
  await session.append([
    { role: "user", actor: task.name, content: `question ${i} ${filler}` },
    {
      role: "assistant",
      actor: "coder",
      content: `answer ${i} ${filler}`,
      model: "m",
      usage: { inputTokens, outputTokens: 1 },
    },
  ]);
  const { events } = await housekeeping.afterTurn(session);
  say({ events } satisfies TurnReport);
}
