/** Search by meaning on both databases, with an embedder behind a real server on loopback. */

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../src/client/index.ts";
import { saying } from "../src/engine/context/cases/fixture.cases.ts";
import { type Engine, open, type TenantEngine, textOf } from "../src/index.ts";
import { compatibleEmbedder } from "../src/models.ts";
import { openServer } from "../src/server/serve.ts";
import { type EmbeddingServer, fails, startEmbeddingServer } from "./support/embedding-server.ts";
import { removeFolder } from "./support/folder.ts";
import { createDatabase } from "./support/postgres.ts";

let server: EmbeddingServer;

beforeAll(async () => {
  server = await startEmbeddingServer();
});

afterAll(() => server.close());

/** Deadline on a slow machine. */
const PATIENT = { timeout: 60_000, interval: 20 };

function embedder(model = "bag-of-words") {
  return compatibleEmbedder({ baseUrl: server.url, model, maxRetries: 0 });
}

/** Without the deadline of queries: tests wait for answers. */
function openWith(
  address: string,
  model?: string,
  onWarning: (told: string) => void = () => undefined,
): Promise<Engine> {
  const options = { embedDeadlineMs: 60_000, inThread: true, onWarning };
  return open(address, { ...options, embedder: embedder(model) });
}

/** Waits until every written message has a vector. */
async function embedded(tenant: TenantEngine, vectors: number): Promise<void> {
  await expect
    .poll(async () => (await tenant.indexStatus()).vectors?.vectors ?? 0, PATIENT)
    .toBe(vectors);
}

async function talk(tenant: TenantEngine, ...texts: string[]) {
  const session = await tenant.createSession({ agent: "coder", createdBy: "ana" });
  for (const [i, content] of texts.entries()) {
    const role = i % 2 === 0 ? "user" : "assistant";
    await session.append({ role, actor: i % 2 === 0 ? "ana" : "coder", content });
  }
  return session;
}

async function find(tenant: TenantEngine, query: string, options = {}): Promise<string[]> {
  const { hits } = await tenant.searchSessions(query, options);
  return hits.map(({ sessionId }) => sessionId);
}

