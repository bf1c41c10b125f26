/** The load generators of `bench serve`, each in its own process. */

import { Agent, request } from "node:http";
import { open } from "./library.ts";
import type { Figures } from "./measure.ts";
import { SearchCorpus } from "./search-corpus.ts";
import { rssOf } from "./serve-subjects.ts";
import { randomNumbers, Words } from "./synthetic.ts";

export interface FillTask {
  readonly address: string;
  readonly messages: number;
  /** Sessions take turns among these; the default tenant if left out. */
  readonly tenants?: readonly string[];
}

export interface LoadTask {
  readonly url: string;
  readonly connections: number;
  readonly sessions: number;
  /** Requests a second, open loop: sent whether or not earlier ones were answered. */
  readonly rate: number;
  readonly seconds: number;
  /** Of the tenants that the sessions take turns among; none is needed on this machine. */
  readonly tokens?: readonly string[];
  /** Default `mostly appends`. */
  readonly mix?: Mix;
}

type Kind = "append" | "list" | "search";
type Mix = "mostly appends" | "even" | "thirds";

/** The share of appends, and that of appends and lists; the rest are searches. */
const MIXES: Readonly<Record<Mix, readonly [number, number]>> = {
  "mostly appends": [0.8, 0.95],
  even: [0.5, 0.5],
  thirds: [1 / 3, 2 / 3],
};

/**
 * The load runs this long before it is measured: each search thread compiles its code and reads each
 * tenant's index, which `search` measures as its first answers.
 */
const WARM_UP_SECONDS = 10;

/** 20 a second. */
const FOLLOWED_APPENDS = 600;

/** Writes are spread over all sessions. */
const idOf = (session: number) => `session-${session}`;

export async function fillStore({ address, messages, tenants }: FillTask): Promise<Figures> {
  const engine = await open(address, { durability: "process" });
  const filled = tenants?.map((name) => engine.forTenant(name)) ?? [engine];
  const corpus = new SearchCorpus(7);
  let sessions = 0;
  let batch: { role: "user" | "assistant"; content: string }[] = [];
  const store = async () => {
    if (batch.length === 0) return;
    const tenant = filled[sessions % filled.length] ?? engine;
    const id = idOf(sessions++);
    const session = await tenant.createSession({ id, agent: "bench", createdBy: "person" });
    await session.append(batch);
    batch = [];
  };
  let current = 0;
  for (const { session, role, text } of corpus.messages(messages)) {
    if (session !== current) await store();
    current = session;
    batch.push({ role, content: text });
  }
  await store();
  for (const tenant of filled) await tenant.maintainIndex("maintain");
  await engine.close();
  return { sessions };
}

/**
 * Latency counts from the scheduled time, not from the time of sending (no coordinated omission).
 */
