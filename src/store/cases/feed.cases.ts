import { describe, expect, test } from "vitest";
import {
  changeBody,
  changeHash,
  contentHash,
  entryHash,
  ZERO_HASH,
} from "../../transcript/hash.ts";
import type { ChangeRecord } from "../records.ts";
import {
  append,
  type Cases,
  changesOf,
  createSession,
  label,
  message,
  newSession,
  T0,
  treeOf,
} from "./fixture.cases.ts";

export function feedCases({ store, tenant }: Cases): void {
  describe("the feed", () => {
    test("is a hash chain, numbered without gaps", async () => {
      const acme = tenant();
      const sessions = await Promise.all(
        Array.from({ length: 4 }, () => createSession(store(), acme)),
      );
      await Promise.all(
        sessions.flatMap(({ id }) =>
          Array.from({ length: 5 }, (_, i) => append(store(), acme, id, message(`${i}`))),
        ),
      );
      const { id } = sessions[0] ?? { id: "" };
      await store().updateSession(acme, id, { title: "ümläut \u2028 😀" }, T0);
      const note = { agent: "ä", name: 'quote"back\\slash', content: "", metadata: {}, now: T0 };
      await store().putMemory(acme, note);
      await store().moveLeaf(acme, { sessionId: id, leaf: null, now: T0 });
      await store().deleteSession(acme, id, "user", T0);

      const changes = await changesOf(store(), acme);
      expect(changes.map((change) => change.position)).toEqual(
        Array.from({ length: 28 }, (_, i) => i + 1),
      );
      const head = await store().feedHead(acme);
      expect(head.position).toBe(28);
      expect(Buffer.from(head.hash)).toEqual(verified(changes));
    });

    test("gives its head with the hash of a requested change", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      await append(store(), acme, id, message("a"));
      const usage = { inputTokens: 1, outputTokens: 2, cacheCreationTokens: 3, cacheReadTokens: 4 };
      await append(store(), acme, id, message("b", { usage }));
      await store().updateSession(acme, id, { title: "t" }, T0);
      for (const { position, hash } of await changesOf(store(), acme)) {
        const { hashAt } = await store().feedHead(acme, position);
        expect(Buffer.from(hashAt ?? [])).toEqual(Buffer.from(hash));
      }
      const start = await store().feedHead(acme, 0);
      expect(Buffer.from(start.hashAt ?? [])).toEqual(Buffer.from(ZERO_HASH));
      expect((await store().feedHead(acme, 99)).hashAt).toBeUndefined();
      expect((await store().feedHead(tenant(), 1)).hashAt).toBeUndefined();
    });

    test("starts empty", async () => {
      const acme = tenant();
      const head = await store().feedHead(acme);
      expect(head).toMatchObject({ position: 0, epoch: (await store().status()).epoch });
      expect(Buffer.from(head.hash)).toEqual(Buffer.from(ZERO_HASH));
      expect(await store().listChanges(acme, 7, 10, undefined)).toEqual({
        changes: [],
        through: 7,
      });
      expect(await store().listChanges(acme, 7, 10, "s")).toEqual({ changes: [], through: 7 });
    });

    test("is read page by page, filtered by session or not", async () => {
      const acme = tenant();
      const a = await createSession(store(), acme);
      const b = await createSession(store(), acme);
      for (let i = 0; i < 3; i++) {
        await append(store(), acme, a.id, message("a"));
        await append(store(), acme, b.id, message("b"));
      }
      const page = async (after: number, limit: number, session?: string) => {
        const { changes, through } = await store().listChanges(acme, after, limit, session);
        return [changes.map((change) => change.position), through];
      };
      expect(await page(0, 3)).toEqual([[1, 2, 3], 3]);
      expect(await page(3, 100)).toEqual([[4, 5, 6, 7, 8], 8]);
      expect(await page(8, 100)).toEqual([[], 8]);
      expect(await page(0, 2, a.id)).toEqual([[1, 3], 3]);
      expect(await page(3, 2, a.id)).toEqual([[5, 7], 7]);
      expect(await page(7, 2, a.id)).toEqual([[], 8]);
      expect(await page(0, 100, b.id)).toEqual([[2, 4, 6, 8], 8]);
      expect(await page(0, 100, "none")).toEqual([[], 8]);
    });

    test("has ids and hashes, never content", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme, { title: "SECRET" });
      await append(store(), acme, id, message("SECRET"), label("SECRET", "x"));
      await store().updateSession(acme, id, { title: "SECRET", summary: "SECRET" }, T0);
      const note = { agent: "a", name: "n", content: "SECRET", metadata: {}, now: T0 };
      await store().putMemory(acme, note);
      const changes = await changesOf(store(), acme);
      expect(changes.map((change) => change.details).join()).not.toContain("SECRET");
      const [, appended] = changes;
      const [entry] = await treeOf(store(), acme, id);
      expect(appended).toMatchObject({ sessionId: id, entryId: entry?.id, at: T0 });
      expect(Buffer.from(appended?.entryHash ?? [])).toEqual(Buffer.from(entry?.hash ?? "", "hex"));
    });
  });

  test("an entry's hash covers its parent's, its content and its place", async () => {
    const acme = tenant();
    const { id } = await createSession(store(), acme);
    const { ids } = await append(store(), acme, id, message("1"), message("2"));
    const usage = { inputTokens: 1, outputTokens: 2, cacheCreationTokens: 3, cacheReadTokens: 4 };
    const full = { usage, model: "m", adapter: "a", metadata: '{"x":"ü"}' };
    await append(store(), acme, id, message("2b", { parentId: ids[0] ?? "", ...full }));
    await append(store(), acme, id, label("l", ids[0] ?? ""));
    const fork = await store().forkSession(acme, { sessionId: id, session: newSession() });
    for (const sessionId of [id, fork.id]) {
      const page = await store().readEntries(acme, {
        select: "tree",
        sessionId,
        afterSequence: 0,
        limit: 100,
        payloads: false,
        isRaw: true,
      });
      const hashes = new Map<string | null, Uint8Array>([[null, page.rootHash ?? ZERO_HASH]]);
      for (const entry of page.entries) {
        const { inputTokens, outputTokens, cacheCreationTokens, cacheReadTokens } =
          entry.usage ?? NO_USAGE;
        const hash = entryHash(
          hashes.get(entry.parentId) ?? ZERO_HASH,
          contentHash(entry.nonce ?? ZERO_HASH, entry.content ?? ""),
          entry,
          { ...entry, inputTokens, outputTokens, cacheCreationTokens, cacheReadTokens },
        );
        expect(Buffer.from(entry.hash ?? "", "hex")).toEqual(hash);
        hashes.set(entry.id, hash);
      }
      expect(page.entries.length).toBeGreaterThan(2);
    }
  });
}

const NO_USAGE = {
  inputTokens: null,
  outputTokens: null,
  cacheCreationTokens: null,
  cacheReadTokens: null,
};

/** Verifies the hash chain, and gives its last hash. */
export function verified(changes: readonly ChangeRecord[]): Buffer {
  let hash: Uint8Array = ZERO_HASH;
  for (const change of changes) {
    hash = changeHash(hash, change.position, changeBody(change));
    expect(Buffer.from(change.hash)).toEqual(Buffer.from(hash));
  }
  return Buffer.from(hash);
}
