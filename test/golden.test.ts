/**
 * Every answer of every route, and the text of every refused call, against the recorded ones.
 *
 * A change on purpose is recorded with `GOLDEN=write npx vitest run test/golden.test.ts` and read as
 * a diff of `test/fixtures/golden`.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { open } from "../src/index.ts";
import { INPUTS } from "../src/model/inputs/index.ts";
import type { Route } from "../src/server/route.ts";
import { ROUTES } from "../src/server/routes/index.ts";
import { ROUTE_CASES, type RouteCase } from "./server/route-cases.ts";
import { createWorld, type World } from "./server/world.ts";
import { callsOf, type InputName } from "./support/unknown-calls.ts";
import { wrongCalls } from "./support/wrong-calls.ts";

const FOLDER = join(import.meta.dirname, "fixtures", "golden");

async function expectGolden(name: string, text: string): Promise<void> {
  const file = join(FOLDER, name);
  if (process.env["GOLDEN"] === "write") {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(file, text);
  }
  expect(text).toBe((await readFile(file, "utf8")).replaceAll("\r\n", "\n"));
}

/** Values that differ from run to run, by their form; ids by their order of appearance. */
function createPlain(): (text: string) => string {
  const ids = new Map<string, string>();
  const name = (id: string) => {
    const known = ids.get(id) ?? `ID${ids.size}`;
    ids.set(id, known);
    return known;
  };
  return (text) =>
    text
      // A slow machine sweeps messages whose lease has expired meanwhile.
      .replace(/"aborted_messages":\[[^\]]*\]/g, '"aborted_messages":[]')
      .replace(/\b[0-9A-HJKMNP-TV-Z]{26}\b/g, name)
      .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "TIME")
      .replace(/(\d\.\d{3})\d+/g, "$1")
      .replace(/\b\d{13}\b/g, "MS")
      .replace(/\b[0-9a-f]{64}\b/g, "HASH")
      .replace(
        /"(short_id|epoch|lease|token|cursor|next|next_cursor|request_id)":"[^"]+"/g,
        '"$1":"…"',
      )
      .replace(/"source":"\w+#/g, '"source":"…#')
      .replace(/"(bytes|database_bytes|content_bytes|score|lag)":[\d.e-]+/g, '"$1":0')
      .replace(/\/share\/[\w-]+/g, "/share/…")
      .replace(/"days":\[[^\]]*\]/g, '"days":[]')
      .replace(/\((UTC|\w+\/\w+)\)/g, "(ZONE)")
      .replace(/127\.0\.0\.1:\d+/g, "HOST");
}

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

interface Sent extends Pick<RouteCase, "path" | "body" | "bytes" | "headers"> {
  readonly token: string;
}

interface Received {
  readonly status: number;
  readonly text: string;
}

async function send({ method }: Route, request: Sent): Promise<Received> {
  const { path, body, bytes = body === undefined ? undefined : JSON.stringify(body) } = request;
  const response = await fetch(world.url + path, {
    method: method.toUpperCase(),
    headers: {
      authorization: `Bearer ${request.token}`,
      ...(request.bytes === undefined ? { "content-type": "application/json" } : {}),
      ...request.headers,
    },
    ...(bytes === undefined ? {} : { body: bytes }),
  });
  const type = response.headers.get("content-type") ?? "";
  const text = await response.text();
  return { status: response.status, text: /json|text/.test(type) ? text : type };
}

function caseOf({ operation }: Route): RouteCase {
  return ROUTE_CASES[operation]?.(ids) as RouteCase;
}

