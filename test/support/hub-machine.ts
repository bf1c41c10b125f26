/** Agents of one store, as clients start them, and the processes behind them. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll } from "vitest";
import { PIPE_VARIABLE } from "../../src/cli/pipe/place.ts";
import { open } from "../../src/index.ts";
import { environmentOf, ROOT } from "./cli.ts";
import { createFolder } from "./folder.ts";

const PROGRAM = `${ROOT}/bin/backscroll.js`;

/** A store with one session, and the agents of a home of its own. */
export class Machine {
  readonly db: string;
  readonly env: NodeJS.ProcessEnv;
  readonly #started: ChildProcess[] = [];

  private constructor(folder: string) {
    this.db = join(folder, "x.db");
    this.env = environmentOf({ HOME: folder, USERPROFILE: folder, BACKSCROLL_DB: this.db });
  }

  static async create(): Promise<Machine> {
    const machine = new Machine(await createFolder(afterAll));
    const engine = await open(machine.db);
    await engine.createSession({ id: SESSION, agent: "test", createdBy: "test" });
    await engine.close();
    return machine;
  }

  /** Before the handshake. */
  start(...args: string[]): Agent {
    const child = spawn(process.execPath, [PROGRAM, "mcp", "--final-read", "1", ...args], {
      env: this.env,
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.#started.push(child);
    return new Agent(child);
  }

  /** The processes behind the agents, by the system's list. */
  hubs(): Promise<number[]> {
    return hubsOf(this.db);
  }

  /** Hubs, and what a pipe starts in the place of one that takes too long. */
  servers(): Promise<number[]> {
    return processesOf(this.db, (args, variables) => {
      return args.includes(`${PROGRAM} hub`) || variables.includes(`${PIPE_VARIABLE}=`);
    });
  }

  /** The texts of the session, in order, read from the store itself. */
  async stored(): Promise<string[]> {
    const engine = await open(this.db, { readOnly: true });
    try {
      const session = await engine.getSession(SESSION);
      const texts: string[] = [];
      let after: string | undefined;
      do {
        const page = await session.listEntries(after === undefined ? {} : { after });
        texts.push(...page.entries.map((entry) => JSON.stringify(entry)));
        after = page.next;
      } while (after !== undefined);
      return texts.flatMap((text) => /"text":"([^"]*)"/.exec(text)?.[1] ?? []);
    } finally {
      await engine.close();
    }
  }

  async end(): Promise<void> {
    for (const child of this.#started) child.kill("SIGKILL");
    for (const pid of await this.hubs()) kill(pid);
  }
}

/** A process that has just ended is as good as killed. */
export function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

export const SESSION = "01JABCDEFGHJKMNPQRSTVWXYZ0";

export interface Answer {
  readonly id: number;
  readonly result?: {
    readonly content?: readonly { readonly text: string }[];
    readonly isError?: boolean;
  };
  readonly error?: unknown;
}

/** An agent with a server of its own: lines of JSON-RPC, and nothing else. */
export class Agent {
  readonly process: ChildProcess;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #next = 0;
  /** Every answer, also to a request that had one. */
  readonly answers: Answer[] = [];

  constructor(child: ChildProcess) {
    this.process = child;
    let rest = "";
    this.process.stdout?.on("data", (chunk) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const answer = JSON.parse(line) as Answer;
        this.answers.push(answer);
        this.#waiting.get(answer.id)?.(answer);
      }
    });
  }

  ask(method: string, params: object): Promise<Answer> {
    const id = this.#next++;
    const { promise, resolve } = Promise.withResolvers<Answer>();
    this.#waiting.set(id, resolve);
    this.tell({ id, method, params });
    return promise;
  }

  tell(message: object): void {
    this.process.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  async begin(): Promise<this> {
    const clientInfo = { name: "test", version: "1" };
    await this.ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    this.tell({ method: "notifications/initialized" });
    return this;
  }

  call(name: string, args: object): Promise<Answer> {
    return this.ask("tools/call", { name, arguments: args });
  }

  async end(): Promise<void> {
    this.process.stdin?.end();
    if (this.process.exitCode === null) await once(this.process, "exit");
  }
}

/** Arguments of `append_message`. */
export const message = (text: string): object => ({
  session_id: SESSION,
  role: "user",
  content: text,
});

/** The hubs of a store, by the list of processes. */
export function hubsOf(db: string): Promise<number[]> {
  return processesOf(db, (args) => args.includes(`${PROGRAM} hub`));
}

async function processesOf(
  db: string,
  isWanted: (args: string, variables: string) => boolean,
): Promise<number[]> {
  const ps = spawn("ps", ["-eo", "pid=,args="]);
  let text = "";
  ps.stdout.on("data", (chunk) => {
    text += chunk;
  });
  await once(ps, "close");
  const found: number[] = [];
  for (const line of text.split("\n")) {
    const [, pid, args] = /^\s*(\d+)\s(.*)$/.exec(line) ?? [];
    if (pid === undefined || !args?.includes(PROGRAM)) continue;
    const variables = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
    if (variables.includes(db) && isWanted(args, variables)) found.push(Number(pid));
  }
  return found;
}
