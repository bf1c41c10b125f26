/**
 * A hostile neighbour: one tenant with a read token sends the most expensive bodies without a
 * pause, while another appends and searches.
 */

import { Agent, request } from "node:http";
import { gzipSync } from "node:zlib";
import { open } from "./library.ts";
import type { Figures } from "./measure.ts";

export interface AttackTask {
  readonly url: string;
  readonly tokens: HostileTokens;
  /** The scope of the attacker: with `importer` the bodies include imports. */
  readonly by: "reader" | "importer";
  readonly connections: number;
  readonly seconds: number;
}

/** Of a tenant that reads only, and of one that imports. */
export interface HostileTokens {
  readonly read: string;
  readonly import: string;
}

interface Shot {
  readonly path: string;
  /** The read token if left out. */
  readonly token?: keyof HostileTokens;
  readonly body: Buffer;
}

/** A token that may write for the tenant of the load, and those of the hostile tenants. */
export async function makeTokens(
  address: string,
): Promise<{ readonly own: string; readonly hostile: HostileTokens }> {
  const engine = await open(address);
  try {
    const own = await engine.createToken({ scope: "write", actor: "person", actAs: "any" });
    const hostile = await engine.forTenant("hostile").createToken({ scope: "read" });
    const importer = await engine
      .forTenant("importer")
      .createToken({ scope: "write", actor: "person", actAs: "any" });
    return { own: own.token, hostile: { read: hostile.token, import: importer.token } };
  } finally {
    await engine.close();
  }
}

/** Tokens that may write, each for a tenant of its own. */
export async function makeTenantTokens(
  address: string,
  tenants: readonly string[],
): Promise<string[]> {
  const engine = await open(address);
  try {
    const tokens: string[] = [];
    for (const tenant of tenants) {
      const input = { scope: "write", actor: "person", actAs: "any" } as const;
      tokens.push((await engine.forTenant(tenant).createToken(input)).token);
    }
    return tokens;
  } finally {
    await engine.close();
  }
}

/** Sends the next as soon as one is answered, on each connection. */
export async function attack(task: AttackTask): Promise<Figures> {
  const { url, tokens, by, connections, seconds } = task;
  const shots = by === "reader" ? worstBodies() : [...worstBodies(), ...imports()];
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const until = performance.now() + seconds * 1_000;
  const answers: Record<string, number> = {};
  const shoot = async (first: number) => {
    for (let i = first; performance.now() < until; i++) {
      const shot = shots[i % shots.length] as Shot;
      const status = await send(agent, url, tokens[shot.token ?? "read"], shot);
      answers[status] = (answers[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, (_, i) => shoot(i)));
  agent.destroy();
  return Object.fromEntries(
    Object.entries(answers).map(([status, count]) => [`answers${status}`, count]),
  );
}

/** A few kilobytes each, which expand to up to 60 MB. */
function worstBodies(): readonly Shot[] {
  const many = (begin: string, piece: string, times: number, end = "") =>
    gzipSync(begin + piece.repeat(times) + end, { level: 9 });
  const objects = many('{"query":"x","agent":[', "{},", 20e6, "{}]}");
  const message = '{"messages":[{"role":"user","content":"x","metadata":{"a":[';
  return [
    { path: "/v1/search", body: objects },
    { path: "/v1/search", body: many('{"query":', "[", 20e6) },
    { path: "/v1/search", body: many('{"query":"', "a", 20e6, '"}') },
    // Just below the limits.
    { path: "/v1/search", body: many('{"query":"x","agent":[', '"name",', 999, '"a"]}') },
    { path: "/v1/search", body: many('{"query":"x","agent":[', '"name",', 19_900, '"a"]}') },
    { path: "/v1/search", body: many('{"query":"x","agent":["', "\\n", 500_000, '"]}') },
    { path: "/v1/sessions/session-1/messages", body: many(message, "{},", 20e6, "{}]}}]}") },
    { path: "/v1/import", body: many('{"type":"user","a":[', "{},", 20e6, "{}]}\n") },
    { path: "/mcp", body: many('{"jsonrpc":"2.0","id":1,"params":[', "{},", 20e6, "{}]}") },
  ];
}

/** Transcripts whose lines have more values than allowed, and as many as allowed. */
function imports(): readonly Shot[] {
  const path = "/v1/import?source=claude-code&path=x.jsonl&dry_run=true";
  const lines = (extra: string) =>
    Array.from({ length: 30 }, (_, i) => {
      const message = { role: "user", content: `hello ${i}` };
      const line = { type: "user", uuid: `u${i}`, sessionId: "s", message };
      return `${JSON.stringify(line).slice(0, -1)},"extra":[${extra}]}\n`;
    }).join("");
  const names = Array.from({ length: 33_000 }, (_, i) => `{"k${i}":0}`).join(",");
  return [
    { path, token: "import", body: gzipSync(lines(`${"{},".repeat(240_000)}0`), { level: 9 }) },
    { path, token: "import", body: gzipSync(lines(names), { level: 9 }) },
  ];
}

/** The status of the answer; 0 if the connection was cut off. */
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
