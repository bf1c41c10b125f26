import { describe, expect, test } from "vitest";
import type { MaintenanceTask } from "../../search/port.ts";
import type { Store } from "../store.ts";
import {
  append,
  type Cases,
  createSession,
  message,
  T0,
  tablesOf,
  treeOf,
} from "./fixture.cases.ts";
import { answersTo, answerTo, expectAgreement, holdAt } from "./index-fixture.cases.ts";
import { isStress, repeats } from "./repeats.cases.ts";
import { type GatePoint, runTrivial, TRIVIAL_INDEX } from "./trivial-index.cases.ts";

/** The cases run maintenance themselves. */
const TEST_INDEXING = { module: TRIVIAL_INDEX, flushAt: 0 };

/** Every segment that a manifest of these cases names. */
const REBUILD = { rebuildThrough: 1_000_000 };

const TASKS: readonly MaintenanceTask[] = ["flush", "merge", REBUILD];

/** A concurrent action during a maintenance step. */
type Step = "append" | "delete" | "maintain";

export function indexCases({ store, tenant, fresh, another }: Cases): void {
  describe("the index", () => {
    test("finds messages in the tail, in segments, and in both", async () => {
      const name = tenant();
      await fill(store(), name, 3);
      await expectAgreement(store(), name);
      expect(await store().maintain(name, "flush")).toMatchObject({ busy: false, documents: 9 });
      await expectAgreement(store(), name);
      await fill(store(), name, 2);
      await expectAgreement(store(), name);
      await store().maintain(name, "flush");
      await store().maintain(name, "merge");
      await expectAgreement(store(), name);
      const { segments, through, dead } = await manifestOf(store(), name);
      expect(segments).toHaveLength(1);
      expect(segments[0]).toMatchObject({ from: 0, to: through, documents: 15 });
      expect(dead).toEqual([]);
    });

    test("omits a deleted session, whether in segments or in the tail", async () => {
      const name = tenant();
      const [first = "", second = ""] = await fill(store(), name, 4);
      await store().maintain(name, "flush");
      await store().deleteSession(name, first, "user", T0);
      await expectAgreement(store(), name);
      await fill(store(), name, 1);
      await store().maintain(name, "flush");
      expect((await manifestOf(store(), name)).dead).toHaveLength(1);
      await expectAgreement(store(), name);
      await store().deleteSession(name, second, "user", T0);
      await store().maintain(name, "merge");
      await expectAgreement(store(), name);
      await store().maintain(name, "flush");
      await store().maintain(name, "purge");
      expect((await manifestOf(store(), name)).dead).toEqual([]);
      await expectAgreement(store(), name);
    });

    test("reports its progress", async () => {
      const name = tenant();
      expect(await store().indexStatus(name)).toMatchObject({ lag: 0, segments: 0, holder: null });
      await fill(store(), name, 2);
      const { position } = await store().feedHead(name);
      const before = { through: 0, head: position, lag: position, documents: 0, bytes: 0 };
      expect(await store().indexStatus(name)).toMatchObject(before);
      const report = await store().maintain(name, "maintain");
      expect(report).toMatchObject({ through: position, head: position, more: false });
      const after = { through: position, lag: 0, segments: 1, documents: 6, dead: 0 };
      const status = await store().indexStatus(name);
      expect(status).toMatchObject({ ...after, analyzers: ["trivial"], holder: null });
      expect(status.bytes).toBeGreaterThan(100);
      const tenants = (await store().status()).tenants;
      const own = tenants.find((each) => each.tenant === name);
      expect(own?.index).toMatchObject({ lag: 0, segments: 1, documents: 6, bytes: status.bytes });
    });

    test("is absent from a copy of the store, and rebuilt there", async () => {
      const { store: source } = await fresh();
      const { store: target } = await fresh();
      await fill(source, "a", 2);
      await source.maintain("a", "flush");
      const tables = Object.keys(await tablesOf(source.dump()));
      expect(tables.filter((table) => table.startsWith("index_"))).toEqual([]);
      await target.load(source.dump());
      expect((await manifestOf(target, "a")).segments).toEqual([]);
      await expectAgreement(target, "a");
      await target.maintain("a", "maintain");
      await expectAgreement(target, "a");
      expect((await target.indexStatus("a")).lag).toBe(0);
    });

    test("answers the reads of a search from one snapshot", async () => {
      const name = tenant();
      await fill(store(), name, 1);
      const needs = [{ need: "manifest" }, { need: "feed", after: 0, limit: 1 }] as const;
      const [first, feed, second] = await answersTo(store(), name, ...needs, { need: "manifest" });
      expect(first).toEqual(second);
      expect(feed.head).toBe((await store().feedHead(name)).position);
    });

    test("deletes merged segments, at the latest by a purge", async () => {
      const name = tenant();
      await fill(store(), name, 1);
      await store().maintain(name, "flush");
      const [old] = (await manifestOf(store(), name)).segments;
      await fill(store(), name, 1);
      await store().maintain(name, "flush");
      await store().maintain(name, "merge");
      await store().maintain(name, "maintain");
      const keys = [{ segment: old?.segment ?? 0, blob: 0 }];
      await store().maintain(name, "purge");
      expect(await answerTo(store(), name, { need: "blobs", keys })).toEqual(["missing"]);
      await expectAgreement(store(), name);
    });

    test("is rebuilt as a whole", async () => {
      const name = tenant();
      const [first = ""] = await fill(store(), name, 3);
      await store().maintain(name, "flush");
      await store().deleteSession(name, first, "user", T0);
      const before = await manifestOf(store(), name);
      expect(await store().maintain(name, REBUILD)).toMatchObject({ documents: 6, busy: false });
      const after = await manifestOf(store(), name);
      expect(after.segments[0]?.segment).not.toBe(before.segments[0]?.segment);
      await expectAgreement(store(), name);
    });

    test("agrees with the messages under concurrent maintenance", async () => {
      const name = tenant();
      const stores = [store(), await another()];
      const ids = await fill(store(), name, 6);
      const tasks: MaintenanceTask[] = ["flush", "merge", "maintain", "purge", REBUILD];
      for (let round = 0; round < repeats(4, 8); round++) {
        const id = ids.pop() ?? "";
        const work = stores.flatMap((each, i) => [
          each.maintain(name, tasks[(round + i * 2) % tasks.length] ?? "flush"),
          fill(each, name, 1).then((more) => ids.unshift(...more)),
          expectFound(each, name),
        ]);
        await Promise.all([...work, store().deleteSession(name, id, "user", T0)]);
        await expectAgreement(store(), name);
      }
      await store().maintain(name, "maintain");
      await expectAgreement(stores[1] as Store, name);
    });
  });

  describe("an index during maintenance", () => {
    const orders: Step[][] = [
      ["append", "delete", "maintain"],
      ["append", "maintain", "delete"],
      ["delete", "append", "maintain"],
      ["delete", "maintain", "append"],
      ["maintain", "append", "delete"],
      ["maintain", "delete", "append"],
    ];
    const points: GatePoint[] = ["read", "written", "swapped"];

    test.each(TASKS)(
      "is correct under concurrent writes and deletions, during a %s",
      async (task) => {
        const other = await another();
        // In memory a step is atomic.
        if (other === store()) return;
        const held = points.filter((point) => task !== REBUILD || point !== "read");
        for (const [i, point] of held.entries()) {
          // Every task at every point, and every order at some of them.
          const next = (TASKS.indexOf(task) * points.length + i) % orders.length;
          const some = orders.filter((_, j) => isStress || j === next);
          for (const order of some) await checkOrder(other, task, point, order);
        }
      },
    );

    /**
     * Holds a maintenance task at `point` while another store takes the steps; then checks the index.
     */
    async function checkOrder(
      other: Store,
      task: MaintenanceTask,
      point: GatePoint,
      order: readonly Step[],
    ): Promise<void> {
      const name = tenant();
      const ids = await fill(store(), name, 3);
      await store().maintain(name, "flush");
      ids.push(...(await fill(store(), name, 2)));
      if (task === "merge") await store().maintain(name, "flush");
      const steps = async () => {
        for (const step of order) {
          if (step === "append") ids.push(...(await fill(other, name, 1)));
          if (step === "delete") await deleteSome(other, name, ids);
          if (step === "maintain") {
            expect(await other.maintain(name, "maintain")).toMatchObject({ busy: true });
            expect((await other.indexStatus(name)).holder).not.toBeNull();
          }
        }
        await expectAgreement(other, name);
      };
      await holdAt(point, () => store().maintain(name, task), steps);
      await expectAgreement(store(), name);
      expect(await other.maintain(name, "maintain")).toMatchObject({ busy: false });
      await expectAgreement(store(), name);
    }

    test("survives the takeover of an expired lease, whose former holder is fenced off", async () => {
      const { store: quick, reopen } = await fresh();
      if (reopen === undefined) return;
      // Its leases expire at once; it notices a takeover at its next yield.
      const slow = await reopen({ indexing: { ...TEST_INDEXING, leaseMs: -1_000 } });
      for (const point of points) {
        const ids = await fill(slow, point, 3);
        const takeOver = async () => {
          ids.push(...(await fill(quick, point, 1)));
          await deleteSome(quick, point, ids);
          expect(await quick.maintain(point, "maintain")).toMatchObject({ busy: false });
          await expectAgreement(quick, point);
        };
        const report = await holdAt(point, () => slow.maintain(point, "flush"), takeOver);
        expect(report.busy).toBe(true);
        await expectAgreement(slow, point);
        await slow.maintain(point, "maintain");
        await expectAgreement(slow, point);
      }
      await slow.close();
    });
  });
}

