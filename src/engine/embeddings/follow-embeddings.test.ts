import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase } from "../../../test/support/postgres.ts";
import type { Embedder, StoredVector, VectorStore, VectorTarget } from "../../model/models.ts";
import { open } from "../../open.ts";
import type { Engine } from "../engine.ts";
import type { TenantEngine } from "../tenant-engine.ts";
import { type FollowEmbeddingsInput, followEmbeddings } from "./follow-embeddings.ts";

/** A vector of vowel counts. It records its inputs. */
class VowelCounter implements Embedder {
  readonly name = "vowels";
  readonly dimensions = 5;
  readonly batches: string[][] = [];
  failures = 0;

  async embed(texts: readonly string[]): Promise<number[][]> {
    if (this.failures-- > 0) throw new Error("not now");
    this.batches.push([...texts]);
    return texts.map((text) => [..."aeiou"].map((vowel) => text.split(vowel).length - 1));
  }

  get texts(): string[] {
    return this.batches.flat();
  }
}

/** An in-memory vector store with a real one's keys. */
class Vectors implements VectorStore {
  readonly rows = new Map<string, StoredVector>();

  async put(vectors: readonly StoredVector[]): Promise<void> {
    for (const row of vectors) this.rows.set(`${row.tenant} ${row.kind} ${row.id}`, row);
  }

  async delete(target: VectorTarget): Promise<void> {
    for (const [key, row] of this.rows) {
      const isThere = row.tenant === target.tenant && row.sessionId === target.sessionId;
      const isEntry =
        !("entryId" in target) || (row.kind === "message" && row.id === target.entryId);
      const isFact = !("factId" in target) || (row.kind === "fact" && row.id === target.factId);
      if (isThere && isEntry && isFact) this.rows.delete(key);
    }
  }

  get ids(): string[] {
    return [...this.rows.values()].map(({ id }) => id);
  }
}

let tenants = 0;

