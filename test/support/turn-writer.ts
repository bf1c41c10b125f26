/** A process that writes turns under external ids to the session of a key. */

import { type EntryInput, open } from "../../src/index.ts";
import { receiveTask, say } from "./child-task.ts";

export interface TurnTask {
  readonly address: string;
  readonly key: string;
  /** The key of a session that only this process writes to. */
  readonly ownKey: string;
  readonly turns: number;
}

/** The entries of a turn: ids shared by all processes, content with the process's name. */
export function entriesOf(turn: number, writer: string): EntryInput[] {
  const id = (part: string) => ({ externalId: `turn ${turn}/${part}` });
  return [
    { role: "user", content: `question ${turn} by ${writer}`, ...id("question") },
    { kind: "custom", type: "state", data: { turn }, ...id("state") },
    { role: "assistant", content: `draft ${turn}`, raw: { turn, writer }, ...id("draft") },
  ];
}

const { address, key, ownKey, turns } = await receiveTask<TurnTask>();
const writer = `${process.pid}`;
await using engine = await open(address, { inThread: true });
const session = await engine.ensureSession({ key, agent: "race", createdBy: writer });
const own = await engine.ensureSession({ key: ownKey, agent: "race", createdBy: writer });
say({ session: session.id });
for (let turn = 0; turn < turns; turn++) {
  const stored = await session.appendEntries(entriesOf(turn, writer));
  say({ turn, ids: stored.map(({ id }) => id) });
  const [, , draft] = await own.appendEntries(entriesOf(turn, "own"));
  await own.replaceSuffix({
    expected: [draft?.id ?? ""],
    replacement: [{ role: "assistant", content: `answer ${turn}` }],
    key: `operation ${turn}`,
  });
}
