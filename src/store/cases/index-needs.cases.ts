import { describe, expect, test } from "vitest";
import { textOf as blocksText } from "../../model/block.ts";
import type { FeedSlice, SessionScope } from "../../search/port.ts";
import type { Store } from "../store.ts";
import {
  append,
  type Cases,
  changesOf,
  createSession,
  label,
  message,
  messagesOf,
  newSession,
  nextId,
  T0,
  treeOf,
} from "./fixture.cases.ts";
import { answersTo, answerTo, sessionNumbers } from "./index-fixture.cases.ts";

const LARGE = `needle ${"in a payload of its own ".repeat(1_000)}`;

/** Each need of the index, against what the rest of the port says. */
export function indexNeedsCases({ store, tenant, fresh }: Cases): void {
  describe("the index reads of the feed", () => {
    test("every committed message as it is now, whole, and nothing else", async () => {
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
          ...{ sequence: e.sequence, chain: e.chain, depth: e.depth, kind: e.kind, role: e.role },
          ...{ status: e.status, actor: e.actor, createdAt: e.createdAt, metadata: e.metadata },
        })),
      );
      expect(slice).toMatchObject({ through: changes.length, head: changes.length });
      expect(slice.touched).toEqual([number]);
    });

    test("slices that meet, whatever their size", async () => {
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

    test("huge messages a few at a time", async () => {
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

    test("sessions with their text, each once, at its last change", async () => {
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
          ...{ position: 3, session: numbers.get(one.id), title: "first", summary: null },
          ...{ agent: "planner", startedAt: T0 - 5, projectPath: "/home/ana/app" },
          machineMade: true,
        },
        {
          ...{ position: 5, session: numbers.get(two.id), title: "two", summary: "sum" },
          ...{ agent: "coder", startedAt: T0, projectPath: null, machineMade: false },
        },
      ]);
    });

    test("deletions with the number of the session, also of an id that is used again", async () => {
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

    test("erased messages as ranges, and no longer among the entries", async () => {
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

    test("notes as they are now", async () => {
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
      const [one, two, three] = [fact("one"), fact("two"), fact("three")];
      await store().addFacts(name, id, [one, two, three], T0);
      await store().retireFact(name, one.id, two.id, T0);
      await store().retireFact(name, three.id, null, T0);
      const { memories, facts } = await feedOf(store(), name);
      expect(memories).toEqual([
        { position: 4, agent: "coder", name: "a", content: "new" },
        { position: 5, agent: "coder", name: "b", content: null },
      ]);
      const session = (await sessionNumbers(store(), name)).get(id);
      expect(facts).toEqual([
        { position: 7, id: two.id, session, text: "two is so" },
        { position: 9, id: one.id, session, text: null },
        { position: 10, id: three.id, session: null, text: null },
      ]);
    });

    test("nothing of a tenant that has nothing", async () => {
      const empty = { through: 0, head: 0, entries: [], sessions: [], memories: [], facts: [] };
      const slice = await answerTo(store(), tenant(), { need: "feed", after: 0, limit: 10 });
      expect(slice).toEqual({ ...empty, deleted: [], erased: [], touched: [] });
    });
  });

  describe("the index asks", () => {
    test("which entries are on the active path", async () => {
      const name = tenant();
      const ids: string[] = [];
      for (let n = 0; n < 4; n++) ids.push((await branched(store(), name, n)).id);
      const empty = await createSession(store(), name);
      const numbers = await sessionNumbers(store(), name);
      const wanted = [...ids, empty.id].map((id) => numbers.get(id) ?? 0);
      const need = { need: "paths", sessions: [...wanted, 999_999] } as const;
      const paths = await answerTo(store(), name, need);
      expect(paths.map(({ session }) => session).sort()).toEqual([...wanted].sort());
      expect(paths.find(({ session }) => session === numbers.get(empty.id))?.ranges).toEqual([]);
      for (const id of ids) {
        const ranges = paths.find(({ session }) => session === numbers.get(id))?.ranges ?? [];
        const query = { select: "messages", sessionId: id, offset: 0, limit: 99 } as const;
        const { entries } = await store().readEntries(name, { ...query, payloads: false });
        const onPath = (await treeOf(store(), name, id)).filter(
          (e) =>
            e.kind === "message" &&
            e.status === "committed" &&
            ranges.some(({ chain, maxDepth }) => chain === e.chain && e.depth <= maxDepth),
        );
        expect(onPath.map((e) => e.id).sort()).toEqual(entries.map((e) => e.id).sort());
      }
    });

    test("which sessions never branched", async () => {
      const name = tenant();
      const check = async (id: string, isWhole: boolean) => {
        const session = (await sessionNumbers(store(), name)).get(id) ?? 0;
        const [path] = await answerTo(store(), name, { need: "paths", sessions: [session] });
        expect(path?.isWhole).toBe(isWhole);
      };
      const { id } = await createSession(store(), name);
      await check(id, true);
      const { ids } = await append(store(), name, id, message("1"), message("2"), message("3"));
      await append(store(), name, id, label("mark", ids[0] ?? ""));
      await check(id, true);
      await store().moveLeaf(name, { sessionId: id, leaf: ids[1] ?? "", now: T0 });
      await check(id, false);
      await store().moveLeaf(name, { sessionId: id, leaf: ids[2] ?? "", now: T0 });
      await check(id, true);
      await store().moveLeaf(name, { sessionId: id, leaf: null, now: T0 });
      await check(id, false);
      await append(store(), name, id, message("4", { parentId: ids[1] ?? "" }));
      await check(id, false);
      await store().moveLeaf(name, { sessionId: id, leaf: ids[2] ?? "", now: T0 });
      await check(id, false);
    });

    test("for the start of a session, and for copies in a fork", async () => {
      const name = tenant();
      const { id } = await createSession(store(), name);
      const { ids } = await append(store(), name, id, message("1"), message("2"), message("3"));
      const fork = newSession();
      await store().forkSession(name, { sessionId: id, session: fork });
      const empty = await createSession(store(), name);
      const numbers = await sessionNumbers(store(), name);
      const windows = [id, fork.id, empty.id].map((each) => {
        return { session: numbers.get(each) ?? 0, sequence: 0, before: 5, after: 1 };
      });
      const [start, copy, none] = await answerTo(store(), name, { need: "windows", windows });
      expect(start?.entries.map((entry) => entry.id)).toEqual(ids.slice(0, 2));
      expect(start).toMatchObject({ leaf: ids[2], entries: [{ copiedFrom: null }, {}] });
      expect(copy?.entries.map((entry) => entry.copiedFrom)).toEqual(ids.slice(0, 2));
      expect(none).toMatchObject({ leaf: null, entries: [] });
    });

    test("which sessions are in scope, and how many there are", async () => {
      const name = tenant();
      const add = (id: string, over: object) => createSession(store(), name, { id, ...over });
      await add("a", { agent: "x", owner: "ana", origin: { projectPath: "/home/ana/app" } });
      await add("b", { agent: "y", owner: "ana", origin: { projectPath: "C:\\src\\app" } });
      await add("c", { agent: "x", owner: "bob", origin: { projectId: "app", gitBranch: "main" } });
      await add("d", { agent: "z", owner: "bob", origin: { source: "pi", workstation: "w" } });
      await add("e", { agent: "x", owner: "eve", origin: { projectPath: "/home/ana/myapp" } });
      await add("f", { participants: ["ana", "eve"] });
      const numbers = await sessionNumbers(store(), name);
      const check = async (scope: SessionScope, expected: string) => {
        const found = await answerTo(store(), name, { need: "scope", scope });
        expect(found).toBeInstanceOf(Uint32Array);
        const wanted = expected === "" ? [] : expected.split("").map((id) => numbers.get(id) ?? 0);
        expect([JSON.stringify(scope), [...found]]).toEqual([
          JSON.stringify(scope),
          wanted.sort((one, other) => one - other),
        ]);
      };
      await check({}, "abcdef");
      await check({ agents: ["x"] }, "ace");
      await check({ agents: ["x", "z"], owners: ["bob"] }, "cd");
      await check({ participants: ["eve"] }, "f");
      await check({ projects: ["app"] }, "abc");
      await check({ projects: ["ana/app"] }, "a");
      await check({ projects: ["/home/ana/app", "C:\\src\\app"] }, "ab");
      await check({ projects: ["", "%", "_pp"] }, "");
      await check({ workstations: ["w"], sources: ["pi"] }, "d");
      await check({ gitBranches: ["main", "other"] }, "c");
      await check({ sessionIds: ["a", "f", "none"] }, "af");
      await check({ agents: ["x"], excludedSessionIds: ["a", "none"] }, "ce");
      await check({ agents: [] }, "");
      const [count] = await answersTo(store(), name, { need: "sessionCount" });
      expect(count).toBe(6);
    });

    test("for messages round a hit, on the path that the hit is on", async () => {
      const name = tenant();
      for (let n = 0; n < 4; n++) {
        const { id } = await branched(store(), name, n);
        const session = (await sessionNumbers(store(), name)).get(id) ?? 0;
        const meta = await store().findSession(name, id);
        const active = await pathIds(store(), name, id);
        const tree = await treeOf(store(), name, id);
        const messages = tree.filter((e) => e.kind === "message" && e.status === "committed");
        const requests = messages.flatMap(({ sequence }) =>
          [0, 2, 9].map((n) => ({ session, sequence, before: n, after: n % 3 })),
        );
        const windows = await answerTo(store(), name, { need: "windows", windows: requests });
        const [{ head } = {}] = windows;
        const known = requests.map((request) =>
          head === undefined ? request : { ...request, head },
        );
        expect(await answerTo(store(), name, { need: "windows", windows: known })).toEqual(windows);
        for (const [i, request] of requests.entries()) {
          const hit = messages.find(({ sequence }) => sequence === request.sequence);
          const window = windows[i];
          if (active.includes(hit?.id ?? "")) expect(window?.leaf).toBe(meta?.leaf);
          const path = await pathIds(store(), name, id, window?.leaf ?? undefined);
          const at = path.indexOf(hit?.id ?? "");
          expect(at).toBeGreaterThanOrEqual(0);
          const from = Math.max(0, at - request.before);
          expect(window?.entries.map((e) => [e.index, e.id])).toEqual(
            path.slice(from, at + request.after + 1).map((entry, k) => [from + k, entry]),
          );
        }
        expect(windows[0]).toMatchObject({
          head: {
            ...{ sessionId: id, title: meta?.title, agent: meta?.agent },
            ...{ createdAt: meta?.createdAt, updatedAt: meta?.updatedAt },
            messageCount: meta?.messageCount,
          },
        });
      }
    });

    test("for the whole text of a hit, and the heads of its neighbours", async () => {
      const name = tenant();
      const { id } = await createSession(store(), name);
      await append(store(), name, id, message(LARGE), message(`2${LARGE}`), message("small"));
      const session = (await sessionNumbers(store(), name)).get(id) ?? 0;
      const request = { session, sequence: 2, before: 5, after: 5 };
      const windows = [request, { ...request, sequence: 77 }, { ...request, session: 999_999 }];
      const [found, without, gone] = await answerTo(store(), name, { need: "windows", windows });
      const texts = found?.entries.map(({ blocks }) => blocksText(blocks));
      expect(texts).toEqual([LARGE.slice(0, 200), `2${LARGE}`, "small"]);
      expect(found?.entries[0]).toMatchObject({ role: "user", actor: "ana", createdAt: T0 });
      expect(without).toMatchObject({ head: { sessionId: id }, entries: [] });
      expect(gone).toBeUndefined();
    });

    test("for blobs, a manifest and paths that are not there", async () => {
      const name = tenant();
      await createSession(store(), name);
      const keys = [{ segment: 5, blob: 0 }];
      const needs = [{ need: "manifest" }, { need: "blobs", keys }, { need: "breath" }] as const;
      const [manifest, blobs, breath] = await answersTo(store(), name, ...needs);
      expect(manifest).toEqual({ version: 0, through: 0, segments: [], dead: [], erased: [] });
      expect(blobs).toEqual(["missing"]);
      expect(breath).toBeUndefined();
      expect(await answersTo(store(), tenant(), ...needs)).toEqual([manifest, blobs, breath]);
    });
  });
}

function feedOf(store: Store, tenant: string): Promise<FeedSlice> {
  return answerTo(store, tenant, { need: "feed", after: 0, limit: 1_000 });
}

/** A session with branches from branches, compactions and labels; `n` chooses the active one. */
async function branched(store: Store, tenant: string, n: number): Promise<{ id: string }> {
  const { id } = await createSession(store, tenant, { title: `branched ${n}` });
  const add = async (texts: string, parentId?: string) => {
    const entries = texts.split("").map((text, i) => {
      const kind = text === "C" ? { kind: "compaction", role: null } : {};
      const parent = i === 0 && parentId !== undefined ? { parentId } : {};
      return message(text, { ...kind, ...parent } as object);
    });
    return (await append(store, tenant, id, ...entries)).ids;
  };
  const trunk = await add("abcdefgh");
  await append(store, tenant, id, label("mark", trunk[2] ?? ""));
  const left = await add("ijkCl", trunk[3]);
  const [right, top] = [await add("mno", trunk[6]), await add("pqr", left[4])];
  await append(store, tenant, id, message("lost", { status: "aborted" }));
  const leaf = [right[2], top[2], left[1], trunk[7]][n] ?? null;
  await store.moveLeaf(tenant, { sessionId: id, leaf, now: T0 });
  expect((await messagesOf(store, tenant, id)).length).toBeGreaterThan(3);
  return { id };
}

async function pathIds(
  store: Store,
  tenant: string,
  sessionId: string,
  leaf?: string,
): Promise<string[]> {
  const query = { select: "messages", sessionId, offset: 0, limit: 99, payloads: false } as const;
  const path = { ...query, ...(leaf === undefined ? {} : { leaf }) };
  return (await store.readEntries(tenant, path)).entries.map(({ id }) => id);
}
