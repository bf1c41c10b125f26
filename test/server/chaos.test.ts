import { type ChildProcess, spawn } from "node:child_process";
import { on, once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { open } from "../../src/index.ts";
import type { StartedPostgres } from "../support/postgres-process.ts";
import { SEED, seeded } from "../support/random.ts";
import { repeats } from "../support/repeats.ts";
import { Events } from "./events.ts";
import { type ServerNode, startNode } from "./node.ts";

/** Three servers on one PostgreSQL under load, while one is killed and the database restarts. */

let database: ChildProcess;
let lines: AsyncIterator<unknown>;
let address: string;

beforeAll(async () => {
  const script = join(import.meta.dirname, "../support/postgres-process.ts");
  database = spawn(process.execPath, [script], { stdio: ["pipe", "pipe", "inherit"] });
  if (database.stdout === null) throw new Error("no output");
  lines = on(createInterface(database.stdout), "line");
  ({ address } = JSON.parse(await nextLine()) as StartedPostgres);
});
afterAll(async () => {
  const ended = once(database, "exit");
  database.stdin?.end();
  await ended;
});

async function nextLine(): Promise<string> {
  const { value } = (await lines.next()) as { value: [string] };
  return value[0];
}

async function restartDatabase(): Promise<void> {
  database.stdin?.write("restart\n");
  expect(await nextLine()).toBe("restarted");
}

const WRITERS = 6;

const random = seeded(SEED);

test("no acknowledged write is lost, and subscribers see no gap and no repeat", async () => {
  await (await open(address)).close();
  const alive = await Promise.all(
    Array.from({ length: 3 }, () => startNode(["--db", address, "--log", "none"])),
  );
  const nodes = [...alive];
  onTestFinished(() => {
    for (const { child } of nodes) child.kill("SIGKILL");
  });
  const load = new Load(() => alive);
  const writing = Array.from({ length: WRITERS }, (_, i) => load.write(i));
  const following = [load.follow(), load.follow()];

  await load.untilAcknowledged(repeats(20, 60));
  const victim = alive.shift() as ServerNode;
  expect(await victim.stop("SIGKILL")).toBe("SIGKILL");
  await load.untilAcknowledged(repeats(40, 120));
  await restartDatabase();
  await load.untilAcknowledged(repeats(60, 240));

  load.stopWriting();
  await Promise.all(writing);
  await using memory = await open(address);
  const seen = await Promise.all(following.map((stop) => stop.then((end) => end(memory))));
  const head = (await memory.tenantStatus())?.feedPosition ?? 0;
  for (const positions of seen) {
    expect(positions).toEqual(Array.from({ length: head }, (_, i) => i + 1));
  }
  for (let i = 0; i < WRITERS; i++) {
    const { messages } = await memory.listMessages(`writer-${i}`, { limit: 500 });
    const stored = messages.map(({ blocks }) => (blocks[0] as { text: string }).text);
    // Exactly once, in order; the last one may be stored and unacknowledged.
    const expected = load.acknowledged.get(i) ?? [];
    expect(stored.slice(0, expected.length)).toEqual(expected);
    expect(stored.length - expected.length).toBeLessThanOrEqual(1);
  }
  for (const node of alive) expect(await node.stop()).toBe(0);
});

class Load {
  readonly acknowledged: Map<number, string[]> = new Map();
  readonly #alive: () => readonly ServerNode[];
  #stopped = false;
  #total = 0;

  constructor(alive: () => readonly ServerNode[]) {
    this.#alive = alive;
  }

  stopWriting(): void {
    this.#stopped = true;
  }

  async untilAcknowledged(count: number): Promise<void> {
    const start = this.#total;
    while (this.#total - start < count) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** In order, each retried under its key until acknowledged. */
  async write(writer: number): Promise<void> {
    const own: string[] = [];
    this.acknowledged.set(writer, own);
    await this.#send("/v1/sessions", `create-${writer}`, {
      id: `writer-${writer}`,
      agent: "coder",
      created_by: "ana",
    });
    for (let i = 0; !this.#stopped; i++) {
      const content = `${writer}: ${i}`;
      const messages = [{ role: "user", content }];
      const path = `/v1/sessions/writer-${writer}/messages`;
      await this.#send(path, `append-${writer}-${i}`, { messages });
      own.push(content);
      this.#total++;
    }
  }

  /** Gives the positions of all changes, in the order of arrival. */
  async follow(): Promise<(memory: Awaited<ReturnType<typeof open>>) => Promise<number[]>> {
    const positions: number[] = [];
    let last: string | undefined;
    let isEnd = false;
    const run = (async () => {
      while (!isEnd) {
        try {
          const events = await Events.open(
            `${this.#pick()}/v1/changes?after=start`,
            last === undefined ? {} : { "last-event-id": last },
          );
          try {
            for (;;) {
              if (isEnd) break;
              const [event] = await events.take(1, 500);
              if (event === undefined) continue;
              if (event.event === "problem") break;
              last = event.id;
              positions.push(Number(event.data["position"]));
            }
          } finally {
            await events.close();
          }
        } catch {
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }
    })();
    return async (memory) => {
      const head = (await memory.tenantStatus())?.feedPosition ?? 0;
      await expect.poll(() => positions.length).toBeGreaterThanOrEqual(head);
      isEnd = true;
      await run;
      return positions;
    };
  }

  #pick(): string {
    const alive = this.#alive();
    return (alive[Math.floor(random() * alive.length)] as ServerNode).url;
  }

  async #send(path: string, key: string, body: object): Promise<void> {
    for (;;) {
      try {
        const answer = await fetch(this.#pick() + path, {
          method: "POST",
          headers: { "content-type": "application/json", "idempotency-key": key },
          body: JSON.stringify(body),
        });
        const text = await answer.text();
        if (answer.status === 201) return;
        if (answer.status < 500) throw new TypeError(`${answer.status}: ${text}`);
      } catch (error) {
        if (error instanceof TypeError && /^4\d\d/.test(error.message)) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  }
}
