import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Engine, open } from "../../src/index.ts";
import { openServer, type RunningServer } from "../../src/server/serve.ts";
import { createDatabase } from "../support/postgres.ts";
import { repeats } from "../support/repeats.ts";

/**
 * Tenant isolation under random tokens, calls and ids: no answer holds a byte of another tenant. Every
 * write of a tenant carries the tenant's marker word.
 */

const TENANTS = ["ash", "birch", "cedar"] as const;
const WORDS: Readonly<Record<string, string>> = {
  ash: "umbrageous",
  birch: "zephyrine",
  cedar: "lachrymose",
};

interface Place {
  readonly engine: Engine;
  readonly server: RunningServer;
  /** A read and a write token, by tenant. */
  readonly tokens: Map<string, { readonly read: string; readonly write: string }>;
  /** Every id that any tenant received. */
  readonly ids: string[];
}

let places: Place[];

beforeAll(async () => {
  places = await Promise.all([createPlace(":memory:"), createDatabase().then(createPlace)]);
});
afterAll(async () => {
  for (const { server, engine } of places) {
    await server.stop();
    await engine.close();
  }
});

async function createPlace(address: string): Promise<Place> {
  const engine = await open(address);
  const server = await openServer(engine, { version: "0.0.0", port: 0, requireToken: true });
  const tokens = new Map();
  for (const tenant of TENANTS) {
    const make = (scope: "read" | "admin") =>
      engine.forTenant(tenant).createToken({ scope, actor: "ana", actAs: "any" });
    tokens.set(tenant, { read: (await make("read")).token, write: (await make("admin")).token });
  }
  return { engine, server, tokens, ids: ["01ARZ3NDEKTSV4RRFFQ69G5FAV"] };
}

interface Call {
  readonly tenant: (typeof TENANTS)[number];
  readonly mayWrite: boolean;
  /** An index into the ids known at the time of the call. */
  readonly pick: number;
  readonly kind: number;
}

type Request = readonly [method: string, path: string, body?: unknown];

const QUESTION = "is umbrageous zephyrine";

/** Calls with any tenant's id and the caller's own text. */
const KINDS: readonly ((id: string, word: string) => Request)[] = [
  (_id, word) => ["POST", "/v1/sessions", { agent: `agent-${word}`, title: `On ${word}` }],
  (id, word) => [
    "POST",
    `/v1/sessions/${id}/messages`,
    { messages: [{ role: "user", content: `It is ${word}.` }] },
  ],
  (id, word) => ["POST", `/v1/sessions/${id}/fork`, { title: word }],
  (id, word) => [
    "POST",
    `/v1/sessions/${id}/facts`,
    { facts: [{ subject: word, predicate: "is", object: word }] },
  ],
  (_id, word) => ["PUT", "/v1/memories/coder/note", { content: `remember ${word}` }],
  (id) => ["GET", `/v1/sessions/${id}`],
  (id) => ["GET", `/v1/sessions/${id}/messages`],
  (id) => ["GET", `/v1/sessions/${id}/entries?tree=true`],
  (id) => ["GET", `/v1/sessions/${id}/export?format=markdown`],
  (id) => ["GET", `/v1/sessions/${id}/changes`],
  (id) => ["GET", `/v1/entries/${id}`],
  (id) => ["GET", `/v1/facts/${id}`],
  (id) => ["GET", `/v1/facts?session_id=${id}`],
  (id) => ["POST", `/v1/sessions/${id}/context`, { token_budget: 5000, include_facts: true }],
  (id) => ["POST", `/v1/sessions/${id}/recall`, { query: "it is remember", scope: "tenant" }],
  () => ["GET", "/v1/sessions"],
  () => ["GET", "/v1/search?q=it+is+on+umbrageous+zephyrine+lachrymose&limit=20"],
  () => ["GET", "/v1/memories"],
  () => ["GET", "/v1/memories/search?q=remember+umbrageous+zephyrine+lachrymose"],
  () => ["GET", "/v1/facts/search?q=is+umbrageous+zephyrine+lachrymose"],
  () => ["GET", "/v1/changes?after=start&limit=500"],
  () => ["GET", "/v1/recap?limit=20"],
  (id) => ["GET", `/v1/related?session=${id}`],
  () => ["GET", `/v1/related?question=${encodeURIComponent(QUESTION)}`],
  () => ["GET", "/v1/trace?error=remember"],
  () => ["GET", "/v1/stats"],
  () => ["GET", "/v1/status"],
  () => ["GET", "/v1/admin/tokens"],
  (id) => ["DELETE", `/v1/sessions/${id}`],
  (id) => ["GET", `/v1/tombstones?session_id=${id}`],
];

const CALLS = fc.array(
  fc.record<Call>({
    tenant: fc.constantFrom(...TENANTS),
    mayWrite: fc.boolean(),
    pick: fc.nat(),
    kind: fc.nat(KINDS.length - 1),
  }),
  { minLength: 10, maxLength: 40 },
);

test.each([["SQLite"], ["PostgreSQL"]])(
  "no answer of %s holds another tenant's data",
  async (backend) => {
    const place = places[backend === "SQLite" ? 0 : 1] as Place;
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(CALLS, async (calls) => {
        for (const call of calls) {
          const { status, text: whole } = await send(place, call);
          // The answer echoes the caller's own query.
          const text = whole.replace(`"question":"${QUESTION}"`, "");
          if (status < 300) answered++;
          for (const other of TENANTS.filter((tenant) => tenant !== call.tenant)) {
            expect(text).not.toContain(WORDS[other]);
            expect(text).not.toContain(`"tenant":"${other}"`);
          }
        }
      }),
      { numRuns: repeats(12, 60) },
    );
    // Guards against runs in which every call was refused.
    expect(answered).toBeGreaterThan(60);
  },
);

async function send(place: Place, call: Call): Promise<{ status: number; text: string }> {
  const { server, tokens, ids } = place;
  // Half of the picks are recent ids, which most likely still exist.
  const id = ids[call.pick % 2 === 0 ? call.pick % ids.length : ids.length - 1] as string;
  const make = KINDS[call.kind] as (typeof KINDS)[number];
  const [method, path, body] = make(encodeURIComponent(id), WORDS[call.tenant] as string);
  const response = await fetch(server.url + path, {
    method,
    headers: {
      authorization: `Bearer ${tokens.get(call.tenant)?.[call.mayWrite ? "write" : "read"]}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status < 300) {
    for (const [, found] of text.matchAll(/"id":"([^"]+)"/g)) ids.push(found as string);
  }
  // The caller's own query may be echoed.
  return { status: response.status, text: text.replace(/"notes":\[[^\]]*\]/g, "") };
}

test.each([["SQLite"], ["PostgreSQL"]])(
  "%s answers alike for another tenant's session and an unknown one",
  async (backend) => {
    const { engine, server, tokens } = places[backend === "SQLite" ? 0 : 1] as Place;
    const theirs = await engine.forTenant("ash").createSession({ agent: "a", createdBy: "ana" });
    const headers = { authorization: `Bearer ${tokens.get("birch")?.read}` };
    const ask = async (id: string) => {
      const answer = await fetch(`${server.url}/v1/sessions/${id}/messages`, { headers });
      const { request_id: _, ...problem } = JSON.parse((await answer.text()).replaceAll(id, "ID"));
      return problem;
    };
    const problem = await ask(theirs.id);
    expect(problem).toMatchObject({ status: 404, code: "session_not_found" });
    expect(await ask("01ARZ3NDEKTSV4RRFFQ6000000")).toEqual(problem);
  },
);
