/**
 * Denial of service: decompression bombs, slow bodies and abandoned searches of one caller do not block
 * others.
 */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { open } from "../../src/index.ts";
import { mcpHttpHandler } from "../../src/mcp/http.ts";
import type { RunningServer, ServerOptions } from "../../src/server/serve.ts";
import { connectHttp } from "../support/mcp-client.ts";
import { Events } from "./events.ts";
import { startNode } from "./node.ts";
import { type Caller, createWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

async function withServer(
  options: Partial<ServerOptions>,
  use: (server: RunningServer) => Promise<void>,
): Promise<void> {
  const mcp = mcpHttpHandler({
    tenantFor: (name) => world.engine.forTenant(name),
    version: "0.0.0",
  });
  try {
    await world.withServer({ mcp: mcp.fetch, ...options }, use);
  } finally {
    await mcp.close();
  }
}

interface Problem {
  readonly status: number;
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly retryAfter: string | null;
}

async function problemOf(response: Response): Promise<Problem> {
  const { code, details } = (await response.json()) as Pick<Problem, "code" | "details">;
  return {
    status: response.status,
    code,
    details,
    retryAfter: response.headers.get("retry-after"),
  };
}

/** An unterminated JSON body: `prefix`, then `piece` repeated up to `bytes`, compressed in chunks. */
function bomb(prefix: string, piece: string, bytes: number): Uint8Array<ArrayBuffer> {
  const block = Buffer.from(piece.repeat(Math.ceil((1024 * 1024) / piece.length)));
  const times = Math.ceil(bytes / block.length);
  const parts = [Buffer.from(prefix), ...Array.from({ length: times }, () => block)];
  return new Uint8Array(gzipSync(Buffer.concat(parts), { level: 9 }));
}

const BOMB = bomb('{"messages":[{"role":"user","content":"x","metadata":{"a":[', "{},", 60e6);

describe("decompression bombs", () => {
  const send = (url: string, path: string, caller: Caller, body: Uint8Array<ArrayBuffer>) =>
    fetch(url + path, {
      method: "POST",
      headers: { ...world.headersOf(caller), "content-encoding": "gzip" },
      body,
    });

  test("are refused before they are fully decompressed, and the server keeps serving", async () => {
    expect(BOMB.length).toBeLessThan(200_000);
    const append = `/v1/sessions/${world.ids["session"]}/messages`;
    const before = process.memoryUsage().rss;
    for (const [path, caller] of [
      [append, "writer"],
      ["/v1/search", "reader"],
      [`/v1/sessions/${world.ids["session"]}/recall`, "reader"],
    ] as const) {
      const refused = await problemOf(await send(world.url, path, caller, BOMB));
      expect(refused).toMatchObject({ status: 413, code: "too_large" });
      expect(refused.details).toMatchObject({
        field: "body",
        unit: "values",
        limit: caller === "writer" ? 100_000 : 20_000,
      });
      // The limit ended decompression within the first of 60 MB.
      expect(refused.details["actual"]).toBeLessThan(200_000);
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(100e6);
    const answer = await fetch(`${world.url}/v1/search?q=x`, {
      headers: world.headersOf("stranger"),
    });
    expect(answer.status).toBe(200);
  });

  test("of one tenant, sent concurrently, do not delay another tenant's requests", async () => {
    const folder = mkdtempSync(join(tmpdir(), "backscroll-hostile-"));
    const db = join(folder, "store.db");
    const engine = await open(db);
    const { token: hostile } = await engine.forTenant("hostile").createToken({ scope: "read" });
    const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
    await engine.close();
    const node = await startNode(["--db", db, "--log", "none"]);
    try {
      const headers = { authorization: `Bearer ${hostile}`, "content-type": "application/json" };
      let isOver = false;
      const attack = async (): Promise<number[]> => {
        const statuses: number[] = [];
        while (!isOver || statuses.length === 0) {
          const answer = await fetch(`${node.url}/v1/search`, {
            method: "POST",
            headers: { ...headers, "content-encoding": "gzip" },
            body: BOMB,
          });
          await answer.text();
          statuses.push(answer.status);
        }
        return statuses;
      };
      const attacks = Promise.all(Array.from({ length: 8 }, attack));
      for (let i = 0; i < 20; i++) {
        const appended = await fetch(`${node.url}/v1/sessions/${session.id}/messages`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({
            messages: [{ role: "user", actor: "ana", content: `otter ${i}` }],
          }),
        });
        const found = await fetch(`${node.url}/v1/search?q=otter`);
        await found.text();
        expect([appended.status, found.status]).toEqual([201, 200]);
      }
      isOver = true;
      expect([...new Set((await attacks).flat())]).toEqual([413]);
      expect(peakMbOf(node.child.pid)).toBeLessThan(600);
      expect(await node.stop()).toBe(0);
    } finally {
      await node.stop("SIGKILL");
      rmSync(folder, { recursive: true });
    }
  });

  test("are refused by depth and by bytes as well, with the limit of the route", async () => {
    const deep = await problemOf(
      await send(world.url, "/v1/search", "reader", bomb('{"query":', "[", 1e6)),
    );
    expect(deep.details).toMatchObject({ unit: "depth", limit: 200 });
    const long = bomb('{"query":"', "a", 3e6);
    const wide = await problemOf(await send(world.url, "/v1/search", "reader", long));
    expect(wide.details).toMatchObject({ unit: "bytes", limit: 1024 * 1024 });
    const append = `/v1/sessions/${world.ids["session"]}/messages`;
    const longer = bomb('{"messages":[{"role":"user","content":"', "a", 20e6);
    const refused = await problemOf(await send(world.url, append, "writer", longer));
    expect(refused.details).toMatchObject({ unit: "bytes", limit: 16 * 1024 * 1024 });
  });

  test("are refused over MCP by the same bounds", async () => {
    await withServer({ requireToken: true }, async ({ url }) => {
      const answer = await send(
        url,
        "/mcp",
        "reader",
        bomb('{"jsonrpc":"2.0","id":1,"params":{"a":[', "{},", 10e6),
      );
      expect(answer.status).toBe(413);
      expect(await answer.json()).toMatchObject({
        jsonrpc: "2.0",
        error: { code: -32600, data: { code: "too_large", details: { unit: "values" } } },
      });
    });
  });

  test("are skipped in an import, which reports it", async () => {
    const line = `{"type":"user","uuid":"u1","message":{"role":"user","content":[${"{},".repeat(400_000)}{}]}}\n`;
    const body = new Uint8Array(gzipSync(line));
    const headers = { ...world.headersOf("writer"), "content-encoding": "gzip" };
    const path = "/v1/import?source=claude-code&path=/home/ana/x.jsonl";
    const answer = await fetch(world.url + path, { method: "POST", headers, body });
    expect(answer.status).toBe(200);
    const { problems } = (await answer.json()) as { problems: { message: string }[] };
    expect(problems[0]?.message).toContain("more than 100000 values");
  });

  test("a batch of many megabytes within the bounds is stored", async () => {
    const made = await world.engine
      .forTenant("other")
      .createSession({ agent: "a", createdBy: "ana" });
    const messages = Array.from({ length: 100 }, (_, i) => ({
      role: "user",
      actor: "ana",
      content: `${i} ${"word ".repeat(20_000)}`,
    }));
    const answer = await fetch(`${world.url}/v1/sessions/${made.id}/messages`, {
      method: "POST",
      headers: world.headersOf("stranger"),
      body: JSON.stringify({ messages }),
    });
    expect(answer.status).toBe(201);
    const { entries } = (await answer.json()) as { entries: { content: unknown }[] };
    expect(entries.length).toBe(100);
  });
});

/** Peak resident memory of a process; 0 where the system does not report it. */
function peakMbOf(pid: number | undefined): number {
  if (process.platform !== "linux") return 0;
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024;
}

describe("work in progress", () => {
  test("of a tenant above its budget is refused with Retry-After; other tenants are served", async () => {
    const allowance = { requests: 2, bytes: 1_000_000 };
    const budget = { perTenant: allowance, perProcess: { requests: 3, bytes: 1_000_000 } };
    await withServer({ requireToken: true, budget }, async ({ url }) => {
      const slow = [hold(url, "writer"), hold(url, "writer")];
      const ask = (caller: Caller) =>
        fetch(`${url}/v1/sessions`, { headers: world.headersOf(caller) });
      const askWhileHeld = async (caller: Caller) => {
        for (const held of slow) held.again();
        return (await ask(caller)).status;
      };
      await expect.poll(() => askWhileHeld("reader"), { interval: 20 }).toBe(429);
      const refused = await problemOf(await ask("reader"));
      expect(refused).toMatchObject({ status: 429, code: "rate_limited", retryAfter: "1" });
      expect((await ask("stranger")).status).toBe(200);
      slow.push(hold(url, "stranger"));
      await expect.poll(() => askWhileHeld("stranger"), { interval: 20 }).toBe(503);
      expect(await problemOf(await ask("stranger"))).toMatchObject({
        code: "store_busy",
        retryAfter: "1",
      });
      for (const { end } of slow) end();
      await expect.poll(async () => (await ask("reader")).status, { interval: 20 }).toBe(200);
    });
  });

  test("a body without room for its bytes is refused", async () => {
    const allowance = { requests: 10, bytes: 100_000 };
    await withServer(
      { budget: { perTenant: allowance, perProcess: allowance } },
      async ({ url }) => {
        const query = "x".repeat(200_000);
        const answer = await fetch(`${url}/v1/search`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ query }),
        });
        expect(await problemOf(answer)).toMatchObject({ status: 429, code: "rate_limited" });
      },
    );
  });
});