function meaningCases(name: string, address: () => Promise<string>): void {
  describe(name, () => {
    test("finds paraphrases soon after they were stored", async () => {
      await using memory = await openWith(await address());
      const pet = await talk(memory, "The cat sleeps on the sofa.", "Let it rest there.");
      await talk(memory, "My automobile needs new tyres.");
      await embedded(memory, 3);
      expect(await find(memory, "kitten naps")).toEqual([pet.id]);
      const { hits } = await memory.searchSessions("kitten naps", { explain: true });
      expect(hits[0]?.parts).toMatchObject({ message: 0, coverage: 0 });
      expect(hits[0]?.parts?.meaning).toBeGreaterThan(0);
      expect(hits[0]?.index).toBe(0);
      expect(await find(memory, "kitten naps", { ranking: { meaning: 0 } })).toEqual([]);
    });

    test("embeds stored messages on request only, and resumes", async () => {
      const place = await address();
      {
        await using before = await open(place, { inThread: true });
        for (let i = 0; i < 6; i++) await talk(before, `The cat sleeps, part ${i}.`);
      }
      await using memory = await openWith(place);
      server.clear();
      expect(await find(memory, "kitten naps")).toEqual([]);
      const fresh = await talk(memory, "A feline dozes by the fire.");
      await embedded(memory, 1);
      expect(server.requests.flatMap(({ input }) => input)).toEqual([
        "A feline dozes by the fire.",
      ]);
      expect(await find(memory, "kitten naps")).toEqual([fresh.id]);
      expect((await memory.indexStatus()).vectors?.gaps).toEqual([{ from: 0, to: 12 }]);

      const estimate = await memory.estimateEmbedding();
      expect(estimate).toMatchObject({ embedder: "bag-of-words", changes: 12, cost: null });
      const done: number[] = [];
      const onProgress = ({ changes }: { readonly changes: number }) => done.push(changes);
      expect(await memory.embedStored({ onProgress })).toMatchObject({ vectors: 6, total: 12 });
      expect(done.at(-1)).toBe(12);
      expect(await memory.embedStored()).toMatchObject({ vectors: 0 });
      expect((await memory.indexStatus()).vectors).toMatchObject({ gaps: [], vectors: 7 });
      expect(await find(memory, "kitten naps")).toHaveLength(7);
    });

    test("keeps its embedder until told otherwise", async () => {
      const place = await address();
      {
        await using memory = await openWith(place);
        await talk(memory, "The cat sleeps.");
        await embedded(memory, 1);
      }
      const warnings: string[] = [];
      const options = { embedDeadlineMs: 60_000, inThread: true };
      await using other = await open(place, {
        ...options,
        embedder: embedder("another"),
        onWarning: (sentence) => warnings.push(sentence),
      });
      await talk(other, "The car is broken.");
      await expect.poll(() => warnings, PATIENT).toHaveLength(1);
      expect(warnings[0]).toMatch(/are of bag-of-words .* not of another; .*--again/);
      const { hits, notes } = await other.searchSessions("cat");
      expect([hits.length, notes]).toEqual([1, [expect.stringMatching(/^Searched by words only/)]]);
      await expect(other.embedStored()).rejects.toMatchObject({ code: "embedder_conflict" });
      expect(await other.embedStored({ again: true })).toMatchObject({ vectors: 2 });
      expect((await other.indexStatus()).vectors).toMatchObject({ embedder: "another", gaps: [] });
      expect(await find(other, "kitten")).toHaveLength(1);
    });

    test("says that its vectors have other dimensions, and searches by words", async () => {
      const place = await address();
      const sized = (dimensions: number) => ({
        name: "sized",
        dimensions,
        embed: async (texts: readonly string[]) =>
          texts.map((text) => Float32Array.from({ length: dimensions }, (_, i) => text.length + i)),
      });
      const options = { embedDeadlineMs: 60_000, inThread: true, onWarning: () => undefined };
      {
        await using memory = await open(place, { ...options, embedder: sized(6) });
        await talk(memory, "The cat sleeps.");
        await memory.putMemory({ agent: "coder", name: "cats", content: "Cats sleep a lot." });
        await embedded(memory, 2);
      }
      await using other = await open(place, { ...options, embedder: sized(8) });
      const { hits, notes } = await other.searchSessions("cat");
      const why = "the vectors of this store have 6 dimensions, not 8.";
      expect([hits.length, notes]).toEqual([1, [`Searched by words only: ${why}`]]);
      expect(await other.searchMemory("cats")).toHaveLength(1);
      expect(await other.searchMemory("payment")).toEqual([]);
    });

    test("never finds deleted or erased text, and a purge removes its vectors", async () => {
      await using memory = await openWith(await address());
      const gone = await talk(memory, "The cat sleeps here.", "Fine.");
      const kept = await memory.createSession({
        agent: "coder",
        createdBy: "ana",
        retention: "audit-only",
      });
      const said = ["The cat sleeps there.", "It does.", "The payment is slow.", "It is."];
      for (const [i, content] of said.entries()) {
        await kept.append({ role: i % 2 === 0 ? "user" : "assistant", content });
      }
      await embedded(memory, 6);
      await memory.deleteSession(gone.id);
      expect(await find(memory, "kitten naps")).toEqual([kept.id]);
      await kept.compact({ keep: { messages: 2 }, summarizer: saying("They spoke.") });
      expect(await find(memory, "kitten naps")).toEqual([]);
      expect(await find(memory, "sluggish billing")).toEqual([kept.id]);
      await memory.maintainIndex("purge");
      expect((await memory.indexStatus()).vectors?.vectors).toBe(2);
      expect(await find(memory, "sluggish billing")).toEqual([kept.id]);
    });

    test("keeps tenants apart, and respects the scope", async () => {
      await using memory = await openWith(await address());
      const [acme, other] = [memory.forTenant("acme"), memory.forTenant("other")];
      const ours = await talk(acme, "The cat sleeps.");
      const second = await talk(acme, "A kitten dozes.", "A feline naps.");
      await talk(other, "The cat sleeps.");
      await embedded(acme, 3);
      await embedded(other, 1);
      expect(new Set(await find(acme, "feline naps"))).toEqual(new Set([second.id, ours.id]));
      expect(await find(acme, "feline dozes", { session: ours.id })).toEqual([ours.id]);
      expect(await find(acme, "feline dozes", { excludeSession: second.id })).toEqual([ours.id]);
      const { hits } = await acme.searchSessions("dozing cats feline", { role: "assistant" });
      expect(hits.map(({ sessionId, index }) => [sessionId, index])).toEqual([[second.id, 1]]);
      expect(await find(acme, "automobile", { since: 0, until: 1 })).toEqual([]);
    });

    test("an append never fails because of it, and words answer without a vector", async () => {
      const warnings: string[] = [];
      await using memory = await openWith(await address(), undefined, (told) => {
        warnings.push(told);
      });
      await talk(memory, "The cat sleeps.");
      await embedded(memory, 1);
      // More than the retries of new messages use up until the searches.
      server.next(...Array.from({ length: 1_000 }, () => fails(500)));
      const session = await talk(memory, "The payment is broken.");
      await expect.poll(() => warnings, PATIENT).toEqual([expect.stringContaining("500")]);
      expect(await find(memory, "payment")).toEqual([session.id]);
      const { hits, notes } = await memory.searchSessions("broken payment");
      expect([hits.length, notes]).toEqual([
        1,
        [expect.stringMatching(/^Searched by words only.*500/)],
      ]);
      server.clear();
    });

    test("sends message text alone, without secrets, and each text once", async () => {
      const place = await address();
      const secret = `ghp_${"a1B2".repeat(9)}`;
      await using before = await open(place, { inThread: true });
      const session = await before.createSession({ agent: "coder", createdBy: "ana" });
      await session.append({ role: "user", content: `Use ${secret} for the database.` });
      await session.append({
        role: "assistant",
        content: "Looking at the storage.",
        toolCalls: [{ id: "1", name: "read_file", input: { path: "secret-input.txt" } }],
      });
      await session.append({ role: "tool", toolResults: [{ id: "1", output: "tool-output" }] });
      await session.append({ role: "assistant", content: "It is there." });
      await session.append({ role: "user", metadata: { recalled: true }, content: "an echo" });
      await before.close();
      await using memory = await openWith(place);
      server.clear();
      expect(await memory.embedStored()).toMatchObject({ vectors: 2 });
      // The first call asks how many dimensions there are.
      const [, ...sent] = server.requests.flatMap(({ input }) => input);
      expect(sent).toHaveLength(2);
      expect(sent.join()).not.toMatch(/ghp_|secret-input|tool-output|an echo/);
      // Messages of one side before and after a tool call are one run with one vector.
      expect(sent[1]).toBe("Looking at the storage.\nIt is there.");
    });

    test("a session about the subject ranks above sessions that mention it once", async () => {
      await using memory = await openWith(await address());
      const once = ["The cat sleeps.", "Fine.", "My automobile needs new tyres.", "Fine."];
      await talk(memory, ...once);
      const subject = await talk(
        memory,
        "The cat sleeps.",
        "A cat naps.",
        "Kitten sleeps.",
        "Fine.",
      );
      await talk(memory, ...once);
      await embedded(memory, 12);
      const { hits } = await memory.searchSessions("feline dozes");
      expect(hits).toHaveLength(3);
      expect(hits[0]?.sessionId).toBe(subject.id);
      const similarities = hits.map(({ similarity = 0 }) => similarity);
      expect(Math.min(...similarities)).toBeGreaterThan(0.5);
    });

    test("vectors weigh less where tool outputs match the query", async () => {
      await using memory = await openWith(await address());
      const query = "laggy storage E4711";
      await talk(memory, "The database is slow.");
      const session = await memory.createSession({ agent: "coder", createdBy: "ana" });
      await session.append({
        role: "assistant",
        toolCalls: [{ id: "1", name: "read_log" }],
        toolResults: [{ id: "1", name: "read_log", output: query }],
      });
      await embedded(memory, 1);
      const meaningOf = async () => {
        const { hits } = await memory.searchSessions(query, { explain: true });
        expect(hits[0]?.sessionId).toBe(session.id);
        return hits.map(({ parts }) => parts?.meaning);
      };
      expect(await meaningOf()).toEqual([0, 0]);
      await session.append({ role: "user", content: `I read: ${query}` });
      await embedded(memory, 2);
      const [own = 0, other = 0] = await meaningOf();
      expect(own).toBeGreaterThan(other);
      expect(other).toBeGreaterThan(0);
    });

    test("a context recalls messages above the similarity threshold, over REST as well", async () => {
      await using memory = await openWith(await address());
      const said = ["The cat sleeps.", "I see.", "My cat is ill today.", "I see.", "Go on."];
      const session = await talk(memory, ...said);
      await embedded(memory, 5);
      const query = "kitten naps";
      const { hits } = await memory.searchSessions(query, { session: session.id, perSession: 2 });
      expect(hits.map(({ index }) => index)).toEqual([0, 2]);
      const [near = 0, far = 0] = hits.map(({ similarity }) => similarity ?? 0);
      expect(near - far).toBeGreaterThan(0.1);

      const served = await openServer(memory, { version: "0.0.0", port: 0 });
      const remote = await connect(`http://127.0.0.1:${served.port}`);
      try {
        for (const each of [session, await remote.getSession(session.id)]) {
          const recalled = async (threshold: number) => {
            const input = { tokenBudget: 2_000, recentTurns: 1, query };
            const { messages } = await each.buildContext({
              ...input,
              semanticRecall: { threshold },
            });
            const found = messages.find(({ part }) => part === "recalled");
            return textOf(found?.blocks ?? []).match(/The cat sleeps|My cat is ill/g) ?? [];
          };
          expect((await recalled(far - 0.01)).sort()).toEqual(["My cat is ill", "The cat sleeps"]);
          expect(await recalled(far + 0.01)).toEqual(["The cat sleeps"]);
          expect(await recalled(near + 0.01)).toEqual([]);
          await expect(recalled(1.1)).rejects.toThrow(".threshold");
        }
      } finally {
        await remote.close();
        await served.stop(100);
      }
    });

    test("memories and facts are found by meaning, and not once deleted", async () => {
      await using memory = await openWith(await address());
      const session = await talk(memory, "Hello.");
      await memory.putMemory({ agent: "coder", name: "pet", content: "The cat sleeps a lot." });
      await memory.putMemory({ agent: "coder", name: "bill", content: "The payment is late." });
      const [fact] = await session.addFacts([
        { subject: "car", predicate: "is", object: "broken" },
      ]);
      await embedded(memory, 4);
      const names = async (query: string) =>
        (await memory.searchMemory(query)).map((each) => each.name);
      expect(await names("kitten naps")).toEqual(["pet"]);
      expect((await memory.searchFacts("faulty vehicle")).map(({ id }) => id)).toEqual([fact?.id]);
      await memory.putMemory({ agent: "coder", name: "pet", content: "An invoice." });
      await embedded(memory, 5);
      expect(await names("kitten naps")).toEqual([]);
      expect(new Set(await names("billing"))).toEqual(new Set(["pet", "bill"]));
      await memory.maintainIndex("purge");
      expect((await memory.indexStatus()).vectors?.vectors).toBe(4);
      expect(new Set(await names("billing"))).toEqual(new Set(["pet", "bill"]));
    });
  });
}

const folder = mkdtempSync(join(tmpdir(), "backscroll-meaning-"));
let files = 0;

afterAll(() => removeFolder(folder));

meaningCases("on SQLite", async () => join(folder, `${++files}.db`));
meaningCases("on PostgreSQL", createDatabase);
