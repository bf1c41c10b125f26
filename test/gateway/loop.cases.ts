/**
 * Many turns against a faulty provider, over HTTP and through the real SDK: no message is lost, every
 * context fits, and compaction does not loop. Each policy has its own file, so that two run in parallel.
 */

import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type AutoPolicy,
  type GatewayEvent,
  type GenerateInput,
  generate,
} from "../../src/gateway/index.ts";
import { type Engine, open, type SessionHandle } from "../../src/index.ts";
import { BackscrollError } from "../../src/model/errors.ts";
import { compatibleModel } from "../../src/models.ts";
import { toolTraffic, unansweredCalls } from "../../src/transcript/tool-pairs.ts";
import { type ModelServer, startModelServer } from "../support/model-server.ts";
import { seeded } from "../support/random.ts";
import { repeats } from "../support/repeats.ts";
import { type Provider, scriptedProvider } from "./scripted-provider.ts";

const TURNS = repeats(60, 1_000);
const WINDOW = 8_000;
const FILLER = "the quick brown fox jumps over the lazy dog while it rains ".split(" ");

let memory: Engine;
let server: ModelServer;

interface Run {
  readonly session: SessionHandle;
  readonly provider: Provider;
  readonly events: readonly GatewayEvent[];
  /** Sent and delivered texts, in order, by a unique word of each. */
  readonly said: readonly string[];
  readonly delivered: readonly string[];
  readonly failures: Readonly<Record<string, number>>;
}

async function converse(policy: AutoPolicy, seed: number, turns: number): Promise<Run> {
  const random = seeded(seed);
  let spoken = 0;
  const words = (name: string) => {
    const count = random() < 0.05 ? 300 : Math.floor(random() * 60);
    const filler = Array.from({ length: count }, (_, i) => FILLER[(i + spoken) % FILLER.length]);
    return `${name} ${filler.join(" ")}`;
  };
  const provider = scriptedProvider(WINDOW, random, () => words(`answer${seed}x${spoken++}`));
  let stop = new AbortController();
  let isToStop = false;
  server.answer((request, response) => {
    // The user aborts during the model call.
    if (isToStop) stop.abort();
    return provider.answer(request, response);
  });
  const session = await memory.createSession({ agent: "coder", createdBy: "ana" });
  const model = compatibleModel({ baseUrl: server.url, model: "scripted", maxRetries: 3 });
  const events: GatewayEvent[] = [];
  const look = { inputSchema: memoryless, execute: () => words("seen") };
  const input: GenerateInput = {
    conversationId: session.id,
    model,
    contextWindow: WINDOW,
    tools: { look },
    compaction: { policy, flush: { model } },
    onEvent: (event) => events.push(event),
  };
  const said: string[] = [];
  const delivered: string[] = [];
  const failures: Record<string, number> = {};
  for (let turn = 0; turn < turns; turn++) {
    const name = `question${seed}x${turn}`;
    said.push(name);
    stop = new AbortController();
    isToStop = turn === 20 || random() < 0.03;
    const { signal } = stop;
    try {
      // Recall is a third of a turn's cost: every fourth turn recalls.
      const context = turn % 4 === 0 ? {} : { semanticRecall: false as const };
      const message = words(name);
      const { text } = await generate(memory, { ...input, context, message, signal });
      if (text !== "") delivered.push(text);
    } catch (error) {
      const kind = BackscrollError.is(error) ? String(error.details["kind"] ?? error.code) : "bug";
      failures[kind] = (failures[kind] ?? 0) + 1;
      if (kind === "bug") throw error;
    }
  }
  return { session, provider, events, said, delivered, failures };
}

/** A schema that takes anything. */
const memoryless = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value: unknown) => ({ value }),
    jsonSchema: { input: () => ({ type: "object" }), output: () => ({}) },
  },
};

async function readAll(session: SessionHandle) {
  const { total } = await session.listMessages({ limit: 1 });
  const pages = Array.from({ length: Math.ceil(total / 500) }, (_, i) =>
    session.listMessages({ offset: i * 500, limit: 500 }),
  );
  return (await Promise.all(pages)).flatMap(({ messages }) => messages);
}

const textIn = (blocks: readonly { readonly type: string }[]) =>
  blocks.map((block) => ("text" in block ? String(block.text) : "")).join("");