describe("streams of events", () => {
  const followers = { perTenant: 2, perProcess: 3 };

  test("above the limits of a tenant or the server are refused before they begin; closed ones free a slot", async () => {
    await withServer({ requireToken: true, followers }, async ({ url }) => {
      const follow = (caller: Caller) => Events.open(`${url}/v1/changes`, world.headersOf(caller));
      const refused = async (caller: Caller) => {
        const headers = { ...world.headersOf(caller), accept: "text/event-stream" };
        return problemOf(await fetch(`${url}/v1/changes`, { headers }));
      };
      const open = [await follow("reader"), await follow("writer")];
      const tooMany = { status: 429, code: "rate_limited", retryAfter: "10" };
      expect(await refused("reader")).toMatchObject({ ...tooMany, details: { limit: 2 } });
      open.push(await follow("stranger"));
      expect(await refused("stranger")).toMatchObject({ status: 503, code: "store_busy" });
      await open[0]?.close();
      await expect
        .poll(() => follow("reader").then(async (events) => events.close(), String), {
          interval: 50,
        })
        .toBeUndefined();
      for (const events of open) await events.close();
    });
  });

  test("over MCP count among them", async () => {
    await withServer({ followers: { perTenant: 1, perProcess: 3 } }, async ({ url }) => {
      const client = await connectHttp(new URL(`${url}/mcp`), "2026-07-28");
      const listen = () => client.listen({ resourceSubscriptions: ["session://x"] });
      const subscription = await listen();
      const headers = { accept: "text/event-stream" };
      const ask = async () => {
        const answer = await fetch(`${url}/v1/changes`, { headers });
        await answer.body?.cancel();
        return answer.status;
      };
      expect(await ask()).toBe(429);
      await subscription.close();
      await expect.poll(ask, { interval: 50 }).toBe(200);
      // The previous stream ends once the server has noticed its close.
      const opened = () => Events.open(`${url}/v1/changes`).catch(() => undefined);
      const events = await vi.waitUntil(opened, { timeout: 60_000, interval: 50 });
      await expect(listen()).rejects.toThrow();
      await events.close();
      await client.close();
    });
  });
});

