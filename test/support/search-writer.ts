/** A process that appends short messages to its own sessions, with index maintenance. */

import { open } from "../../src/index.ts";
import { receiveTask, say } from "./child-task.ts";
import { randomText } from "./random-text.ts";

export interface SearchWork {
  readonly address: string;
  readonly seed: number;
  readonly sessions: number;
  /** Messages of each session. */
  readonly messages: number;
}

const work = await receiveTask<SearchWork>();
await using engine = await open(work.address, {
  durability: "process",
  indexing: { flushAt: 64 },
});
const text = randomText(work.seed);
for (let i = 0; i < work.sessions; i++) {
  const session = await engine.createSession({
    agent: i % 2 === 0 ? "even" : "odd",
    createdBy: "writer",
    title: text(2),
  });
  for (let j = 0; j < work.messages; j++) {
    await session.append({
      role: j % 2 === 0 ? "user" : "assistant",
      actor: "x",
      content: text(12),
    });
  }
}
say({ done: true });
