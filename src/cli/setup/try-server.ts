/** Starts an MCP server as a client does, and lists its tools. */

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { Environment } from "../../ingest/source.ts";
import type { ServerCommand } from "./agents.ts";

export interface TriedServer {
  readonly ok: boolean;
  readonly tools: number;
  /** From the start of the process to the list of its tools. */
  readonly ms: number;
  readonly error?: string;
}

/** `npx` may have to download the package first. */
const PATIENCE_MS = 60_000;
/** The grace period of a server after its input has ended. */
const END_MS = 5_000;
const PROTOCOL = "2025-11-25";
const STDERR_CHARACTERS = 300;

/**
 * The environment that clients pass on at least: the list of the MCP SDKs, and of Codex. A server
 * that needs more works for some clients only.
 */
const INHERITED = [
  "HOME",
  "LOGNAME",
  "PATH",
  "SHELL",
  "TERM",
  "USER",
  "LANG",
  "TMPDIR",
  "TZ",
  "APPDATA",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "PATHEXT",
  "PROCESSOR_ARCHITECTURE",
  "PROGRAMFILES",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "USERNAME",
  "USERPROFILE",
  "COMSPEC",
];

export async function tryServer(
  { command, args, env }: ServerCommand,
  { home, variables }: Environment,
): Promise<TriedServer> {
  const started = performance.now();
  const inherited = INHERITED.flatMap((name) => {
    const value = variables[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  // Started by a client, it leaves a process behind for the final read.
  const isOurs = args.includes("mcp") && !args.includes("--final-read");
  const child = spawn(command, isOurs ? [...args, "--final-read", "0"] : [...args], {
    env: { ...Object.fromEntries(inherited), ...env },
    cwd: home,
    stdio: "pipe",
    windowsHide: true,
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-STDERR_CHARACTERS);
  });
  // An ended server takes no input: its exit is reported.
  child.stdin.on("error", () => undefined);
  const since = () => Math.round(performance.now() - started);
  try {
    const tools = await listTools(child);
    return { ok: true, tools, ms: since() };
  } catch (error) {
    const said = stderr.trim() === "" ? "" : `: ${stderr.trim().replace(/\s+/g, " ")}`;
    return { ok: false, tools: 0, ms: since(), error: `${(error as Error).message}${said}` };
  } finally {
    await end(child);
  }
}

async function listTools(child: ChildProcessWithoutNullStreams): Promise<number> {
  const connection = new Connection(child);
  try {
    await connection.request("initialize", {
      protocolVersion: PROTOCOL,
      capabilities: {},
      clientInfo: { name: "backscroll-setup", version: "1.0.0" },
    });
    connection.notify("notifications/initialized");
    const { tools } = await connection.request("tools/list", {});
    if (!Array.isArray(tools)) throw new Error("the server's answer to tools/list is not a list");
    return tools.length;
  } finally {
    connection.stop();
  }
}

type Reply = Readonly<Record<string, unknown>>;

/** JSON-RPC, one message per line, one request at a time. */
class Connection {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #timer: NodeJS.Timeout;
  #rest = "";
  #id = 0;
  #waiting: { readonly resolve: (reply: Reply) => void; readonly reject: (why: Error) => void } = {
    resolve: () => undefined,
    reject: () => undefined,
  };
  #failure: Error | undefined;

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    this.#timer = setTimeout(
      () => this.#fail(`no answer within ${PATIENCE_MS / 1000} seconds`),
      PATIENCE_MS,
    );
    child.on("error", ({ message }) => this.#fail(`it cannot be started (${message})`));
    child.on("exit", (code, signal) => this.#fail(`it ended with ${code ?? signal}`));
    child.stdout.setEncoding("utf8").on("data", (text: string) => this.#read(text));
  }

  request(method: string, params: Reply): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      if (this.#failure !== undefined) reject(this.#failure);
      else this.#send({ id: ++this.#id, method, params });
    });
  }

  notify(method: string): void {
    this.#send({ method });
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #send(message: Reply): void {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") this.#take(line);
  }

  #take(line: string): void {
    let message: { id?: unknown; result?: Reply; error?: { message?: string } };
    try {
      message = JSON.parse(line);
    } catch {
      this.#fail("its standard output is not MCP");
      return;
    }
    if (message.id !== this.#id) return;
    if (message.result !== undefined) this.#waiting.resolve(message.result);
    else this.#waiting.reject(new Error(`it answered: ${message.error?.message ?? "an error"}`));
  }

  #fail(why: string): void {
    this.#failure ??= new Error(why);
    this.#waiting.reject(this.#failure);
  }
}

/** As clients do: close its input, wait, kill. */
async function end(child: ChildProcessWithoutNullStreams): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.stdin.end();
  const timer = setTimeout(() => child.kill("SIGKILL"), END_MS);
  await ended;
  clearTimeout(timer);
}
