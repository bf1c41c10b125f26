import { describe, expect, test } from "vitest";
import { compact, type RetentionCases, said, say, sayMore } from "./fixture.cases.ts";

export function coverageCases({ tenant }: RetentionCases): void {
  describe("the coverage of a compaction", () => {
    test("grows with the next one, up to the first one's kept entries", async () => {
      const { handle } = await say(tenant(), "audit-only", "a", "b", "c", "d");
      expect(await compact(handle, 2)).toMatchObject({ erased: 2 });
      await sayMore(handle, "e", "f");
      expect(await said(handle)).toEqual([null, null, "c", "d", "e", "f"]);
      expect(await compact(handle, 1)).toMatchObject({ removed: 3, erased: 3 });
      expect(await said(handle)).toEqual([null, null, null, null, null, "f"]);
      expect((await handle.summaries()).map(({ text }) => text)).toEqual([
        "They spoke of animals.",
        "They spoke of animals.",
      ]);
    });

    test("includes annotations and aborted messages, but no entries about the session", async () => {
      const { handle, ids } = await say(tenant(), "ephemeral", "a", "b");
      await handle.label(ids[0] ?? "", "secret label");
      await handle.appendCustom("editor", { openFile: "secret.ts" });
      await handle.appendCustomMessage({ type: "notice", content: "secret notice" });
      const stream = await handle.openMessage({ role: "assistant" });
      await stream.write("half a secret");
      await stream.abort();
      await handle.setTitle("A title stays");
      await sayMore(handle, "c", "d");
      await compact(handle, 1);
      const { entries } = await handle.listEntries({ tree: true, limit: 100 });
      expect(
        entries.filter(({ erased }) => erased).map(({ kind, status }) => [kind, status]),
      ).toEqual([
        ["message", "committed"],
        ["message", "committed"],
        ["label", "committed"],
        ["custom", "committed"],
        ["custom_message", "committed"],
        ["message", "aborted"],
        ["message", "committed"],
      ]);
      expect(JSON.stringify(entries)).not.toContain("secret");
      expect(await handle.labels()).toEqual(new Map());
      expect((await handle.meta()).title).toBe("A title stays");
    });

    test("excludes pinned entries until they are unpinned and summarised", async () => {
      const { handle, ids } = await say(tenant(), "ephemeral", "a", "b", "c", "d");
      await handle.pin(ids[0] ?? "");
      await compact(handle, 1);
      expect(await said(handle)).toEqual(["a", null, null, "d"]);
      await handle.unpin(ids[0] ?? "");
      // No summary has it yet: the context still shows it verbatim.
      expect(await handle.applyRetention()).toEqual({ erased: 0 });
      await sayMore(handle, "e", "f");
      await compact(handle, 1);
      expect(await said(handle)).toEqual([null, null, null, null, null, "f"]);
    });

    test("on other branches has superseded entries with their descendants", async () => {
      const { handle, ids } = await say(tenant(), "audit-only", "a", "b", "old", "old answer");
      const edited = await handle.edit(ids[2] ?? "", "about new");
      await sayMore(handle, "x", "new answer");
      await handle.branch(ids[1] ?? "");
      await sayMore(handle, "another branch");
      await handle.branch(
        (await handle.branches()).find(({ leaf }) => leaf.index === 4)?.leaf.id ?? "",
      );
      await sayMore(handle, "more", "last");
      expect(await compact(handle, 1)).toMatchObject({ removed: 6 });
      expect(edited.supersededBy).toBeNull();
      expect(await said(handle)).toEqual([
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        "another branch",
        null,
        "last",
      ]);
    });

    test("on an abandoned branch waits until the leaf returns", async () => {
      const { handle, ids } = await say(tenant(), "full", "a", "b", "c", "d");
      const { entry } = await compact(handle, 1);
      await handle.branch(ids[1] ?? "");
      await sayMore(handle, "other");
      await handle.update({ retention: "ephemeral" });
      expect(await handle.applyRetention()).toEqual({ erased: 0 });
      expect(await said(handle)).toEqual(["a", "b", "c", "d", "other"]);
      await handle.branch(entry?.id ?? "");
      expect(await handle.applyRetention()).toEqual({ erased: 3 });
      expect(await said(handle)).toEqual([null, null, null, "d", "other"]);
    });

    test("on an abandoned branch stays when another one is compacted", async () => {
      const { handle, ids } = await say(tenant(), "full", "a", "b", "c", "d");
      const { entry } = await compact(handle, 1);
      await handle.branch(ids[1] ?? "");
      await handle.update({ retention: "ephemeral" });
      await sayMore(handle, "e", "f");
      expect(await compact(handle, 1)).toMatchObject({ erased: 3 });
      expect(await said(handle)).toEqual([null, null, "c", "d", null, "f"]);
      await handle.branch(entry?.id ?? "");
      expect(await handle.applyRetention()).toEqual({ erased: 1 });
      expect(await said(handle)).toEqual([null, null, null, "d", null, "f"]);
    });

    test("of a fork is separate", async () => {
      const { handle, ids } = await say(tenant(), "audit-only", "a", "b", "c", "d");
      const before = await handle.fork({ createdBy: "ben" });
      await compact(handle, 1);
      expect(await said(handle)).toEqual([null, null, null, "d"]);
      expect(await said(before)).toEqual(["a", "b", "c", "d"]);
      const after = await handle.fork({ createdBy: "ben" });
      await sayMore(after, "e", "f");
      expect(await after.applyRetention()).toEqual({ erased: 0 });
      expect(await said(after)).toEqual([null, null, null, "d", "e", "f"]);
      expect(await compact(after, 1)).toMatchObject({ removed: 2, erased: 2 });
      expect(await said(after)).toEqual([null, null, null, null, null, "f"]);
      const [copy] = (await before.listMessages()).messages;
      expect(copy?.copiedFrom).toBe(ids[0]);
    });
  });
}
