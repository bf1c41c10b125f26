import { expect } from "vitest";
import { kill, type Machine, message } from "./hub-machine.ts";

/** Agents write and ask while the process behind them, or one of them, is killed, `times`. */
export async function survivesKills(machine: Machine, times: number): Promise<void> {
  const before = await machine.stored();
  const agents = await Promise.all([1, 2, 3].map(() => machine.start().begin()));
  const acknowledged: string[] = [];
  let isOver = false;
  const work = agents.map(async (agent, i) => {
    for (let n = 0; !isOver; n++) {
      const text = `writer ${i} of ${before.length}, line ${n}`;
      const { result } = await agent.call("append_message", message(text));
      expect(result?.isError ?? false, JSON.stringify(result)).toBe(false);
      acknowledged.push(text);
    }
  });
  let kills = 0;
  for (let n = 0; kills < times; n++) {
    const last = acknowledged.length;
    // At any moment of a call, with no two kills alike.
    await new Promise((resolve) => setTimeout(resolve, (n * 7) % 40));
    for (const pid of await machine.servers()) {
      kill(pid);
      kills++;
    }
    await expect.poll(() => acknowledged.length, { timeout: 30_000 }).toBeGreaterThan(last + 3);
  }
  isOver = true;
  await Promise.all(work);
  for (const agent of agents) {
    const ids = agent.answers.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  }
  await Promise.all(agents.map((agent) => agent.end()));
  expect((await machine.stored()).sort()).toEqual([...before, ...acknowledged].sort());
}
