import { describe, expect, test } from "vitest";
import {
  append,
  type Cases,
  createSession,
  expectCode,
  feedOf,
  label,
  message,
  messagesOf,
  nextId,
  T0,
  treeOf,
} from "./fixture.cases.ts";

export function leafCases({ store, tenant }: Cases): void {
  describe("moveLeaf", () => {
    test("moves back, forward and to the root, and the next append continues there", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const { ids } = await append(store(), acme, id, message("1"), message("2"), message("3"));
      const [one, , three] = ids as [string, string, string];
      const move = (leaf: string | null) =>
        store().moveLeaf(acme, { sessionId: id, leaf, now: T0 + 1 });

      await move(one);
      expect(await messagesOf(store(), acme, id)).toEqual(["1"]);
      expect(await store().findSession(acme, id)).toMatchObject({ leaf: one, lastWriteAt: T0 + 1 });
      await move(three);
      await append(store(), acme, id, message("4"));
      expect(await messagesOf(store(), acme, id)).toEqual(["1", "2", "3", "4"]);
      await move(one);
      await append(store(), acme, id, message("2b"));
      expect(await messagesOf(store(), acme, id)).toEqual(["1", "2b"]);
      await move(null);
      expect((await store().findSession(acme, id))?.leaf).toBeNull();
      expect(await messagesOf(store(), acme, id)).toEqual([]);
      await append(store(), acme, id, message("again"));
      expect(await messagesOf(store(), acme, id)).toEqual(["again"]);
      expect((await feedOf(store(), acme, 4)).slice(0, 2)).toEqual([
        ["leaf_moved", { from: three }],
        ["leaf_moved", { from: one }],
      ]);
    });

    test("refuses annotations, unknown entries and a stale leaf", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const { ids } = await append(store(), acme, id, message("1"), message("2"));
      const mark = label("x", ids[0] ?? "");
      await append(store(), acme, id, mark);
      const move = (leaf: string | null, expectedLeaf?: string | null) =>
        store().moveLeaf(acme, {
          sessionId: id,
          leaf,
          now: T0,
          ...(expectedLeaf === undefined ? {} : { expectedLeaf }),
        });
      await expectCode(move(mark.id), "invalid_input", { entryId: mark.id });
      await expectCode(move(nextId()), "entry_not_found");
      await expectCode(move(ids[0] ?? "", ids[0] ?? ""), "stale_leaf");
      await expectCode(move(null, null), "stale_leaf");
      await expectCode(
        store().moveLeaf(acme, { sessionId: "none", leaf: null, now: T0 }),
        "session_not_found",
      );
      expect((await store().findSession(acme, id))?.leaf).toBe(ids[1]);
      await move(ids[0] ?? "", ids[1] ?? "");
      expect((await store().findSession(acme, id))?.leaf).toBe(ids[0]);
    });
  });

  describe("setPinned", () => {
    test("pins and unpins an entry", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const { ids } = await append(store(), acme, id, message("1"), message("2"));
      const pinned = async () => (await treeOf(store(), acme, id)).map((entry) => entry.pinned);
      await store().setPinned(acme, id, ids[0] ?? "", true, T0);
      expect(await pinned()).toEqual([true, false]);
      await store().setPinned(acme, id, ids[0] ?? "", false, T0);
      expect(await pinned()).toEqual([false, false]);
      expect(await feedOf(store(), acme, 3)).toEqual(["entry_pinned", "entry_unpinned"]);
      await expectCode(store().setPinned(acme, id, nextId(), true, T0), "entry_not_found");
      await expectCode(
        store().setPinned(acme, "none", ids[0] ?? "", true, T0),
        "session_not_found",
      );
    });
  });
}
