import { describe, expect, test } from "vitest";
import { textOf as blocksText } from "../../model/block.ts";
import type { FeedSlice } from "../../search/port.ts";
import type { Store } from "../store.ts";
import {
  append,
  type Cases,
  changesOf,
  createSession,
  label,
  message,
  nextId,
  T0,
  treeOf,
} from "./fixture.cases.ts";
import { answerTo, sessionNumbers } from "./index-fixture.cases.ts";
import { recordPut } from "./records.cases.ts";

const LARGE = `needle ${"in a payload of its own ".repeat(1_000)}`;

/** Compares slices of the feed with the rest of the port. */
export function indexNeedsCases({ store, tenant, fresh }: Cases): void {
  describe("a feed slice has", () => {
    test("exactly the committed messages, with their current content", async () => {
      const name = tenant();
      const { id } = await createSession(store(), name);
      const metadata = JSON.stringify({ a: 1 });
      const { ids } = await append(store(), name, id, message("one", { metadata }), message(LARGE));
      await append(store(), name, id, label("mark", ids[0] ?? ""));
      await append(store(), name, id, message("gone", { status: "aborted" }));
      await append(store(), name, id, message("edit", { parentId: null, role: "assistant" }));
      const slice = await feedOf(store(), name);
      const number = (await sessionNumbers(store(), name)).get(id);
      const tree = await treeOf(store(), name, id);
      const expected = tree.filter((e) => e.kind === "message" && e.status === "committed");
      expect(slice.entries.map(({ blocks }) => blocksText(blocks))).toEqual(["one", LARGE, "edit"]);
      const changes = await changesOf(store(), name);
      expect(slice.entries).toMatchObject(
        expected.map((e) => ({
          position: changes.find((c) => c.entryId === e.id)?.position,
          session: number,
          sequence: e.sequence,
          chain: e.chain,
          depth: e.depth,
          kind: e.kind,
          role: e.role,
          status: e.status,
          actor: e.actor,
          createdAt: e.createdAt,
          metadata: e.metadata,
        })),
      );
      expect(slice).toMatchObject({ through: changes.length, head: changes.length });
      expect(slice.touched).toEqual([number]);
    });

    test("no gap to the next slice, whatever the limit", async () => {
      const name = tenant();
      const { id } = await createSession(store(), name);
      for (let i = 0; i < 5; i++) await append(store(), name, id, message(`${i}`), message("x"));
      const whole = await feedOf(store(), name);
      const entries: unknown[] = [];
      let after = 0;
      for (;;) {
        const slice = await answerTo(store(), name, { need: "feed", after, limit: 3 });
        expect(slice.head).toBe(whole.head);
        entries.push(...slice.entries);
        if (slice.through === after) break;
        after = slice.through;
      }
      expect(after).toBe(whole.head);
      expect(entries).toEqual(whole.entries);
    });

    test("a bounded number of huge messages", async () => {
      const { store: own } = await fresh();
      const name = tenant();
      const { id } = await createSession(own, name);
      const huge = "x".repeat(400 * 1024);
      for (let i = 0; i < 3; i++) await append(own, name, id, message(`${i}${huge}`));
      const slice = await answerTo(own, name, { need: "feed", after: 0, limit: 100 });
      expect(slice.entries).toHaveLength(2);
      const { through: after } = slice;
      const rest = await answerTo(own, name, { need: "feed", after, limit: 100 });
      expect(rest.entries).toHaveLength(1);
      expect(rest.through).toBe(rest.head);
    });

    test("each changed session once, at its last change", async () => {
      const name = tenant();
      const one = await createSession(store(), name, {
        title: "one",
        agent: "planner",
        startedAt: T0 - 5,
        origin: { projectPath: "/home/ana/app" },
        metadata: { machineMade: true },
      });
      const two = await createSession(store(), name, { title: "two" });
      await store().updateSession(name, one.id, { title: "first" }, T0);
      const { ids } = await append(store(), name, two.id, message("x"));
      const compaction = message("sum", { kind: "compaction", role: null });
      const summary = { text: "sum", through: ids[0] ?? "" };
      const request = { sessionId: two.id, entries: [compaction], summary, now: T0 };
      await store().append(name, request);
      const numbers = await sessionNumbers(store(), name);
      const { sessions } = await feedOf(store(), name);
      expect(sessions).toEqual([
        {
          position: 3,
          session: numbers.get(one.id),
          title: "first",
          summary: null,
          agent: "planner",
          startedAt: T0 - 5,
          projectPath: "/home/ana/app",
          machineMade: true,
        },
        {
          position: 5,
          session: numbers.get(two.id),
          title: "two",
          summary: "sum",
          agent: "coder",
          startedAt: T0,
          projectPath: null,
          machineMade: false,
        },
      ]);
    });

    test("deletions with the session's number, also for a reused id", async () => {
      const name = tenant();
      const kept = await createSession(store(), name);
      const numbers: (number | undefined)[] = [];
      for (const text of ["a", "b", "c"]) {
        await createSession(store(), name, { id: "again" });
        await append(store(), name, "again", message(text));
        numbers.push((await sessionNumbers(store(), name)).get("again"));
        if (text !== "c") await store().deleteSession(name, "again", "user", T0);
      }
      const slice = await feedOf(store(), name);
      expect(slice.deleted).toEqual([
        { session: numbers[0], at: T0, position: 4 },
        { session: numbers[1], at: T0, position: 7 },
      ]);
      expect(slice.entries.map(({ session }) => session)).toEqual([numbers[2]]);
      expect(slice.touched).toEqual([numbers[2]]);
      expect(slice.sessions.map(({ session }) => session).sort()).toEqual(
        [(await sessionNumbers(store(), name)).get(kept.id), numbers[2]].sort(),
      );
    });

    test("erased messages as ranges instead of entries", async () => {
      const name = tenant();
      const { id } = await createSession(store(), name);
      const texts = ["a", "b", "c", "d", "e"].map((text) => message(text));
      const { ids } = await append(store(), name, id, ...texts, label("x", texts[0]?.id ?? ""));
      const session = (await sessionNumbers(store(), name)).get(id);
      const erase = (...entryIds: string[]) =>
        store().eraseContent(name, { sessionId: id, entryIds, mode: "ephemeral", now: T0 + 1 });
      await erase(...[0, 1, 3, 5].map((i) => ids[i] ?? ""));
      await erase(...ids.slice(4));
      const slice = await feedOf(store(), name);
      expect(slice.entries.map(({ sequence }) => sequence)).toEqual([3]);
      expect(slice.erased).toEqual([
        { session, from: 1, to: 2, at: T0 + 1, position: 8 },
        { session, from: 4, to: 4, at: T0 + 1, position: 8 },
        { session, from: 5, to: 5, at: T0 + 1, position: 9 },
      ]);
    });

    test("notes in their current state", async () => {
      const name = tenant();
      const { id } = await createSession(store(), name);
      const memory = (key: string, content: string) =>
        store().putMemory(name, { agent: "coder", name: key, content, metadata: {}, now: T0 });
      const fact = (subject: string) => {
        const of = { sessionId: id, sourceEntry: null, confidence: 1, createdAt: T0 };
        return { id: nextId(), subject, predicate: "is", object: "so", ...of };
      };
      await memory("a", "old");
      await memory("b", "gone");
      await memory("a", "new");
      await store().deleteMemory(name, "coder", "b", T0);
      const record = (key: string, text?: string) =>
        recordPut("ns", key, "v", text === undefined ? {} : { text });
      const records = [record("a", "text"), record("b", "text"), record("c")];
      await store().writeRecords(name, { operations: records, now: T0 });
      const gone = { namespace: "ns", key: "b", put: null };
      await store().writeRecords(name, { operations: [gone], now: T0 });
      const [one, two, three] = [fact("one"), fact("two"), fact("three")];
      await store().addFacts(name, id, [one, two, three], T0);
      await store().retireFact(name, one.id, two.id, T0);
      await store().retireFact(name, three.id, null, T0);
      const { memories, facts } = await feedOf(store(), name);
      expect(memories).toEqual([
        { position: 4, agent: "coder", name: "a", content: "new" },
        { position: 5, agent: "coder", name: "b", content: null },
        { position: 6, agent: "\u0001ns", name: "a", content: "text" },
        { position: 9, agent: "\u0001ns", name: "b", content: null },
      ]);
      const session = (await sessionNumbers(store(), name)).get(id);
      expect(facts).toEqual([
        { position: 11, id: two.id, session, text: "two is so" },
        { position: 13, id: one.id, session, text: null },
        { position: 14, id: three.id, session: null, text: null },
      ]);
    });

    test("no rows of an empty tenant", async () => {
      const empty = { through: 0, head: 0, entries: [], sessions: [], memories: [], facts: [] };
      const slice = await answerTo(store(), tenant(), { need: "feed", after: 0, limit: 10 });
      expect(slice).toEqual({ ...empty, deleted: [], erased: [], touched: [] });
    });
  });
}

function feedOf(store: Store, tenant: string): Promise<FeedSlice> {
  return answerTo(store, tenant, { need: "feed", after: 0, limit: 1_000 });
}
