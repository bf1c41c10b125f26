import { describe, expect, test } from "vitest";
import { toHex } from "../../transcript/hash.ts";
import type { NewEntry } from "../records.ts";
import type { EraseMode } from "../requests.ts";
import type { Store } from "../store.ts";
import {
  append,
  type Cases,
  changesOf,
  createSession,
  dumpOf,
  expectCode,
  message,
  messagesOf,
  newSession,
  nextId,
  T0,
  treeOf,
} from "./fixture.cases.ts";

const SECRET = "a secret that must go";
const LARGE = `${SECRET} `.repeat(500);
const MODES: readonly EraseMode[] = ["audit-only", "ephemeral"];

const usage = { inputTokens: 3, outputTokens: 4, cacheCreationTokens: 0, cacheReadTokens: 0 };

/** A compaction of the entries before it. */
function compaction(text = "so far"): NewEntry {
  return message(text, { kind: "compaction", role: null, actor: null, interaction: false });
}

export function eraseCases({ store, tenant, fresh }: Cases): void {
  const erase = (
    own: Store,
    name: string,
    sessionId: string,
    entryIds: readonly string[],
    mode: EraseMode = "audit-only",
  ) => own.eraseContent(name, { sessionId, entryIds, mode, now: T0 + 5 });

  const factOf = (sessionId: string, sourceEntry: string | null, subject: string) => ({
    id: nextId(),
    sessionId,
    subject,
    predicate: "is",
    object: "x",
    sourceEntry,
    confidence: 1,
    createdAt: T0,
  });

  describe("eraseContent", () => {
    test.each(MODES)(
      "%s erases every byte of content, and reports it in the feed",
      async (mode) => {
        const { store: own } = await fresh();
        const { id } = await createSession(own, "a", { retention: mode });
        const entries = [message(SECRET, { usage }), message(LARGE), message("kept")];
        const { ids } = await append(own, "a", id, ...entries, compaction());
        const erased = ids.slice(0, 2);
        const [first = "", second = "", kept = ""] = ids;
        const old = factOf(id, first, SECRET);
        await own.addFacts("a", id, [old], T0);
        const newer = { ...factOf(id, second, SECRET), supersedes: [old.id] };
        const others = [factOf(id, kept, "kept"), factOf(id, null, "of no entry")];
        await own.addFacts("a", id, [newer, ...others], T0);
        const before = await treeOf(own, "a", id);

        expect(await erase(own, "a", id, erased, mode)).toEqual({ erased: 2 });
        expect(await holds(own, SECRET)).toBe(false);
        expect(await messagesOf(own, "a", id)).toEqual(["", "", "kept"]);
        expect((await dumpOf(own))["blobs"]).toBeUndefined();
        const facts = await own.listFacts("a", id, undefined, 10, true);
        expect(facts.map(({ subject }) => subject)).toEqual(["kept", "of no entry"]);

        const after = await treeOf(own, "a", id);
        expect(after.map(({ hash }) => hash)).toEqual(before.map(({ hash }) => hash));
        expect(after.map(({ parentId }) => parentId)).toEqual(before.map((each) => each.parentId));
        expect(after[0]).toMatchObject({
          content: null,
          nonce: null,
          contentBytes: 0,
          role: "user",
        });
        expect([after[0]?.actor, after[0]?.usage, after[0]?.contentHash === null]).toEqual(
          mode === "audit-only" ? ["ana", usage, false] : [null, null, true],
        );
        const kinds = (await changesOf(own, "a", id)).slice(-3);
        expect(kinds.map((change) => change.kind)).toEqual([
          "content_erased",
          "fact_deleted",
          "fact_deleted",
        ]);
        const details = JSON.parse(kinds[0]?.details ?? "{}") as Record<string, unknown>;
        expect(details).toMatchObject({ mode, entries: 2, ids: erased });
        expect(details["tokens"]).toBe(mode === "audit-only" ? undefined : 7);
      },
    );

    test("updates the counters of the session and the tenant", async () => {
      const name = tenant();
      const { id } = await createSession(store(), name);
      const [short, large] = [message("kept"), message(LARGE)];
      await append(store(), name, id, short, large);
      await erase(store(), name, id, [large.id]);
      const { tenants } = await store().status();
      const own = tenants.find((each) => each.tenant === name);
      expect(own).toMatchObject({ messages: 2, entries: 2, contentBytes: short.contentBytes });
      await store().setQuota(
        name,
        { maxSessions: null, maxEntries: null, maxContentBytes: short.contentBytes * 3 },
        T0,
      );
      await append(store(), name, id, message("more"));
      await expectCode(append(store(), name, id, message(LARGE)), "quota_exceeded");
    });

    test("is idempotent, and can turn an erased entry into a tombstone", async () => {
      const name = tenant();
      const { id } = await createSession(store(), name);
      const { ids } = await append(store(), name, id, message("one"), message("two"));
      expect(await erase(store(), name, id, [...ids, ...ids])).toEqual({ erased: 2 });
      const changes = await changesOf(store(), name);
      expect(await erase(store(), name, id, ids)).toEqual({ erased: 0 });
      expect(await changesOf(store(), name)).toEqual(changes);
      expect(await erase(store(), name, id, ids, "ephemeral")).toEqual({ erased: 2 });
      expect(await erase(store(), name, id, ids, "ephemeral")).toEqual({ erased: 0 });
      expect(await erase(store(), name, id, ids)).toEqual({ erased: 0 });
      const [first] = await treeOf(store(), name, id);
      expect(first).toMatchObject({ content: null, contentHash: null, actor: null });
    });

    test("a removal erases pinned entries too, counts them, and permanently deletes original bytes", async () => {
      const name = tenant();
      const { id } = await createSession(store(), name, { metadata: { own: "é" } });
      const { ids } = await append(store(), name, id, message("one"), message("two"));
      await store().setPinned(name, id, ids[0] ?? "", true, T0);
      const bytes = Buffer.from("one");
      const original = {
        path: "/f.jsonl",
        source: "s",
        reader: 1,
        size: 3,
        mtimeUs: 1,
        from: 0,
        parts: [{ start: 0, size: 3, bytes }],
        sessionIds: [id],
      };
      expect(await store().putOriginal(name, "w", original, T0)).toBe(true);
      const by = { token: "t", actor: "ana" };
      const removal = { sessionId: id, mode: "ephemeral", isRemoval: true, now: T0, by } as const;
      const remove = (...entryIds: string[]) =>
        store().eraseContent(name, { ...removal, entryIds });
      expect(await remove(ids[0] ?? "")).toEqual({ erased: 1 });
      expect(await remove(ids[0] ?? "")).toEqual({ erased: 0 });
      expect(await messagesOf(store(), name, id)).toEqual(["", "two"]);
      expect(await store().listOriginals(name, { limit: 10 })).toEqual([]);
      expect(await store().putOriginal(name, "w", original, T0)).toBe(false);
      expect(await remove(ids[1] ?? "")).toEqual({ erased: 1 });
      const session = await store().findSession(name, id);
      expect(session?.metadata).toEqual({ own: "é", removedEntries: 2 });
      const erased = (await changesOf(store(), name)).filter(
        ({ kind }) => kind === "content_erased",
      );
      expect(erased.map(({ details }) => JSON.parse(details ?? "{}"))).toMatchObject([
        { ids: [ids[0]], by },
        { ids: [ids[1]], by },
      ]);
    });

    test("skips pinned entries, the newest compaction, and unknown ids", async () => {
      const name = tenant();
      const { id } = await createSession(store(), name);
      const entries = [message("pinned"), compaction("old"), message("said"), compaction("new")];
      const { ids } = await append(store(), name, id, ...entries);
      await store().setPinned(name, id, ids[0] ?? "", true, T0);
      const other = await createSession(store(), name);
      const { ids: foreign } = await append(store(), name, other.id, message("foreign"));
      const named = [...ids, ...foreign, nextId()];
      expect(await erase(store(), name, id, named, "ephemeral")).toEqual({ erased: 2 });
      const contents = (await treeOf(store(), name, id)).map(({ content }) => content !== null);
      expect(contents).toEqual([true, false, false, true]);
      expect(await messagesOf(store(), name, other.id)).toEqual(["foreign"]);
    });

    test("keeps payloads that other entries reference, and a fork's copies", async () => {
      const name = tenant();
      const { id } = await createSession(store(), name);
      const { ids } = await append(store(), name, id, message(LARGE), message("two"));
      const session = newSession();
      await store().forkSession(name, { sessionId: id, session });
      await erase(store(), name, id, ids, "ephemeral");
      const copies = await treeOf(store(), name, session.id);
      expect(copies.map(({ copiedFrom }) => copiedFrom)).toEqual(ids);
      const page = await store().findEntries(name, [copies[0]?.id ?? ""], true);
      expect([...page.payloads.values()].map((bytes) => bytes.length)).toEqual([LARGE.length + 2]);
      const { sessions } = await store().listSessions(name, { parentSessionId: id }, { limit: 10 });
      expect(sessions.map((each) => each.id)).toEqual([session.id]);
    });

    test.each(MODES)("a fork copies %s entries without content", async (mode) => {
      const name = tenant();
      const { id } = await createSession(store(), name);
      const { ids } = await append(store(), name, id, message("one", { usage }), message("two"));
      await erase(store(), name, id, ids.slice(0, 1), mode);
      const session = newSession();
      await store().forkSession(name, { sessionId: id, session });
      const [first, second] = await treeOf(store(), name, session.id);
      expect(first).toMatchObject({ content: null, nonce: null, copiedFrom: ids[0] });
      expect(toHex(first?.contentHash ?? new Uint8Array())).toHaveLength(64);
      expect(second?.content).toContain("two");
    });

    test("accepts at most 500 entries", async () => {
      const name = tenant();
      const { id } = await createSession(store(), name);
      const ids = Array.from({ length: 501 }, nextId);
      await expectCode(erase(store(), name, id, ids), "too_large");
      await expectCode(erase(store(), name, nextId(), []), "session_not_found");
    });
  });

  describe("listRetentionDue", () => {
    test("lists sessions with a compaction whose retention is not applied yet", async () => {
      const name = tenant();
      const make = async (retention: EraseMode | "full", ...entries: NewEntry[]) => {
        const { id } = await createSession(store(), name, { retention });
        if (entries.length > 0) await append(store(), name, id, ...entries);
        return id;
      };
      await make("full", message("one"), compaction());
      await make("audit-only", message("one"));
      await make("ephemeral");
      const one = await make("audit-only", message("one"), compaction());
      const two = await make("ephemeral", message("one"), compaction());
      const due = (after?: string) =>
        store().listRetentionDue(name, { limit: 1, ...(after === undefined ? {} : { after }) });
      const first = { sessionId: one, retention: "audit-only", appliedThrough: 0 };
      expect(await due()).toEqual([first]);
      expect(await due(one)).toMatchObject([{ sessionId: two, retention: "ephemeral" }]);
      expect(await due(two)).toEqual([]);
      expect(await store().listRetentionDue(name, { sessionId: one })).toEqual([first]);

      const applied = { entryIds: [], mode: "audit-only", appliedThrough: 2, now: T0 } as const;
      await store().eraseContent(name, { sessionId: one, ...applied });
      expect(await store().listRetentionDue(name, { sessionId: one })).toEqual([]);
      await append(store(), name, one, compaction());
      expect(await due()).toEqual([{ ...first, appliedThrough: 2 }]);
      await store().updateSession(name, one, { title: "other" }, T0);
      expect(await due()).toEqual([{ ...first, appliedThrough: 2 }]);
      await store().updateSession(name, one, { retention: "ephemeral" }, T0);
      expect(await due()).toEqual([{ ...first, retention: "ephemeral" }]);
    });
  });
}

/** Whether any row of any table has the text, as text or as bytes; packed payloads aside. */
async function holds(store: Store, text: string): Promise<boolean> {
  const rows = JSON.stringify(await dumpOf(store));
  return rows.includes(text) || rows.includes(Buffer.from(text).toString("hex"));
}