/** A request with an unfinished body. */
function hold(url: string, caller: Caller): { again(): void; end(): void } {
  const headers = { ...world.headersOf(caller), "content-length": "1000" };
  const send = () => {
    const sent = httpRequest(`${url}/v1/search`, { method: "POST", headers });
    sent.on("error", () => undefined);
    sent.on("response", (response) => {
      response.resume();
      isRefused = true;
    });
    sent.write("{");
    return sent;
  };
  let isRefused = false;
  let sent = send();
  return {
    // A polling request may hold the slot.
    again: () => {
      if (!isRefused) return;
      isRefused = false;
      sent = send();
    },
    end: () => sent.destroy(),
  };
}

describe("slow bodies", () => {
  test.each([
    ["short", { "content-length": "1000" }],
    ["of unknown length", { "transfer-encoding": "chunked" }],
    ["packed", { "content-length": "1000", "content-encoding": "gzip" }],
  ])("are cut off: %s", async (_, headers) => {
    await withServer({ requireToken: true, bodyPatienceMs: 100 }, async ({ url }) => {
      const sent = httpRequest(`${url}/v1/search`, {
        method: "POST",
        headers: { ...world.headersOf("reader"), ...headers },
      });
      const answered = new Promise<number>((resolve, reject) => {
        sent.on("response", (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        });
        sent.on("error", reject);
      });
      const closed = new Promise<void>((resolve) => sent.on("close", () => resolve()));
      sent.write(gzipSync("{}").subarray(0, 4));
      expect(await answered).toBe(408);
      await closed;
    });
  });
});

describe("searches of one connection", () => {
  test("a newer search supersedes the previous one", async () => {
    const search = (query: string) =>
      [
        `GET /v1/search?q=${query} HTTP/1.1`,
        "host: 127.0.0.1",
        `authorization: Bearer ${world.tokens.reader}`,
        "\r\n",
      ].join("\r\n");
    const socket = connect(world.server.port, "127.0.0.1");
    let text = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    // Both at once: the second is read before the first is answered.
    socket.write(search("whe") + search("where"));
    await expect.poll(() => text.match(/HTTP\/1\.1 \d+/g)?.length).toBe(2);
    await expect.poll(() => text).toContain('"hits"');
    socket.destroy();
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 409", "HTTP/1.1 200"]);
    expect(text).toContain("search_superseded");
  });

  test("of other connections do not interfere", async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        fetch(`${world.url}/v1/search?q=word${i}`, { headers: world.headersOf("reader") }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
  });
});