/** Their effects would change the answers of others. */
const LAST = ["deleteFact", "supersedeFact", "deleteSession", "compact", "revokeToken", "sweep"];
const isLast = ({ operation }: Route) => LAST.includes(operation);

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}
interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: Shape }>> };
}
interface Shape {
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** Each distinct line of a call once. */
class Refusals {
  readonly #lines = new Set<string>();
  add(call: string, error: string): void {
    this.#lines.add(`${call}: ${error.replaceAll("\n", " ")}\n`);
  }
  toString(): string {
    return createPlain()([...this.#lines].sort().join(""));
  }
}

test("requests with a wrong field are refused with the same words", async () => {
  const document = await (await fetch(`${world.url}/v1/openapi.json`)).json();
  const described = (document as Described).paths;
  const refusals = new Refusals();
  for (const route of ROUTES) {
    const { path, ...rest } = caseOf(route);
    const token = world.tokens[route.operator ? "operator" : "stranger"];
    const probe = async (field: string, change: Partial<RouteCase>) => {
      const { status, text } = await send(route, { path, ...rest, ...change, token });
      if (status < 400) return;
      const { code, detail, details } = JSON.parse(text);
      const error = `${status} ${code} ${detail} ${JSON.stringify(details ?? null)}`;
      refusals.add(`${route.operation} ${field}`, error);
    };
    const sign = path.includes("?") ? "&" : "?";
    const { parameters = [], requestBody } = described[route.path]?.[route.method] ?? {};
    await probe("?wrong", { path: `${path}${sign}wrong=1` });
    for (const { name } of parameters.filter((each) => each.in === "query")) {
      for (const value of ["", "no"]) {
        await probe(`?${name}`, { path: `${path}${sign}${name}=${value}` });
      }
    }
    const shape = requestBody?.content["application/json"]?.schema;
    if (shape === undefined) continue;
    for (const name of ["wrong", ...Object.keys(shape.properties ?? {})]) {
      for (const value of [null, 1.5, { wrong: 1 }]) {
        await probe(name, { body: { ...(rest.body as object), [name]: value } });
      }
    }
  }
  await expectGolden("refused-requests.txt", String(refusals));
});

test("every route answers as recorded", async () => {
  const plain = createPlain();
  const answers: string[] = [];
  for (const route of [...ROUTES.filter((each) => !isLast(each)), ...ROUTES.filter(isLast)]) {
    const request = caseOf(route);
    const { status, text } = await send(route, { ...request, token: world.tokens.operator });
    answers.push(plain(`${route.operation} ${status}\n${text.trim()}\n`));
  }
  await expectGolden("answers.txt", answers.join("\n"));
});

test("the OpenAPI document is the recorded one", async () => {
  const document = await (await fetch(`${world.url}/v1/openapi.json`)).json();
  const { paths, components, ...rest } = document as {
    paths: object;
    components: { schemas: object };
  };
  const parts = [rest, ...Object.entries(paths), ...Object.entries(components.schemas)];
  await expectGolden("openapi.txt", `${parts.map((part) => JSON.stringify(part)).join("\n")}\n`);
});

test("calls of the library are refused with the same words", async () => {
  const engine = await open(":memory:");
  const session = await engine.createSession({ id: "s", agent: "test", createdBy: "test" });
  const entryId = (await session.append({ role: "user", content: "first" })).id;
  const stream = await session.openMessage({ role: "assistant" });
  const calls = wrongCalls(engine, session, entryId).map(({ name, call }) => {
    return { name: name.replace(/( = |\().*/s, ""), call };
  });
  const unknown = callsOf(engine, session, entryId, stream);
  for (const [input, table] of Object.entries(INPUTS)) {
    const call = unknown[input as InputName] as (fields: object) => unknown;
    for (const field of ["wrong", ...Object.keys(table)]) {
      for (const value of [null, -1, [5]]) {
        calls.push({ name: `${input} ${field}`, call: () => call({ [field]: value }) });
      }
    }
  }
  const refusals = new Refusals();
  for (const { name, call } of calls) {
    await (async () => call())().catch((error: Error) => refusals.add(name, error.message));
  }
  await engine.close();
  await expectGolden("refused-calls.txt", String(refusals));
});
