import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encodeFrame } from "../../src/api/records.ts";
import { MAX_REQUEST_BYTES } from "../../src/model/limits.ts";
import { toLogLine } from "../../src/server/log.ts";
import { openServer } from "../../src/server/serve.ts";
import { request, slowRequest } from "./raw-request.ts";
import { type Caller, createWorld, MARKER, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

function ask(
  caller: Caller | undefined,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(world.url + path, {
    method,
    headers: {
      ...(caller === undefined ? {} : { authorization: `Bearer ${world.tokens[caller]}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined
      ? {}
      : {
          body:
            body instanceof Uint8Array ? (body as Uint8Array<ArrayBuffer>) : JSON.stringify(body),
        }),
  });
}

async function codeOf(response: Response): Promise<string> {
  return ((await response.json()) as { code: string }).code;
}

async function newSession(): Promise<string> {
  const response = await ask("writer", "POST", "/v1/sessions", { agent: "coder" });
  return ((await response.json()) as { id: string }).id;
}

const hello = { messages: [{ role: "user", content: "hello" }] };

test("an unmasked export needs the scope admin", async () => {
  const path = `/v1/sessions/${world.ids["session"]}/export?format=markdown&raw=`;
  for (const caller of ["reader", "writer"] as const) {
    const refused = await ask(caller, "GET", `${path}true`);
    expect([refused.status, await codeOf(refused)]).toEqual([403, "forbidden"]);
    expect((await ask(caller, "GET", `${path}false`)).status).toBe(200);
  }
  expect((await ask("admin", "GET", `${path}true`)).status).toBe(200);
});

describe("writes of records", () => {
  test("refuse an operation with more than one part", async () => {
    const place = { namespace: "n", key: "none" };
    const put = { namespace: "n", key: "half", type: "bytes", size: 3 };
    for (const other of [{ check: place }, { delete: place }]) {
      const frame = encodeFrame({ operations: [{ put, ...other }] }, [Buffer.from("abc")]);
      const headers = { "content-type": "application/octet-stream" };
      const answer = await ask("writer", "POST", "/v1/records/write", frame, headers);
      expect([answer.status, await codeOf(answer)]).toEqual([400, "invalid_input"]);
    }
    expect((await ask("writer", "GET", "/v1/records/n/half")).status).toBe(404);
  });
});

describe("bodies", () => {
  test("may be compressed", async () => {
    const id = await newSession();
    const packed = gzipSync(JSON.stringify(hello));
    const headers = { "content-encoding": "gzip" };
    const path = `/v1/sessions/${id}/messages`;
    expect((await ask("writer", "POST", path, packed, headers)).status).toBe(201);
    const torn = await ask("writer", "POST", path, packed.subarray(0, 20), headers);
    expect([torn.status, await codeOf(torn)]).toEqual([400, "invalid_input"]);
    const br = await ask("writer", "POST", path, packed, { "content-encoding": "br" });
    expect([br.status, await codeOf(br)]).toEqual([400, "invalid_input"]);
  });

  test("may not expand beyond the limit", async () => {
    const bomb = gzipSync(Buffer.alloc(MAX_REQUEST_BYTES + 10, 32));
    expect(bomb.length).toBeLessThan(100_000);
    const answer = await ask("writer", "POST", "/v1/sessions", bomb, {
      "content-encoding": "gzip",
    });
    expect([answer.status, await codeOf(answer)]).toEqual([413, "too_large"]);
  });

  test("must be JSON in UTF-8 and declare it", async () => {
    const wrong = [
      [Buffer.from("{"), "application/json"],
      [Buffer.from("null"), "application/json"],
      [Buffer.from([0x7b, 0xff, 0x7d]), "application/json"],
      [Buffer.from("{}"), "text/plain"],
    ] as const;
    for (const [body, type] of wrong) {
      const answer = await ask("writer", "POST", "/v1/sessions", body, { "content-type": type });
      expect([answer.status, await codeOf(answer)]).toEqual([400, "invalid_input"]);
    }
  });

  test("of a message that is too large store nothing", async () => {
    const id = await newSession();
    const content = "x".repeat(8 * 1024 * 1024 + 1);
    const answer = await ask("writer", "POST", `/v1/sessions/${id}/messages`, {
      messages: [
        { role: "user", content: "kept out" },
        { role: "user", content },
      ],
    });
    expect([answer.status, await codeOf(answer)]).toEqual([413, "too_large"]);
    const list = await ask("reader", "GET", `/v1/sessions/${id}/messages`);
    expect(await list.json()).toMatchObject({ total: 0 });
  });

  test("are compressed if the caller accepts it, except on the same machine", async () => {
    const path = "/v1/openapi.json";
    const gzip = { "accept-encoding": "gzip" };
    const packed = await request(world.url, path, { ...gzip, "x-forwarded-for": "192.0.2.7" });
    expect(packed.headers["content-encoding"]).toBe("gzip");
    const near = await request(world.url, path, gzip);
    expect(near.headers["content-encoding"]).toBeUndefined();
    expect(packed.body.length).toBeLessThan(near.body.length / 4);
  });
});

describe("preconditions", () => {
  test("a repeated request under the same key is executed once", async () => {
    const id = await newSession();
    const send = (body: unknown) =>
      ask("writer", "POST", `/v1/sessions/${id}/messages`, body, { "idempotency-key": "k1" });
    const first = await (await send(hello)).json();
    expect(await (await send(hello)).json()).toEqual(first);
    const other = await send({ messages: [{ role: "user", content: "other" }] });
    expect([other.status, await codeOf(other)]).toEqual([422, "idempotency_conflict"]);
    const list = await ask("reader", "GET", `/v1/sessions/${id}/messages`);
    expect(await list.json()).toMatchObject({ total: 1 });
  });

  test("a stale leaf is reported, with the ETag as the precondition", async () => {
    const id = await newSession();
    const path = `/v1/sessions/${id}`;
    const empty = (await ask("reader", "GET", path)).headers.get("etag") ?? "";
    expect(empty.replace("W/", "")).toBe('""');
    const send = (leaf: string) =>
      ask("writer", "POST", `${path}/messages`, hello, { "if-match": leaf });
    expect((await send(empty)).status).toBe(201);
    const stale = await send(empty);
    expect([stale.status, await codeOf(stale)]).toEqual([412, "stale_leaf"]);
    const etag = (await ask("reader", "GET", path)).headers.get("etag") ?? "";
    expect((await send(etag)).status).toBe(201);
    expect((await send("unquoted")).status).toBe(400);
  });
});

describe("access", () => {
  test("invalid tokens, and invalid ways to send them, are refused", async () => {
    const { reader } = world.tokens;
    const wrong = [
      "Bearer",
      "Bearer x",
      `Basic ${reader}`,
      `Bearer ${reader}x`,
      `Bearer ${reader} x`,
    ];
    for (const authorization of wrong) {
      const answer = await ask(undefined, "GET", "/v1/sessions", undefined, { authorization });
      expect([answer.status, await codeOf(answer)]).toEqual([401, "unauthorized"]);
      expect(answer.headers.get("www-authenticate")).toContain("Bearer");
    }
  });

  test("a revoked or expired token is refused", async () => {
    const acme = world.engine.forTenant("acme");
    const made = await acme.createToken({ scope: "read" });
    const send = () =>
      ask(undefined, "GET", "/v1/sessions", undefined, { authorization: `Bearer ${made.token}` });
    expect((await send()).status).toBe(200);
    await acme.revokeToken(made.record.id);
    expect((await send()).status).toBe(401);
    const { changes } = await acme.listChanges({ limit: 500 });
    const acts = changes.filter(({ kind }) => kind.startsWith("token_"));
    expect(acts.at(-1)).toMatchObject({ kind: "token_revoked" });
    const secret = made.token.slice(made.token.indexOf("_", "bsk_".length) + 1);
    expect(JSON.stringify(acts)).not.toContain(secret);
  });

  test("foreign hosts and origins are refused before anything else", async () => {
    const { host } = new URL(world.url);
    const status = async (headers: Record<string, string>) =>
      (await request(world.url, "/healthz", headers)).status;
    expect(await status({ host: "evil.example" })).toBe(403);
    expect(await status({ host: `evil.example:${world.server.port}` })).toBe(403);
    expect(await status({ host: `localhost:${world.server.port}` })).toBe(200);
    expect(await status({ host, origin: "https://evil.example" })).toBe(403);
    expect(await status({ host, origin: "null" })).toBe(403);
    expect(await status({ host, origin: `http://${host}` })).toBe(200);
  });

  test("a token writes as its own actor, and as its permitted ones", async () => {
    const acme = world.engine.forTenant("acme");
    const { token } = await acme.createToken({ scope: "write", actor: "bob", actAs: ["bot"] });
    const headers = { authorization: `Bearer ${token}` };
    const id = await newSession();
    const send = (actor: string | undefined) =>
      ask(
        undefined,
        "POST",
        `/v1/sessions/${id}/messages`,
        { messages: [{ role: "user", content: "hi", ...(actor === undefined ? {} : { actor }) }] },
        headers,
      );
    expect(await (await send(undefined)).json()).toMatchObject({ entries: [{ actor: "bob" }] });
    expect(await (await send("bot")).json()).toMatchObject({ entries: [{ actor: "bot" }] });
    const other = await send("ana");
    expect([other.status, await codeOf(other)]).toEqual([403, "forbidden"]);
    const made = await ask(
      undefined,
      "POST",
      "/v1/sessions",
      { agent: "a", created_by: "ana" },
      headers,
    );
    expect(await codeOf(made)).toBe("forbidden");
    const note = await ask(undefined, "PUT", "/v1/memories/coder/x", { content: "y" }, headers);
    expect(await codeOf(note)).toBe("forbidden");
  });

  test("no token exceeds the one that creates it", async () => {
    const body = { scope: "admin", operator: true };
    expect(await codeOf(await ask("admin", "POST", "/v1/admin/tokens", body))).toBe("forbidden");
    const answer = await ask("operator", "POST", "/v1/admin/tokens", body);
    expect(await answer.json()).toMatchObject({ record: { operator: true, tenant: "acme" } });
  });
});

describe("requests", () => {
  test("have an id that is returned, the caller's own if valid", async () => {
    const own = await ask("reader", "GET", "/v1/sessions", undefined, { "x-request-id": "abc-1" });
    expect(own.headers.get("x-request-id")).toBe("abc-1");
    const odd = await ask("reader", "GET", "/v1/x", undefined, { "x-request-id": "a b" });
    const id = odd.headers.get("x-request-id");
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(await odd.json()).toMatchObject({ code: "route_not_found", request_id: id });
  });

  test("are logged without content and queries", async () => {
    const lines: string[] = [];
    const server = await openServer(world.engine, {
      version: "0.0.0",
      port: 0,
      tenant: "acme",
      log: (event) => lines.push(toLogLine(event)),
    });
    try {
      await fetch(`${server.url}/v1/search?q=${MARKER}`);
      await fetch(`${server.url}/v1/sessions/${MARKER}`);
      const body = JSON.stringify({ agent: "a", created_by: "b", title: MARKER, wrong: 1 });
      const headers = { "content-type": "application/json" };
      await fetch(`${server.url}/v1/sessions`, { method: "POST", headers, body });
    } finally {
      await server.stop();
    }
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { route: "/v1/search", status: 200, tenant: "acme", token: null },
      { route: "/v1/sessions/{session_id}", status: 404, code: "session_not_found" },
      { route: "/v1/sessions", status: 400, code: "invalid_input" },
    ]);
    expect(lines.join("\n")).not.toContain(MARKER);
  });

  test("are counted by route and status, without names", async () => {
    await ask("reader", "GET", `/v1/sessions/${world.ids["session"]}`);
    const answer = await ask("operator", "GET", "/metrics");
    const text = await answer.text();
    expect(text).toMatch(
      /backscroll_http_request_duration_seconds_count\{method="GET",route="\/v1\/sessions\/\{session_id\}",status="200"\} \d+/,
    );
    expect(text).toMatch(/^backscroll_messages \d+$/m);
    expect(text).toMatch(/^backscroll_build_info\{version="[^"]+",node="\d+\.[^"]+"\} 1$/m);
    expect(Number(metricIn(text, "backscroll_event_loop_lag_seconds"))).toBeGreaterThanOrEqual(0);
    // What happens between two readings is what they differ in.
    await ask("reader", "GET", "/v1/search?q=cron");
    await ask("reader", "GET", "/v1/search?q=cron&deadline_ms=0");
    await ask("reader", "GET", "/v1/sessions/none");
    const later = await (await ask("operator", "GET", "/metrics")).text();
    const grown = (name: string) =>
      Number(metricIn(later, name)) - Number(metricIn(text, name) ?? 0);
    expect(grown("backscroll_searches_total")).toBe(2);
    expect(grown("backscroll_partial_searches_total")).toBe(1);
    expect(grown('backscroll_errors_total{code="session_not_found"}')).toBe(1);
    expect(text).not.toContain("acme");
    expect((await ask("admin", "GET", "/metrics")).status).toBe(403);
    expect((await ask(undefined, "GET", "/metrics")).status).toBe(401);
  });
});

describe("a server with other settings", () => {
  test("limits the rate of each caller separately", async () => {
    await world.withServer(
      { requireToken: true, rateLimit: { perSecond: 0.1, burst: 3 } },
      async ({ url }) => {
        const send = (caller: Caller) =>
          fetch(`${url}/v1/index`, {
            headers: { authorization: `Bearer ${world.tokens[caller]}` },
          });
        const statuses = [];
        for (let i = 0; i < 4; i++) statuses.push((await send("reader")).status);
        expect(statuses).toEqual([200, 200, 200, 429]);
        const refused = await send("reader");
        expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
        expect(await codeOf(refused)).toBe("rate_limited");
        expect((await send("writer")).status).toBe(200);
      },
    );
  });

  test("accepts pages of configured origins, and no others", async () => {
    await world.withServer({ allowOrigins: ["https://app.example"] }, async ({ url }) => {
      const headers = { origin: "https://app.example" };
      const answer = await fetch(`${url}/v1/sessions`, { headers });
      expect(answer.headers.get("access-control-allow-origin")).toBe("https://app.example");
      const exposed = answer.headers.get("access-control-expose-headers")?.split(", ");
      expect(exposed).toEqual(
        expect.arrayContaining(["etag", "content-digest", "backscroll-rows"]),
      );
      const asked = await fetch(`${url}/v1/sessions`, { method: "OPTIONS", headers });
      expect(asked.headers.get("access-control-allow-headers")).toContain("authorization");
      const foreign = await fetch(`${url}/v1/sessions`, {
        headers: { origin: "https://x.example" },
      });
      expect(foreign.status).toBe(403);
    });
    const none = await request(world.url, "/v1/openapi.json", { origin: world.url });
    expect(Object.keys(none.headers).filter((name) => name.startsWith("access-control"))).toEqual(
      [],
    );
  });

  test("accepts local callers without a token, as the host's configured tenant", async () => {
    await world.withServer({ tenant: "other" }, async ({ url }) => {
      const { sessions } = (await (await fetch(`${url}/v1/sessions`)).json()) as {
        sessions: { tenant: string }[];
      };
      expect(new Set(sessions.map(({ tenant }) => tenant))).toEqual(new Set(["other"]));
    });
  });

  test("needs tokens off loopback, for every caller", async () => {
    await world.withServer({ host: "0.0.0.0" }, async ({ port }) => {
      expect((await fetch(`http://127.0.0.1:${port}/v1/sessions`)).status).toBe(401);
    });
  });

  test("explains a port that is taken", async () => {
    await world.withServer({}, async ({ port }) => {
      const second = openServer(world.engine, { version: "0.0.0", port });
      await expect(second).rejects.toMatchObject({ code: "invalid_input" });
    });
  });

  test("finishes requests in progress when it stops", async () => {
    const server = await openServer(world.engine, { version: "0.0.0", port: 0, tenant: "acme" });
    const events = await fetch(`${server.url}/v1/changes`, {
      headers: { accept: "text/event-stream" },
    });
    const body = JSON.stringify({ agent: "coder", created_by: "ana" });
    const asked = slowRequest(`${server.url}/v1/sessions`, body);
    await asked.halfSent;
    const stopped = server.stop();
    asked.finish();
    expect(await asked.status).toBe(201);
    await events.text();
    await stopped;
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
  });
});

/** The value of one metric, by its name with its labels. */
function metricIn(text: string, name: string): string | undefined {
  const line = text.split("\n").find((each) => each.startsWith(`${name} `));
  return line?.slice(name.length + 1);
}
