/**
 * A hostile neighbour: one tenant with a read token sends the worst bodies it can, without a pause, while
 * another appends and searches as on a quiet server.
 */

import { Agent, request } from "node:http";
import { gzipSync } from "node:zlib";
import { open } from "./library.ts";
import type { Figures } from "./measure.ts";

export interface AttackTask {
  readonly url: string;
  readonly token: string;
  readonly connections: number;
  readonly seconds: number;
}

interface Shot {
  readonly path: string;
  readonly body: Buffer;
}

/** A token that may write for the tenant of the load, and one that may read for another tenant. */
export async function makeTokens(
  address: string,
): Promise<{ readonly own: string; readonly hostile: string }> {
  const engine = await open(address);
  try {
    const own = await engine.createToken({ scope: "write", actor: "person", actAs: "any" });
    const hostile = await engine.forTenant("hostile").createToken({ scope: "read" });
    return { own: own.token, hostile: hostile.token };
  } finally {
    await engine.close();
  }
}

/** Sends the next as soon as one is answered, on each connection. */
export async function attack(task: AttackTask): Promise<Figures> {
  const { url, token, connections, seconds } = task;
  const shots = worstBodies();
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const until = performance.now() + seconds * 1_000;
  const answers: Record<string, number> = {};
  const shoot = async (first: number) => {
    for (let i = first; performance.now() < until; i++) {
      const shot = shots[i % shots.length] as Shot;
      const status = await send(agent, url, token, shot);
      answers[status] = (answers[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, (_, i) => shoot(i)));
  agent.destroy();
  return Object.fromEntries(
    Object.entries(answers).map(([status, count]) => [`answers${status}`, count]),
  );
}

/** A few kilobytes each, which unpack to as much as 60 MB. */
function worstBodies(): readonly Shot[] {
  const many = (begin: string, piece: string, times: number, end = "") =>
    gzipSync(begin + piece.repeat(times) + end, { level: 9 });
  const objects = many('{"query":"x","agent":[', "{},", 20e6, "{}]}");
  const message = '{"messages":[{"role":"user","content":"x","metadata":{"a":[';
  return [
    { path: "/v1/search", body: objects },
    { path: "/v1/search", body: many('{"query":', "[", 20e6) },
    { path: "/v1/search", body: many('{"query":"', "a", 20e6, '"}') },
    // As much as is let through.
    { path: "/v1/search", body: many('{"query":"x","agent":[', '"name",', 999, '"a"]}') },
    { path: "/v1/search", body: many('{"query":"x","agent":[', '"name",', 19_900, '"a"]}') },
    { path: "/v1/search", body: many('{"query":"x","agent":["', "\\n", 500_000, '"]}') },
    { path: "/v1/sessions/session-1/messages", body: many(message, "{},", 20e6, "{}]}}]}") },
    { path: "/v1/import", body: many('{"type":"user","a":[', "{},", 20e6, "{}]}\n") },
    { path: "/mcp", body: many('{"jsonrpc":"2.0","id":1,"params":[', "{},", 20e6, "{}]}") },
  ];
}

/** What was answered; 0 if the connection was cut off. */
function send(agent: Agent, url: string, token: string, { path, body }: Shot): Promise<number> {
  return new Promise((resolve) => {
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "content-encoding": "gzip",
      "content-length": body.length,
      accept: "application/json, text/event-stream",
    };
    const sent = request(url + path, { agent, method: "POST", headers }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
      response.on("error", () => resolve(0));
    });
    sent.on("error", () => resolve(0));
    sent.end(body);
  });
}
