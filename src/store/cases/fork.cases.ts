import { describe, expect, test } from "vitest";
import type { Store } from "../store.ts";
import {
  append,
  type Cases,
  createSession,
  dumpOf,
  expectCode,
  feedOf,
  label,
  message,
  messagesOf,
  newSession,
  nextId,
  T0,
  treeOf,
} from "./fixture.cases.ts";

const LARGE = "payload ".repeat(2_000);

export function forkCases({ store, tenant, fresh }: Cases): void {
  describe("forkSession", () => {
    test("copies the path to an entry under new ids into a new session", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const { ids } = await append(store(), acme, id, message("1"), message("2"), message("3"));
      const mark = label("mark", ids[1] ?? "");
      await append(store(), acme, id, message("2b", { parentId: ids[1] ?? "" }), mark);
      const fork = await store().forkSession(acme, {
        sessionId: id,
        through: ids[1] ?? "",
        session: newSession({ startedAt: T0 + 5, now: T0 + 9, title: "fork" }),
      });

      expect(fork).toMatchObject({
        parentSessionId: id,
        forkPoint: ids[1],
        title: "fork",
        messageCount: 2,
        entryCount: 2,
        participants: ["ana"],
        lastWriteAt: T0 + 9,
      });
      expect(await messagesOf(store(), acme, fork.id)).toEqual(["1", "2"]);
      const [one, two] = await treeOf(store(), acme, fork.id);
      expect([one?.copiedFrom, two?.copiedFrom]).toEqual([ids[0], ids[1]]);
      expect(ids).not.toContain(one?.id);
      expect(fork.leaf).toBe(two?.id);
      expect(await messagesOf(store(), acme, id)).toEqual(["1", "2", "2b"]);
      await append(store(), acme, fork.id, message("3 of the fork"));
      expect(await messagesOf(store(), acme, id)).toEqual(["1", "2", "2b"]);
    });

    test("a session created as a fork extends the given hash chain", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const { ids } = await append(store(), acme, id, message("1"));
      const [point] = await treeOf(store(), acme, id);
      const rootHash = Uint8Array.from(Buffer.from(point?.hash ?? "", "hex"));
      const fork = { parentSessionId: id, forkPoint: ids[0] ?? "", rootHash };
      const made = await store().createSession(acme, newSession({ fork }));
      expect(made).toMatchObject({ parentSessionId: id, forkPoint: ids[0], messageCount: 0 });
      await append(store(), acme, made.id, message("1", { copiedFrom: ids[0] ?? "" }));
      const { entries, rootHash: root } = await store().readEntries(acme, {
        select: "tree",
        sessionId: made.id,
        afterSequence: 0,
        limit: 10,
        payloads: false,
      });
      expect(entries[0]?.copiedFrom).toBe(ids[0]);
      expect(Buffer.from(root ?? []).toString("hex")).toBe(point?.hash);
    });

    test("extends the hash chain from the fork point", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const { ids } = await append(store(), acme, id, message("1"));
      const fork = await store().forkSession(acme, { sessionId: id, session: newSession() });
      const [original] = await treeOf(store(), acme, id);
      const page = await store().readEntries(acme, {
        select: "tree",
        sessionId: fork.id,
        afterSequence: 0,
        limit: 1,
        payloads: false,
      });
      expect(Buffer.from(page.rootHash ?? [])).toEqual(Buffer.from(original?.hash ?? "", "hex"));
      expect(page.entries[0]?.copiedFrom).toBe(ids[0]);
    });

    test("renames entry ids inside annotations, and leaves out aborted messages", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const { ids } = await append(store(), acme, id, message("1"));
      await append(
        store(),
        acme,
        id,
        label("mark", ids[0] ?? ""),
        message("gone", { status: "aborted" }),
        message("2"),
      );
      const fork = await store().forkSession(acme, { sessionId: id, session: newSession() });
      const copies = await treeOf(store(), acme, fork.id);
      expect(copies.map((entry) => entry.kind)).toEqual(["message", "label", "message"]);
      const target = JSON.parse(copies[1]?.content ?? "").data.targetId;
      expect(target).toBe(copies[0]?.id);
    });

    test("adds references to payloads, which outlive the original", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      await append(store(), acme, id, message(LARGE));
      const fork = await store().forkSession(acme, { sessionId: id, session: newSession() });
      await store().deleteSession(acme, id, "user", T0);
      await store().sweep({ tenant: acme, now: T0, limit: 100 });
      expect(await payloadTexts(store(), acme, fork.id)).toEqual([LARGE]);
    });

    test("copies a path longer than one page", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const many = Array.from({ length: 620 }, (_, i) => message(String(i)));
      await store().append(acme, { sessionId: id, entries: many, now: T0 });
      const fork = await store().forkSession(acme, { sessionId: id, session: newSession() });
      expect(fork).toMatchObject({ messageCount: 620, entryCount: 620 });
      const last = await store().findEntries(acme, [fork.leaf ?? ""], false);
      expect(last.entries[0]).toMatchObject({ ordinal: 620, copiedFrom: many.at(-1)?.id });
    });

    test("executes a request once per idempotency key", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      await append(store(), acme, id, message("1"));
      const idempotency = { key: "fork", requestHash: "ab".repeat(32) };
      const request = () => ({ sessionId: id, session: newSession({ idempotency }) });
      const first = await store().forkSession(acme, request());
      expect(await store().forkSession(acme, request())).toEqual(first);
      expect(await feedOf(store(), acme, 2)).toEqual(["session_created", "entry_appended"]);
    });

    test("refuses unknown ids, an empty session, an annotation and a taken id", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const fork = (over: { sessionId?: string; through?: string; id?: string }) =>
        store().forkSession(acme, {
          sessionId: over.sessionId ?? id,
          ...(over.through === undefined ? {} : { through: over.through }),
          session: newSession(over.id === undefined ? {} : { id: over.id }),
        });
      await expectCode(fork({ sessionId: "none" }), "session_not_found");
      await expectCode(fork({}), "entry_not_found");
      const { ids } = await append(store(), acme, id, message("1"));
      const mark = label("x", ids[0] ?? "");
      await append(store(), acme, id, mark);
      await expectCode(fork({ through: nextId() }), "entry_not_found");
      await expectCode(fork({ through: mark.id }), "invalid_input");
      await expectCode(fork({ id }), "session_exists");
      await expectCode(fork({ id, through: nextId() }), "entry_not_found");
      expect((await store().listSessions(acme, {}, { limit: 10 })).sessions).toHaveLength(1);
    });

    test("writes nothing when it is refused", async () => {
      const { store: own } = await fresh();
      const { id } = await createSession(own, "a");
      await append(own, "a", id, message("1"));
      const before = await dumpOf(own);
      const session = newSession({ id });
      await expectCode(own.forkSession("a", { sessionId: id, session }), "session_exists");
      expect(await dumpOf(own)).toEqual(before);
    });
  });
}

/** The texts of the large payloads of a session's messages. */
export async function payloadTexts(
  store: Store,
  tenant: string,
  sessionId: string,
): Promise<string[]> {
  const page = await store.readEntries(tenant, {
    select: "messages",
    sessionId,
    offset: 0,
    limit: 100,
    payloads: true,
  });
  return page.entries.map((entry) => {
    const [block] = JSON.parse(entry.content ?? "[]") as { text: { blob: string } }[];
    const bytes = page.payloads.get(block?.text.blob ?? "");
    return JSON.parse(Buffer.from(bytes ?? []).toString("utf8")) as string;
  });
}