export async function openLoop(task: LoadTask): Promise<Figures> {
  const { rate, seconds, connections, mix = "mostly appends" } = task;
  const [appends, reads] = MIXES[mix];
  const kindOf = (random: number): Kind => {
    if (random < appends) return "append";
    return random < reads ? "list" : "search";
  };
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const send = sender(task, agent);
  const times: Record<Kind, number[]> = { append: [], list: [], search: [] };
  const random = randomNumbers(3);
  const pending = new Set<Promise<void>>();
  let failed = 0;
  for (let i = 0; i < 200; i++) await send(kindOf(random()), random());
  const start = performance.now();
  const unmeasured = rate * WARM_UP_SECONDS;
  const total = unmeasured + rate * seconds;
  for (let i = 0; i < total; ) {
    const due = start + (i * 1_000) / rate;
    const wait = due - performance.now();
    if (wait > 1) await new Promise((resolve) => setTimeout(resolve, wait));
    const kind = kindOf(random());
    const isMeasured = i >= unmeasured;
    const one = send(kind, random()).then(
      (status) => {
        if (status >= 400) failed++;
        if (isMeasured) times[kind].push(performance.now() - due);
      },
      () => {
        failed++;
      },
    );
    pending.add(one);
    void one.finally(() => pending.delete(one));
    i++;
    // Yields to the event loop while many requests are due at once.
    if (i % 16 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(pending);
  agent.destroy();
  const all = Object.values(times).flat();
  return {
    ...figuresOf("append", times.append),
    ...figuresOf("list", times.list),
    ...figuresOf("search", times.search),
    p90Ms: percentile(all, 90),
    answeredPerSecond: (1_000 * all.length) / (performance.now() - start - 1_000 * WARM_UP_SECONDS),
    failed,
  };
}

/**
 * Idle subscribers of the feed; then a change per tenant, which all its subscribers must get; then
 * appends, which each gets with its entry; then other callers alone, for as long.
 */
export async function holdSubscribers({
  url,
  count,
  tokens,
  pid,
}: {
  readonly url: string;
  readonly count: number;
  /** Tenants that share the subscribers. */
  readonly tokens: readonly string[];
  readonly pid: number;
}): Promise<Figures> {
  const agent = new Agent({ keepAlive: false, maxSockets: count + 10 });
  let heard = 0;
  const close: (() => void)[] = [];
  for (let i = 0; i < count; i++) {
    await new Promise<void>((resolve, reject) => {
      const authorization = `Bearer ${tokens[i % tokens.length]}`;
      const headers = { accept: "text/event-stream", authorization };
      const path = `${url}/v1/changes?include_entries=true`;
      const sent = request(path, { agent, headers }, (response) => {
        response.setEncoding("utf8").on("data", (text: string) => {
          if (text.includes("session_created")) heard++;
        });
        response.on("error", () => undefined);
        resolve();
      });
      sent.on("error", reject);
      sent.end();
      close.push(() => sent.destroy());
    });
  }
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  const rssMb = rssOf(pid);
  const start = performance.now();
  const one = new Agent({ keepAlive: true });
  const post = (token: string, path: string, body: object) =>
    exchange(one, token, "POST", url + path, JSON.stringify(body));
  const id = "followed";
  await Promise.all(
    tokens.map((token) =>
      post(token, "/v1/sessions", { id, agent: "bench", created_by: "person" }),
    ),
  );
  while (heard < count && performance.now() - start < 30_000) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const heardByAllMs = performance.now() - start;
  const words = new Words(11, 20_000);
  const append = async () => {
    for (let i = 0; i < FOLLOWED_APPENDS; i++) {
      const messages = [{ role: "user", content: words.text(80) }];
      await post(tokens[i % tokens.length] ?? "", `/v1/sessions/${id}/messages`, { messages });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  await append();
  const rssLiveMb = rssOf(pid);
  for (const end of close) end();
  await append();
  one.destroy();
  return { rssMb, heard, heardByAllMs, rssLiveMb, rssAfterMb: rssOf(pid) };
}

function sender(
  { url, sessions, tokens = [] }: LoadTask,
  agent: Agent,
): (kind: Kind, random: number) => Promise<number> {
  const words = new Words(11, 20_000);
  const corpus = new SearchCorpus(13);
  return (kind, random) => {
    const session = Math.floor(random * sessions);
    const id = idOf(session);
    const token = tokens[session % tokens.length];
    if (kind === "append") {
      const body = JSON.stringify({ messages: [{ role: "user", content: words.text(40) }] });
      return exchange(agent, token, "POST", `${url}/v1/sessions/${id}/messages`, body);
    }
    if (kind === "list") {
      return exchange(agent, token, "GET", `${url}/v1/sessions/${id}/messages?limit=50`);
    }
    const query = encodeURIComponent(corpus.query("question"));
    return exchange(agent, token, "GET", `${url}/v1/search?q=${query}`);
  };
}

function exchange(
  agent: Agent,
  token: string | undefined,
  method: string,
  url: string,
  body?: string,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined
        ? {}
        : { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
    };
    const sent = request(url, { agent, method, headers }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

function figuresOf(name: string, times: readonly number[]): Figures {
  if (times.length === 0) return {};
  return {
    [`${name}P50Ms`]: percentile(times, 50),
    [`${name}P99Ms`]: percentile(times, 99),
  };
}

function percentile(times: readonly number[], percent: number): number {
  const sorted = Float64Array.from(times).sort();
  const at = Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100));
  return sorted[at] ?? Number.NaN;
}
