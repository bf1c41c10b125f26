import { expect, test } from "vitest";
import { Child } from "../test/support/child.ts";
import { SessionHandle } from "./engine/session-handle.ts";
import { TenantEngine } from "./engine/tenant-engine.ts";
import { open } from "./open.ts";
import { engineOn, openStore } from "./store-kit/index.ts";
import {
  type AttributeValue,
  loadTelemetry,
  type TelemetryTracer,
  traceCalls,
  traceStore,
} from "./telemetry.ts";

interface Recorded {
  readonly name: string;
  readonly kind: number;
  readonly attributes: Record<string, AttributeValue>;
  status: number;
  ended: number;
}

/** A tracer that records its spans and their attributes. */
function recorder(): { readonly spans: Recorded[]; readonly tracer: TelemetryTracer } {
  const spans: Recorded[] = [];
  const tracer: TelemetryTracer = {
    startActiveSpan(name, { kind, attributes }, use) {
      const span: Recorded = { name, kind, attributes: { ...attributes }, status: 0, ended: 0 };
      spans.push(span);
      return use({
        setAttribute(key, value) {
          span.attributes[key] = value;
        },
        setStatus({ code }) {
          span.status = code;
        },
        end() {
          span.ended++;
        },
      });
    },
  };
  return { spans, tracer };
}

async function converse(content: boolean): Promise<Recorded[]> {
  const { spans, tracer } = recorder();
  const store = await openStore(":memory:", { inThread: true });
  await using memory = engineOn(traceStore(store, tracer, { content, kind: "internal" }));
  const session = await memory.createSession({ id: "s1", agent: "coder", createdBy: "ana" });
  await session.append([
    { role: "user", content: "Where do okapis live?" },
    { role: "assistant", content: "In the rain forest." },
  ]);
  await session.listMessages();
  await memory.searchSessions("okapis");
  await memory.searchSessions("forest", { session: "s1" });
  await memory.putMemory({ agent: "coder", name: "animals", content: "okapis" });
  const [fact] = await session.addFacts([{ subject: "okapi", predicate: "is", object: "shy" }]);
  await memory.deleteMemory("coder", "animals");
  await expect(memory.session("gone").listMessages()).rejects.toThrow();
  await session.delete();
  expect(fact?.id).toBeTypeOf("string");
  return spans;
}

test("calls of the store are spans with the conventions' names, each ended once", async () => {
  const spans = await converse(false);
  const store = { "gen_ai.memory.store.id": "default" };
  const session = { ...store, "gen_ai.conversation.id": "s1" };
  const seen = spans.map(({ attributes }) => attributes);
  for (const { name, attributes } of spans) expect(attributes["gen_ai.operation.name"]).toBe(name);
  expect(seen).toEqual(
    expect.arrayContaining([
      { "gen_ai.operation.name": "create_memory", ...session, "gen_ai.memory.record.count": 2 },
      { "gen_ai.operation.name": "read_conversation", ...session, "gen_ai.memory.record.count": 2 },
      { "gen_ai.operation.name": "search_memory", ...store, "gen_ai.memory.record.count": 1 },
      { "gen_ai.operation.name": "search_memory", ...session, "gen_ai.memory.record.count": 1 },
      {
        "gen_ai.operation.name": "upsert_memory",
        ...store,
        "gen_ai.memory.record.id": "animals",
        "gen_ai.memory.record.count": 1,
      },
      { "gen_ai.operation.name": "create_memory", ...session, "gen_ai.memory.record.count": 1 },
      { "gen_ai.operation.name": "delete_memory", ...session },
    ]),
  );
  expect(new Set(spans.map(({ kind, ended }) => `${kind} ${ended}`))).toEqual(new Set(["0 1"]));
  const failed = spans.filter(({ status }) => status !== 0);
  expect(failed).toMatchObject([{ status: 2, attributes: { "error.type": "session_not_found" } }]);
});

test("spans have no content, and with `content` only the queries", async () => {
  const words = /okapi|rain forest|shy/;
  expect(JSON.stringify(await converse(false))).not.toMatch(words);
  const spans = await converse(true);
  const queries = spans.map(({ attributes }) => attributes["gen_ai.memory.query.text"]);
  expect(queries.filter((query) => query !== undefined)).toEqual(["okapis", "forest"]);
  const rest = spans.filter(({ name }) => name !== "search_memory");
  expect(JSON.stringify(rest)).not.toMatch(words);
});

test("every call of the library is a span with its failure and a measured duration", async () => {
  const { spans, tracer } = recorder();
  const measured: [number, object][] = [];
  const durations = {
    record: (value: number, attributes: object) => measured.push([value, attributes]),
  };
  const isHandle = (value: unknown): value is object =>
    value instanceof TenantEngine || value instanceof SessionHandle;
  const plain = await open(":memory:", { inThread: true });
  await using memory = traceCalls(plain, tracer, durations, isHandle);
  const acme = memory.forTenant("acme");
  const session = await acme.createSession({ id: "s1" });
  await session.append({ role: "user", content: "Where do okapis live?" });
  await session.buildContext({ tokenBudget: 1_000 });
  await (await acme.getSession("s1")).meta();
  await expect(acme.getSession("none")).rejects.toThrow("none");
  expect((await acme.listSessions()).sessions).toHaveLength(1);
  expect(memory.connections()).toBeUndefined();
  await expect(session.compact()).rejects.toMatchObject({ code: "nothing_to_compact" });
  const called = spans.map(({ name, status, attributes }) => [
    name,
    status,
    attributes["gen_ai.memory.store.id"],
    attributes["gen_ai.conversation.id"],
    attributes["error.type"],
  ]);
  expect(called).toEqual(
    [
      ["createSession", 0, "acme"],
      ["append", 0, undefined, "s1"],
      ["buildContext", 0, undefined, "s1"],
      ["getSession", 0, "acme"],
      ["getSessionMeta", 0, "acme"], // within it
      ["meta", 0, undefined, "s1"],
      ["getSession", 2, "acme", undefined, "session_not_found"],
      ["getSessionMeta", 2, "acme", undefined, "session_not_found"],
      ["listSessions", 0, "acme"],
      ["connections", 0, "default"],
      ["compact", 2, undefined, "s1", "nothing_to_compact"],
    ].map(([name, status, tenant, id, error]) => [`backscroll.${name}`, status, tenant, id, error]),
  );
  expect(spans.every(({ ended }) => ended === 1)).toBe(true);
  const labels = spans.map(({ name, attributes }) => ({
    "backscroll.call": name.slice("backscroll.".length),
    ...(attributes["error.type"] && { "error.type": attributes["error.type"] }),
  }));
  // An inner call ends first.
  const sorted = (all: readonly object[]) => all.map((each) => JSON.stringify(each)).sort();
  expect(sorted(measured.map(([, attributes]) => attributes))).toEqual(sorted(labels));
  expect(measured.every(([seconds]) => seconds >= 0 && seconds < 60)).toBe(true);
  expect(JSON.stringify(spans)).not.toContain("okapi");
});

test("the API is loaded only when telemetry is on", async () => {
  const user = new Child("./telemetry-user.ts");
  user.tell({});
  await user.succeed();
  expect(user.said()).toEqual([[], ["@opentelemetry/api"]]);
});

test("a missing package and an unknown value are reported with the way out", async () => {
  await expect(loadTelemetry("@opentelemetry/not-there")).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining("npm install @opentelemetry/not-there"),
  });
  await expect(open(":memory:", { telemetry: "on" as never })).rejects.toMatchObject({
    code: "invalid_input",
    message: 'telemetry must be one of off, spans, content, not "on"',
  });
});