function followCases(name: string, address: () => Promise<string>): void {
  describe(name, () => {
    let engine: Engine;
    beforeAll(async () => {
      engine = await open(await address());
    });
    afterAll(() => engine.close());

    const setUp = () => {
      const tenant = engine.forTenant(`follow-${++tenants}`);
      const embedder = new VowelCounter();
      const vectors = new Vectors();
      return { tenant, embedder, vectors };
    };

    const talk = (tenant: TenantEngine) =>
      tenant.createSession({ agent: "coder", createdBy: "ana" });

    /** Follows to the current end, and gives the last cursor. */
    async function catchUp(tenant: TenantEngine, input: FollowEmbeddingsInput): Promise<string> {
      const stop = new AbortController();
      const { changes } = await tenant.listChanges({ limit: 500 });
      let cursor = "";
      for await (const progress of followEmbeddings(tenant, { ...input, signal: stop.signal })) {
        cursor = progress.cursor;
        if (cursor === changes.at(-1)?.cursor) stop.abort();
      }
      return cursor;
    }

    test("embeds whole messages and facts, with their tenant and session", async () => {
      const { tenant, embedder, vectors } = setUp();
      const session = await talk(tenant);
      const asked = await session.append({ role: "user", content: "why twice?" });
      const stream = await session.openMessage({ role: "assistant" });
      await stream.write("the lock ");
      await stream.flush();
      await stream.write("is gone, sk-abcdefghij0123456789");
      await stream.commit();
      await session.append({
        role: "assistant",
        toolCalls: [{ id: "t", name: "bash", arguments: {} }],
      });
      const [fact] = await session.addFacts([
        { subject: "cron", predicate: "runs", object: "once" },
      ]);
      await catchUp(tenant, { embedder, vectors });
      expect(embedder.texts).toEqual([
        "why twice?",
        "the lock is gone, [redacted]",
        "cron runs once",
      ]);
      expect(vectors.ids).toEqual([asked.id, stream.id, fact?.id]);
      expect([...vectors.rows.values()][0]).toEqual({
        tenant: tenant.tenant,
        sessionId: session.id,
        kind: "message",
        id: asked.id,
        vector: [0, 1, 1, 0, 0],
        embedder: "vowels",
      });
    });

    test("follows live, and stops on its signal", async () => {
      const { tenant, embedder, vectors } = setUp();
      const session = await talk(tenant);
      const stop = new AbortController();
      const seen = (async () => {
        for await (const { put } of followEmbeddings(tenant, {
          embedder,
          vectors,
          signal: stop.signal,
        })) {
          if (put > 0) stop.abort();
        }
        return embedder.texts;
      })();
      await new Promise((resolve) => setTimeout(resolve, 50));
      await session.append({ role: "user", content: "hello there" });
      expect(await seen).toEqual(["hello there"]);
    });

    test("resumes after a cursor, in batches, idempotently", async () => {
      const { tenant, embedder, vectors } = setUp();
      const session = await talk(tenant);
      const say = (from: number, count: number) =>
        session.append(
          Array.from({ length: count }, (_, i) => ({
            role: "user" as const,
            content: `message ${from + i}`,
          })),
        );
      await say(1, 5);
      const after = await catchUp(tenant, { embedder, vectors, batch: 2 });
      expect(embedder.batches.map((batch) => batch.length)).toEqual([2, 2, 1]);
      await say(6, 2);
      await catchUp(tenant, { embedder, vectors, after });
      expect(embedder.texts.slice(5)).toEqual(["message 6", "message 7"]);
      await catchUp(tenant, { embedder, vectors });
      expect(vectors.rows.size).toBe(7);
    });

    test("retries after a failure, and finally throws without losing its place", async () => {
      const { tenant, embedder, vectors } = setUp();
      const session = await talk(tenant);
      await session.append({ role: "user", content: "patience" });
      const retry = { attempts: 3, firstMs: 1, maxMs: 2 };
      embedder.failures = 2;
      const after = await catchUp(tenant, { embedder, vectors, retry });
      await session.append({ role: "user", content: "more" });
      embedder.failures = 3;
      const input = { embedder, vectors, retry, after };
      await expect(catchUp(tenant, input)).rejects.toThrow("not now");
      expect(embedder.texts).toEqual(["patience"]);
      await catchUp(tenant, input);
      expect(embedder.texts).toEqual(["patience", "more"]);
    });

    test("deletes vectors of superseded facts and deleted sessions", async () => {
      const { tenant, embedder, vectors } = setUp();
      const [session, other] = [await talk(tenant), await talk(tenant)];
      await session.append({ role: "user", content: "soon gone" });
      const kept = await other.append({ role: "user", content: "kept" });
      const fact = (object: string) => ({ subject: "Ana", predicate: "city", object });
      const facts = await other.addFacts([fact("Rome"), fact("Oslo"), fact("Nice")]);
      const after = await catchUp(tenant, { embedder, vectors });
      expect(vectors.rows.size).toBe(5);
      const [rome, oslo, nice] = facts.map(({ id }) => id);
      await tenant.supersedeFact(rome ?? "", oslo ?? "");
      await tenant.deleteFact(nice ?? "");
      await session.delete();
      await catchUp(tenant, { embedder, vectors, after });
      expect(vectors.ids).toEqual([kept.id, oslo]);
      await catchUp(tenant, { embedder, vectors });
      expect(vectors.ids).toEqual([kept.id, oslo]);
    });

    test("refuses vectors of another size", async () => {
      const { tenant, vectors } = setUp();
      await (await talk(tenant)).append({ role: "user", content: "hello" });
      const wrong: Embedder = {
        name: "short",
        dimensions: 3,
        embed: async (texts) => texts.map(() => [1]),
      };
      const retry = { attempts: 1 };
      await expect(catchUp(tenant, { embedder: wrong, vectors, retry })).rejects.toMatchObject({
        code: "model_failed",
        details: { model: "short" },
      });
    });

    test("names the invalid option", async () => {
      const { tenant, embedder, vectors } = setUp();
      const wrong: [string, object][] = [
        ["embedder", { vectors }],
        ["vectors", { embedder, vectors: { put: () => undefined } }],
        ["batch", { embedder, vectors, batch: 0 }],
      ];
      for (const [field, input] of wrong) {
        const follower = followEmbeddings(tenant, input as FollowEmbeddingsInput);
        await expect(follower.next()).rejects.toMatchObject({
          code: "invalid_input",
          details: { field },
        });
      }
      const lost = followEmbeddings(tenant, { embedder, vectors, after: "nowhere" });
      await expect(lost.next()).rejects.toMatchObject({ code: "invalid_cursor" });
    });

    test("a failing follower fails no append, and closing the store ends it", async () => {
      const { embedder, vectors } = setUp();
      const own = await open(":memory:", { inThread: true });
      const session = await talk(own);
      embedder.failures = 1_000;
      const retry = { attempts: 1_000, firstMs: 1, maxMs: 5 };
      const following = followEmbeddings(own, { embedder, vectors, retry }).next();
      for (let i = 0; i < 20; i++) await session.append({ role: "user", content: `still ${i}` });
      embedder.failures = 0;
      expect((await following).done).toBe(false);
      const rest = followEmbeddings(own, { embedder, vectors });
      while (embedder.texts.at(-1) !== "still 19") await rest.next();
      const end = rest.next();
      await own.close();
      expect((await end).done).toBe(true);
    });
  });
}

followCases("on SQLite", async () => ":memory:");
followCases("on PostgreSQL", createDatabase);
