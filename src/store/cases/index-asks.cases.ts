import { describe, expect, test } from "vitest";
import { textOf as blocksText } from "../../model/block.ts";
import type { SessionCondition } from "../../search/port.ts";
import type { Store } from "../store.ts";
import {
  append,
  type Cases,
  createSession,
  label,
  message,
  messagesOf,
  newSession,
  T0,
  treeOf,
} from "./fixture.cases.ts";
import { answersTo, answerTo, sessionNumbers } from "./index-fixture.cases.ts";

const LARGE = `needle ${"in a payload of its own ".repeat(1_000)}`;

/** Compares the answers to a search's needs with the rest of the port. */
export function indexAsksCases({ store, tenant }: Cases): void {
  describe("a search reads", () => {
    test("the chain ranges of active paths", async () => {
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

    test("whether a session's path is its whole tree", async () => {
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

    test("the start of a session, and the origins of a fork's copies", async () => {
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

    test("the sessions in scope, and their number", async () => {
      const name = tenant();
      const add = (id: string, over: object) => createSession(store(), name, { id, ...over });
      await add("a", { agent: "x", owner: "ana", origin: { projectPath: "/home/ana/app" } });
      await add("b", { agent: "y", owner: "ana", origin: { projectPath: "C:\\src\\app" } });
      await add("c", { agent: "x", owner: "bob", origin: { projectId: "app", gitBranch: "main" } });
      await add("d", { agent: "z", owner: "bob", origin: { source: "pi", workstation: "w" } });
      await add("e", { agent: "x", owner: "eve", origin: { projectPath: "/home/ana/myapp" } });
      await add("f", { participants: ["ana", "eve"] });
      const numbers = await sessionNumbers(store(), name);
      const check = async (scope: SessionCondition, expected: string) => {
        const found = await answerTo(store(), name, { need: "scope", scope });
        expect(found).toBeInstanceOf(Uint32Array);
        const wanted = expected === "" ? [] : expected.split("").map((id) => numbers.get(id) ?? 0);
        expect([JSON.stringify(scope), [...found]]).toEqual([
          JSON.stringify(scope),
          wanted.sort((one, other) => one - other),
        ]);
      };
      await check({}, "abcdef");
      await check({ agent: ["x"] }, "ace");
      await check({ agent: ["x", "z"], owner: ["bob"] }, "cd");
      await check({ participant: ["eve"] }, "f");
      await check({ project: ["app"] }, "abc");
      await check({ project: ["ana/app"] }, "a");
      await check({ project: ["/home/ana/app", "C:\\src\\app"] }, "ab");
      await check({ project: ["", "%", "_pp"] }, "");
      await check({ workstation: ["w"], source: ["pi"] }, "d");
      await check({ gitBranch: ["main", "other"] }, "c");
      await check({ session: ["a", "f", "none"] }, "af");
      await check({ agent: ["x"], excludeSession: ["a", "none"] }, "ce");
      await check({ agent: [] }, "");
      const [count] = await answersTo(store(), name, { need: "sessionCount" });
      expect(count).toBe(6);
    });

    test("the window of a hit, on the hit's path", async () => {
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
        const paths = new Map<string | undefined, readonly string[]>();
        for (const [i, request] of requests.entries()) {
          const hit = messages.find(({ sequence }) => sequence === request.sequence);
          const window = windows[i];
          if (active.includes(hit?.id ?? "")) expect(window?.leaf).toBe(meta?.leaf);
          const leaf = window?.leaf ?? undefined;
          const path = paths.get(leaf) ?? (await pathIds(store(), name, id, leaf));
          paths.set(leaf, path);
          const at = path.indexOf(hit?.id ?? "");
          expect(at).toBeGreaterThanOrEqual(0);
          const from = Math.max(0, at - request.before);
          expect(window?.entries.map((e) => [e.index, e.id])).toEqual(
            path.slice(from, at + request.after + 1).map((entry, k) => [from + k, entry]),
          );
        }
        expect(windows[0]).toMatchObject({
          head: {
            sessionId: id,
            title: meta?.title,
            agent: meta?.agent,
            createdAt: meta?.createdAt,
            updatedAt: meta?.updatedAt,
            messageCount: meta?.messageCount,
          },
        });
      }
    });

    test("the whole text of a hit, and the heads of its neighbours", async () => {
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

    test("missing blobs, manifests and paths as such", async () => {
      const name = tenant();
      await createSession(store(), name);
      const keys = [{ segment: 5, blob: 0 }];
      const needs = [{ need: "manifest" }, { need: "blobs", keys }, { need: "yield" }] as const;
      const [manifest, blobs, yielded] = await answersTo(store(), name, ...needs);
      expect(manifest).toEqual({ version: 0, through: 0, segments: [], dead: [], erased: [] });
      expect(blobs).toEqual(["missing"]);
      expect(yielded).toBeUndefined();
      expect(await answersTo(store(), tenant(), ...needs)).toEqual([manifest, blobs, yielded]);
    });
  });
}

/** A session with nested branches, compactions and labels; `n` chooses the active one. */
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
