import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ACCESS_SCOPES, includesScope } from "../../src/model/access.ts";
import { HTTP_STATUS } from "../../src/server/problem.ts";
import type { Route } from "../../src/server/route.ts";
import { ROUTES } from "../../src/server/routes/index.ts";
import { ROUTE_CASES, type RouteCase } from "./route-cases.ts";
import { type Caller, createWorld, MARKER, type World } from "./world.ts";

let world: World;
let ids: Record<string, string>;

beforeAll(async () => {
  world = await createWorld();
  const session = await world.engine.forTenant("acme").getSession(world.ids["session"] ?? "");
  const second = await session.openMessage({ role: "assistant" });
  await second.detach();
  ids = { ...world.ids, second: second.id };
});
afterAll(() => world.close());

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly code: unknown;
  readonly json: unknown;
}

async function call(
  route: Route,
  request: RouteCase,
  caller: Caller | undefined,
  change: { readonly path?: string; readonly body?: unknown } = {},
): Promise<Answer> {
  const body = "body" in change ? change.body : request.body;
  const response = await fetch(world.url + (change.path ?? request.path), {
    method: route.method.toUpperCase(),
    headers: {
      ...(caller === undefined ? {} : { authorization: `Bearer ${world.tokens[caller]}` }),
      ...(request.bytes === undefined ? { "content-type": "application/json" } : {}),
      ...request.headers,
    },
    ...(request.bytes === undefined ? {} : { body: request.bytes }),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const type = response.headers.get("content-type") ?? "";
  const json: unknown = type.includes("json") ? JSON.parse(text) : undefined;
  const code = (json as { code?: unknown } | undefined)?.code;
  return { status: response.status, type, text, code, json };
}

function caseOf(route: Route): RouteCase {
  const make = ROUTE_CASES[route.operation];
  if (make === undefined) throw new Error(`${route.operation} has no case`);
  return make(ids);
}

const NAMED = ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const);

/** Destructive: runs after the others. */
const LAST = new Set([
  "deleteFact",
  "supersedeFact",
  "deleteSession",
  "compact",
  "revokeToken",
  "revokeShare",
]);
const IN_ORDER = [
  ...NAMED.filter(([, route]) => !LAST.has(route.operation)),
  ...NAMED.filter(([, route]) => LAST.has(route.operation)),
];

test("routes are these", () => {
  expect(
    NAMED.map(([name, route]) => `${name} ${route.scope}${route.operator ? "!" : ""}`),
  ).toEqual(ROUTE_LIST);
  expect(new Set(ROUTES.map(({ operation }) => operation)).size).toBe(ROUTES.length);
  expect(Object.keys(ROUTE_CASES).sort()).toEqual(ROUTES.map((r) => r.operation).sort());
});

describe("without a token", () => {
  test.each(NAMED)("%s is refused", async (_name, route) => {
    const answer = await call(route, caseOf(route), undefined);
    expect([answer.status, answer.code]).toEqual([401, "unauthorized"]);
  });
});

describe("with a token of too narrow a scope", () => {
  const narrow = NAMED.filter(([, { scope }]) => scope !== "read");
  test.each(narrow)("%s is refused", async (_name, route) => {
    for (const scope of ACCESS_SCOPES.filter((each) => !includesScope(each, route.scope))) {
      const answer = await call(route, caseOf(route), scope === "read" ? "reader" : "writer");
      expect([answer.status, answer.code]).toEqual([403, "forbidden"]);
    }
  });

  test.each(NAMED.filter(([, { operator }]) => operator))(
    "%s is refused to a tenant's own administrator",
    async (_name, route) => {
      const answer = await call(route, caseOf(route), "admin");
      expect([answer.status, answer.code]).toEqual([403, "forbidden"]);
    },
  );
});

describe("with another tenant's token", () => {
  test.each(IN_ORDER)("%s shows nothing of ours", async (_name, route) => {
    const request = caseOf(route);
    const answer = await call(route, request, "stranger");
    expect(answer.text).not.toContain(MARKER);
    if (request.stranger !== "empty") {
      expect(answer.code).toBe(request.stranger);
      expect(answer.status).toBe(HTTP_STATUS[request.stranger as keyof typeof HTTP_STATUS]);
    } else {
      expect(answer.status).toBe(route.answer.status);
    }
  });

  test("an id of another tenant answers like an unknown one", async () => {
    const route = ROUTES.find(({ operation }) => operation === "getSessionMeta") as Route;
    const foreign = await call(route, caseOf(route), "stranger");
    const unknown = await call(route, caseOf(route), "stranger", {
      path: "/v1/sessions/01ARZ3NDEKTSV4RRFFQ69G5FAV",
    });
    const plain = ({ text }: Answer) =>
      text.replace(/01[A-Z0-9]{24}/g, "ID").replace(/"request_id":"[^"]*"/, "");
    expect(plain(foreign)).toBe(plain(unknown));
  });
});

describe("with invalid input", () => {
  test.each(NAMED)("%s names the field", async (_name, route) => {
    const request = caseOf(route);
    const sign = request.path.includes("?") ? "&" : "?";
    const answer = await call(route, request, "operator", {
      path: `${request.path}${sign}wrong=1`,
    });
    expect([answer.status, answer.code]).toEqual([400, "invalid_input"]);
    expect(answer.json).toMatchObject({ details: { field: "wrong" } });
    expect(answer.type).toBe("application/problem+json");
  });

  const withBody = NAMED.filter(([, { body }]) => body !== undefined);
  test.each(withBody)("%s names the field of the body", async (_name, route) => {
    const request = caseOf(route);
    const wrong = { ...(request.body as object), wrong: 1 };
    const answer = await call(route, request, "operator", { body: wrong });
    expect([answer.status, answer.code]).toEqual([400, "invalid_input"]);
    expect(answer.json).toMatchObject({ details: { field: "wrong" } });
  });
});

describe("with valid input", () => {
  /** Expected errors: no language model is configured here. */
  const refused: Readonly<Record<string, string>> = {
    extractFacts: "model_unavailable",
    generateTitle: "model_unavailable",
  };

  test.each(IN_ORDER)("%s answers", async (_name, route) => {
    const answer = await call(route, caseOf(route), "operator");
    const code = refused[route.operation];
    if (code !== undefined) expect(answer.code).toBe(code);
    else expect([answer.status, answer.code]).toEqual([route.answer.status, undefined]);
    if (route.answer.schema !== undefined && code === undefined) {
      const checked = route.answer.schema.safeParse(answer.json);
      expect(checked.error?.issues ?? []).toEqual([]);
    }
  });
});

test("sessions of a repository are listed and searched together", async () => {
  const acme = world.engine.forTenant("acme");
  for (const repo of ["git.example/acme/shop", "git.example/other/shop"]) {
    const session = await acme.createSession({
      agent: "coder",
      createdBy: "ana",
      origin: { repo },
    });
    await session.append({ role: "user", actor: "ana", content: "The till drawer is stuck." });
  }
  const ask = async (path: string, body?: object) => {
    const authorization = `Bearer ${world.tokens.reader}`;
    const headers = { authorization, "content-type": "application/json" };
    const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    return (await fetch(world.url + path, { headers, ...sent })).json();
  };
  expect(await ask("/v1/sessions?repo=acme/shop")).toMatchObject({
    sessions: [{ origin: { repo: "git.example/acme/shop" }, cost_usd: null }],
  });
  expect(await ask("/v1/search?q=drawer&repo=acme/shop")).toMatchObject({ hits: [{}] });
  const both = ["acme/shop", "other/shop"];
  const body = { query: "drawer", repo: both };
  expect(((await ask("/v1/search", body)) as { hits: unknown[] }).hits).toHaveLength(2);
});

/** `METHOD PATH SCOPE`; `!` marks operator routes. */
const ROUTE_LIST = [
  "get /v1/sessions read",
  "post /v1/sessions write",
  "get /v1/sessions/{session_id} read",
  "patch /v1/sessions/{session_id} write",
  "delete /v1/sessions/{session_id} write",
  "get /v1/sessions/{session_id}/derived read",
  "post /v1/sessions/{session_id}/fork write",
  "get /v1/origins read",
  "put /v1/origins write",
  "get /v1/tombstones read",
  "get /v1/sessions/{session_id}/messages read",
  "post /v1/sessions/{session_id}/messages write",
  "get /v1/sessions/{session_id}/history read",
  "post /v1/sessions/{session_id}/streams write",
  "post /v1/sessions/{session_id}/streams/{entry_id}/chunks write",
  "post /v1/sessions/{session_id}/streams/{entry_id}/commit write",
  "post /v1/sessions/{session_id}/streams/{entry_id}/abort write",
  "get /v1/sessions/{session_id}/entries read",
  "post /v1/sessions/{session_id}/entries write",
  "get /v1/entries/{entry_id} read",
  "get /v1/sessions/{session_id}/entries/{entry_id} read",
  "post /v1/sessions/{session_id}/entries/{entry_id}/edit write",
  "post /v1/sessions/{session_id}/entries/{entry_id}/regenerate write",
  "put /v1/sessions/{session_id}/entries/{entry_id}/label write",
  "get /v1/sessions/{session_id}/labels read",
  "put /v1/sessions/{session_id}/mark write",
  "delete /v1/sessions/{session_id}/mark write",
  "get /v1/sessions/{session_id}/marks read",
  "put /v1/sessions/{session_id}/entries/{entry_id}/pin write",
  "delete /v1/sessions/{session_id}/entries/{entry_id}/pin write",
  "get /v1/sessions/{session_id}/branches read",
  "post /v1/sessions/{session_id}/branch write",
  "post /v1/sessions/{session_id}/entries/batch write",
  "get /v1/sessions/{session_id}/external-entry read",
  "post /v1/sessions/{session_id}/suffix write",
  "delete /v1/sessions/{session_id}/entries/{entry_id} write",
  "get /v1/search read",
  "post /v1/search read",
  "post /v1/sessions/{session_id}/recall read",
  "post /v1/sessions/{session_id}/context read",
  "post /v1/sessions/{session_id}/compact write",
  "get /v1/sessions/{session_id}/summaries read",
  "post /v1/sessions/{session_id}/summaries write",
  "get /v1/sessions/{session_id}/usage read",
  "post /v1/sessions/{session_id}/retention write",
  "get /v1/recap read",
  "get /v1/related read",
  "get /v1/trace read",
  "post /v1/trace read",
  "post /v1/blame read",
  "post /v1/pr read",
  "post /v1/memories/search read",
  "post /v1/facts/search read",
  "post /v1/sessions/{session_id}/compact/plan read",
  "get /v1/facets read",
  "post /v1/facets read",
  "get /v1/review read",
  "get /v1/sessions/{session_id}/outline read",
  "get /v1/sessions/{session_id}/resume read",
  "get /v1/memories read",
  "get /v1/memories/search read",
  "get /v1/memories/{agent}/{name} read",
  "put /v1/memories/{agent}/{name} write",
  "delete /v1/memories/{agent}/{name} write",
  "get /v1/facts read",
  "get /v1/facts/search read",
  "get /v1/facts/{fact_id} read",
  "delete /v1/facts/{fact_id} write",
  "post /v1/facts/{fact_id}/supersede write",
  "get /v1/rules read",
  "post /v1/rules write",
  "post /v1/rules/{rule_id}/accept write",
  "post /v1/rules/{rule_id}/reject write",
  "delete /v1/rules/{rule_id} write",
  "post /v1/sessions/{session_id}/facts write",
  "post /v1/sessions/{session_id}/facts/extract write",
  "get /v1/records/{namespace} read",
  "get /v1/records/{namespace}/{record_key} read",
  "put /v1/records/{namespace}/{record_key} write",
  "delete /v1/records/{namespace}/{record_key} write",
  "get /v1/records/{namespace}/{record_key}/value read",
  "put /v1/records/{namespace}/{record_key}/value write",
  "post /v1/records/search read",
  "post /v1/records/read read",
  "post /v1/records/write write",
  "post /v1/inbound write",
  "get /v1/routes read",
  "get /v1/routes/{key} read",
  "put /v1/routes/{key} write",
  "patch /v1/routes/{key} write",
  "delete /v1/routes/{key} write",
  "get /v1/routes/{key}/sessions read",
  "get /v1/sessions/{session_id}/routes read",
  "get /v1/sessions/{session_id}/status read",
  "post /v1/sessions/{session_id}/title write",
  "get /v1/changes read",
  "get /v1/sessions/{session_id}/changes read",
  "post /v1/import write",
  "get /v1/sessions/{session_id}/export read",
  "post /v1/sessions/{session_id}/shares write",
  "get /v1/sessions/{session_id}/shares read",
  "get /v1/shares read",
  "delete /v1/shares/{share_id} write",
  "post /v1/ingest/sessions write",
  "patch /v1/ingest/sessions/{session_id} write",
  "post /v1/ingest/files/find read",
  "put /v1/ingest/files write",
  "put /v1/ingest/originals write",
  "post /v1/ingest/originals/find read",
  "post /v1/ingest/originals/read read",
  "get /v1/access read",
  "get /v1/stats read",
  "get /v1/status read",
  "get /v1/index read",
  "post /v1/admin/index admin",
  "post /v1/admin/sweep admin",
  "post /v1/admin/maintain admin",
  "put /v1/admin/quota admin!",
  "get /v1/admin/store admin!",
  "post /v1/admin/store/verify admin!",
  "post /v1/admin/store/check admin!",
  "post /v1/admin/store/sweep admin!",
  "get /v1/admin/tokens admin",
  "post /v1/admin/tokens admin",
  "delete /v1/admin/tokens/{token_id} admin",
  "get /v1/backup admin!",
];
