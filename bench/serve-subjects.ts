/** The servers under load: ours as users start it, and a trivial one. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Figures, inFreshProcess } from "./measure.ts";
import type { FillTask } from "./serve-scenarios.ts";

export interface Subject {
  readonly url: string;
  readonly pid: number;
  rssMb(): number;
  stop(): Promise<void>;
}

/** Fills the store that a server is measured on, in a process of its own. */
export function fillForServer(task: FillTask): Promise<Figures> {
  const scenarios = new URL("./serve-scenarios.ts", import.meta.url);
  return inFreshProcess(scenarios, "fillStore", task);
}

export function startServer(address: string): Promise<Subject> {
  const bin = fileURLToPath(new URL("../bin/backscroll.js", import.meta.url));
  return start([bin, "serve", "--db", address, "--port", "0", "--json", "--log", "none"]);
}

const ECHO = `
  const server = require("node:http").createServer((request, response) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      response.writeHead(201, { "content-type": "application/json" });
      response.end(Buffer.concat(parts));
    });
  });
  server.listen(0, "127.0.0.1", () => {
    console.log(JSON.stringify({ url: "http://127.0.0.1:" + server.address().port }));
  });
  process.on("SIGTERM", () => process.exit(0));
`;

export function startEcho(): Promise<Subject> {
  return start(["-e", ECHO]);
}

async function start(args: readonly string[]): Promise<Subject> {
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, BACKSCROLL_BUILT: "1" },
  });
  const ended = once(child, "exit");
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  const { url } = JSON.parse(line) as { url: string };
  const { pid = 0 } = child;
  return {
    url,
    pid,
    rssMb: () => rssOf(pid),
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** The resident memory that the system reports; NaN if unknown. */
export function rssOf(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1]) / 1_024;
  } catch {
    return Number.NaN;
  }
}