/** Creates sessions of three messages each. Gives their ids. */
async function fill(store: Store, tenant: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    const { id } = await createSession(store, tenant);
    await append(store, tenant, id, message(`one ${i}`), message(`two ${i}`), message("three"));
    ids.push(id);
  }
  return ids;
}

/**
 * Deletes one of the oldest, which are in segments, and the newest; erases messages of the next
 * two.
 */
async function deleteSome(store: Store, tenant: string, ids: string[]): Promise<void> {
  for (const id of [ids.shift() ?? "", ids.pop() ?? ""]) {
    await store.deleteSession(tenant, id, "user", T0);
  }
  for (const sessionId of new Set([ids[0] ?? "", ids.at(-1) ?? ""])) {
    const entryIds = (await treeOf(store, tenant, sessionId)).slice(1, 3).map(({ id }) => id);
    await store.eraseContent(tenant, { sessionId, entryIds, mode: "audit-only", now: T0 });
  }
}

/** A search finds no document twice. */
async function expectFound(store: Store, tenant: string): Promise<void> {
  const { documents } = await runTrivial(store, tenant);
  const names = documents.map((document) => JSON.stringify(document));
  expect(new Set(names).size).toBe(names.length);
}

function manifestOf(store: Store, tenant: string) {
  return answerTo(store, tenant, { need: "manifest" });
}