export interface LoopOptions {
  readonly turns?: number;
  readonly newAddress?: () => Promise<string>;
}

export function loopCases(policy: AutoPolicy, seed: number, options: LoopOptions = {}): void {
  const { turns = TURNS, newAddress = async () => ":memory:" } = options;
  let run: Run;
  let messages: Awaited<ReturnType<typeof readAll>>;

  beforeAll(async () => {
    memory = await open(await newAddress());
    server = await startModelServer();
    run = await converse(policy, seed, turns);
    messages = await readAll(run.session);
  });

  afterAll(async () => {
    await memory.close();
    await server.close();
  });

  test("covers every injected fault", () => {
    for (const count of Object.values(run.provider.counts)) expect(count).toBeGreaterThan(0);
    expect(run.failures["aborted"]).toBeGreaterThan(0);
    expect(run.failures["connection"]).toBeGreaterThan(0);
    // Every overflow is recovered from.
    expect(Object.keys(run.failures).toSorted()).toEqual(["aborted", "connection"]);
  });

  test("sends only contexts that fit", () => {
    expect(run.provider.tooLong()).toBe(0);
    const retries = run.events.filter(({ type }) => type === "overflow_retry").length;
    expect(retries).toBeGreaterThan(0);
  });

  test("loses no sent or delivered message", () => {
    const users = messages
      .filter(({ role }) => role === "user")
      .map(({ blocks }) => textIn(blocks));
    expect(users.map((text) => text.split(" ")[0])).toEqual(run.said);
    const answers = new Set(
      messages.flatMap(({ role, blocks }) => (role === "assistant" ? [textIn(blocks)] : [])),
    );
    const lost = run.delivered.filter(
      (text) => !answers.has(text) && !answers.has(text.replace("I look. ", "")),
    );
    expect(lost).toEqual([]);
  });

  test("leaves no call without its result", () => {
    const open = unansweredCalls(messages.map(({ blocks }) => toolTraffic(blocks)));
    expect([...open]).toEqual([]);
  });

  test("flushes at most once in a cycle, and goes on after a failure", () => {
    const kinds = run.events.map(({ type }) => type);
    const cycles = kinds.join(" ").split("compacted ");
    expect(Math.max(...cycles.map((cycle) => cycle.match(/\bflushed\b/g)?.length ?? 0))).toBe(1);
    expect(kinds).toContain("flush_failed");
  });

  test("does not compact in a loop", () => {
    const compacted = run.events.filter(({ type }) => type === "compacted");
    expect(compacted.length).toBeGreaterThan(turns / 100);
    expect(compacted.length).toBeLessThan(turns / 3);
    for (const event of compacted) {
      if (event.type === "compacted" && policy.name === "pi") {
        expect(event.tokensAfter).toBeLessThan(event.tokensBefore);
      }
    }
  });

  test("reports the compaction decision and its reason after every answered turn", () => {
    const decided = run.events.filter((event) => event.type === "compaction_decided");
    const failed = Object.values(run.failures).reduce((sum, count) => sum + count, 0);
    const atTheEnd = decided.filter((event) => "reason" in event && event.reason !== "overflow");
    expect(atTheEnd).toHaveLength(turns - failed);
    for (const event of decided) expect(Object.keys(event.numbers).length).toBeGreaterThan(0);
  });

  test("keeps every message searchable", async () => {
    const spoken = messages.flatMap(({ id, blocks }) => {
      const [word] = /(question|answer)\d+x\d+/.exec(textIn(blocks)) ?? [];
      return word === undefined ? [] : [{ id, word }];
    });
    expect(spoken.length).toBeGreaterThan(turns * 1.5);
    const missed: string[] = [];
    for (let i = 0; i < spoken.length; i += 10) {
      const some = spoken.slice(i, i + 10);
      const { hits } = await memory.searchSessions(some.map(({ word }) => word).join(" OR "), {
        limit: 20,
        perSession: 20,
        contextBefore: 0,
        contextAfter: 0,
      });
      const found = new Set(hits.map(({ entryId }) => entryId));
      missed.push(...some.filter(({ id }) => !found.has(id)).map(({ word }) => word));
    }
    expect(missed).toEqual([]);
  });
}
