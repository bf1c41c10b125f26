import { describe, expect, test } from "vitest";
import { kindRules } from "../../model/entry.ts";
import type { EntryPage, EntryQuery } from "../entry-query.ts";
import type { EntryRecord, NewEntry } from "../records.ts";
import {
  append,
  type Cases,
  createSession,
  expectCode,
  label,
  message,
  nextId,
  T0,
  textOf,
  treeOf,
} from "./fixture.cases.ts";

type Select<Name extends EntryQuery["select"]> = Extract<EntryQuery, { select: Name }>;

export function pathCases({ store, tenant }: Cases): void {
  async function page(acme: string, query: EntryQuery): Promise<string[]> {
    return texts(await store().readEntries(acme, query));
  }

  /** m1 … m6, and on m3 the active branch b4, b5. */
  async function branched(): Promise<{ acme: string; id: string; ids: Record<string, string> }> {
    const acme = tenant();
    const { id } = await createSession(store(), acme);
    const main = await append(
      store(),
      acme,
      id,
      ..."123456".split("").map((n) => message(`m${n}`)),
    );
    const branch = [message("b4", { parentId: main.ids[2] ?? "" }), message("b5")];
    const side = await append(store(), acme, id, ...branch);
    const names = ["m1", "m2", "m3", "m4", "m5", "m6", "b4", "b5"];
    const all = [...main.ids, ...side.ids];
    return { acme, id, ids: Object.fromEntries(names.map((name, i) => [name, all[i] ?? ""])) };
  }

  describe("messages of a path", () => {
    test("come page by page, on the active branch or to a given leaf", async () => {
      const { acme, id, ids } = await branched();
      const messages = (over: Partial<Select<"messages">>) =>
        page(acme, { ...MESSAGES, sessionId: id, ...over });
      expect(await messages({})).toEqual(["m1", "m2", "m3", "b4", "b5"]);
      expect(await messages({ leaf: ids["m6"] ?? "" })).toEqual([
        "m1",
        "m2",
        "m3",
        "m4",
        "m5",
        "m6",
      ]);
      expect(await messages({ leaf: ids["m2"] ?? "" })).toEqual(["m1", "m2"]);
      expect(await messages({ offset: 2, limit: 2 })).toEqual(["m3", "b4"]);
      expect(await messages({ offset: 3, limit: 9 })).toEqual(["b4", "b5"]);
      expect(await messages({ offset: 9 })).toEqual([]);
      const { total } = await store().readEntries(acme, { ...MESSAGES, sessionId: id, limit: 1 });
      expect(total).toBe(5);
    });

    test("are empty in an empty session; unknown leaves and sessions are refused", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const empty = await store().readEntries(acme, { ...MESSAGES, sessionId: id });
      expect({ ...empty, payloads: empty.payloads.size }).toEqual({
        entries: [],
        payloads: 0,
        total: 0,
      });
      const unknown = { ...MESSAGES, sessionId: id, leaf: nextId() };
      await expectCode(store().readEntries(acme, unknown), "entry_not_found", { sessionId: id });
      await expectCode(
        store().readEntries(acme, { ...MESSAGES, sessionId: "none" }),
        "session_not_found",
      );
    });
  });

  describe("history of a path", () => {
    test("ends with the newest, or before a given entry", async () => {
      const { acme, id, ids } = await branched();
      const history = (over: Partial<Select<"history">>) =>
        page(acme, { ...HISTORY, sessionId: id, ...over });
      expect(await history({ limit: 3 })).toEqual(["m3", "b4", "b5"]);
      expect(await history({})).toEqual(["m1", "m2", "m3", "b4", "b5"]);
      expect(await history({ before: ids["b4"] ?? "", limit: 2 })).toEqual(["m2", "m3"]);
      expect(await history({ before: ids["m1"] ?? "" })).toEqual([]);
      expect(await history({ leaf: ids["m5"] ?? "", limit: 2 })).toEqual(["m4", "m5"]);
      const elsewhere = { ...HISTORY, sessionId: id, before: ids["m4"] ?? "" };
      await expectCode(store().readEntries(acme, elsewhere), "entry_not_found");
    });

    test("includes summaries in place on request", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const summary = message("sum", { kind: "compaction", role: null, interaction: false });
      const info = message("info", { kind: "custom_message", role: null, interaction: false });
      await append(store(), acme, id, message("1"), message("2"), summary, info, message("3"));
      const history = (over: Partial<Select<"history">>) =>
        page(acme, { ...HISTORY, sessionId: id, ...over });
      expect(await history({})).toEqual(["1", "2", "3"]);
      expect(await history({ include: "summaries" })).toEqual(["1", "2", "sum", "3"]);
      expect(await history({ include: "summaries", limit: 2 })).toEqual(["sum", "3"]);
      expect(await history({ include: "summaries", before: summary.id })).toEqual(["1", "2"]);
      expect(await history({ before: info.id, include: "summaries" })).toEqual(["1", "2", "sum"]);
    });
  });

  test("the tree gives every entry in the order of the log", async () => {
    const { acme, id, ids } = await branched();
    const tree = (afterSequence: number, limit: number, after?: string) =>
      store().readEntries(acme, {
        ...TREE,
        sessionId: id,
        afterSequence,
        limit,
        ...(after === undefined ? {} : { after }),
      });
    expect(texts(await tree(0, 100))).toEqual(["m1", "m2", "m3", "m4", "m5", "m6", "b4", "b5"]);
    const middle = await tree(3, 2);
    expect(texts(middle)).toEqual(["m4", "m5"]);
    expect(middle.total).toBe(8);
    expect(texts(await tree(0, 2, ids["m3"]))).toEqual(["m4", "m5"]);
    expect(texts(await tree(0, 100, ids["b5"]))).toEqual([]);
    await expectCode(tree(0, 2, "none"), "entry_not_found", { sessionId: id });
    expect(Buffer.from(middle.rootHash ?? [])).toEqual(Buffer.alloc(32));
  });

  test("listLeaves gives the leaf of each branch, newest first", async () => {
    const { acme, id, ids } = await branched();
    const leaves = async (limit: number) =>
      (await store().listLeaves(acme, id, limit)).map((entry) => entry.id);
    expect(await leaves(10)).toEqual([ids["b5"], ids["m6"]]);
    await append(store(), acme, id, label("l", ids["m6"] ?? ""), message("r", { parentId: null }));
    const [newest, ...others] = await leaves(10);
    expect(others).toEqual([ids["b5"], ids["m6"]]);
    expect(newest).toBe((await store().findSession(acme, id))?.leaf);
    expect(await leaves(1)).toEqual([newest]);
    const empty = await createSession(store(), acme);
    expect(await store().listLeaves(acme, empty.id, 10)).toEqual([]);
    await expectCode(store().listLeaves(acme, "none", 10), "session_not_found");
  });

  test("findEntries gives known entries in the order of the ids", async () => {
    const { acme, id, ids } = await branched();
    const asked = [ids["m3"], nextId(), ids["b5"], ids["m1"], ids["m3"]].map((each) => each ?? "");
    const found = await store().findEntries(acme, asked, true);
    expect(texts(found)).toEqual(["m3", "b5", "m1", "m3"]);
    expect(found.entries.every((entry) => entry.sessionId === id)).toBe(true);
    expect(texts(await store().findEntries(acme, [], true))).toEqual([]);
  });

  test("findUsage gives the existing entries with their usage", async () => {
    const acme = tenant();
    const { id } = await createSession(store(), acme);
    const usage = { inputTokens: 3, outputTokens: 5, cacheCreationTokens: 0, cacheReadTokens: 7 };
    const { ids } = await append(store(), acme, id, message("one", { usage }), message("two"));
    const [one = "", two = ""] = ids;
    const found = await store().findUsage(acme, [two, nextId(), one]);
    expect(new Map(found.map((each) => [each.id, each.usage]))).toEqual(
      new Map([
        [one, usage],
        [two, null],
      ]),
    );
    expect(await store().findUsage(acme, [])).toEqual([]);
  });

  test("any page of any path of a random tree equals a walk to the root", async () => {
    const acme = tenant();
    const { id } = await createSession(store(), acme);
    await store().append(acme, { sessionId: id, entries: grownTree(), now: T0 });
    const tree = await treeOf(store(), acme, id);
    const nodes = tree.filter((entry) => kindRules(entry.kind).movesLeaf);

    for (const leaf of nodes.filter((_, i) => i % 5 === 0)) {
      const path = walk(tree, leaf);
      const messages = path.filter((entry) => entry.kind === "message");
      const shown = path.filter((e) => e.kind === "message" || e.kind === "compaction");
      const base = { sessionId: id, leaf: leaf.id };
      const offset = messages.length >> 1;
      const all = await Promise.all([
        page(acme, { ...MESSAGES, ...base }),
        page(acme, { ...MESSAGES, ...base, offset, limit: 3 }),
        page(acme, { ...HISTORY, ...base, limit: 4, include: "summaries" }),
        page(acme, { ...HISTORY, ...base, limit: 3, before: path[path.length >> 1]?.id ?? "" }),
        pathPages(acme, { ...PATH, ...base, limit: 7 }),
      ]);
      const middle = path[path.length >> 1] as EntryRecord;
      const before = messages.filter((entry) => entry.depth < middle.depth);
      expect(all).toEqual([
        messages.map(textOf),
        messages.slice(offset, offset + 3).map(textOf),
        shown.slice(-4).map(textOf),
        before.slice(-3).map(textOf),
        withAnnotations(tree, path).map((entry) => entry.id),
      ]);
    }
  });

  async function pathPages(acme: string, query: Select<"path">): Promise<string[]> {
    const ids: string[] = [];
    for (;;) {
      const after = ids.at(-1);
      const { entries } = await store().readEntries(acme, {
        ...query,
        ...(after === undefined ? {} : { after }),
      });
      ids.push(...entries.map((entry) => entry.id));
      if (entries.length < query.limit) return ids;
    }
  }
}

const MESSAGES = { select: "messages", offset: 0, limit: 100, payloads: false } as const;
const HISTORY = { select: "history", include: "messages", limit: 100, payloads: false } as const;
const PATH = { select: "path", limit: 100, payloads: false } as const;
const TREE = { select: "tree", payloads: false } as const;

/** Messages, summaries and labels; every third node continues an earlier one. */
function grownTree(): NewEntry[] {
  const entries: NewEntry[] = [label("first", "none")];
  const nodes: string[] = [];
  for (let i = 0; i < 90; i++) {
    if (i % 7 === 3) {
      entries.push(label(`l${i}`, nodes.at(-1) ?? ""));
      continue;
    }
    const kind = i % 11 === 5 ? "compaction" : "message";
    const parent = i % 3 === 1 ? nodes[(i * 17) % Math.max(1, nodes.length)] : undefined;
    const back = parent === undefined ? {} : { parentId: parent };
    const entry = message(`n${i}`, { kind, ...(i % 40 === 39 ? { parentId: null } : back) });
    entries.push(entry);
    nodes.push(entry.id);
  }
  return entries;
}

function walk(tree: readonly EntryRecord[], leaf: EntryRecord): EntryRecord[] {
  const byId = new Map(tree.map((entry) => [entry.id, entry]));
  const path: EntryRecord[] = [];
  for (let at: EntryRecord | undefined = leaf; at; at = byId.get(at.parentId ?? "")) path.push(at);
  return path.reverse();
}

/** A label follows its entry; labels of the empty session come first. */
function withAnnotations(
  tree: readonly EntryRecord[],
  path: readonly EntryRecord[],
): EntryRecord[] {
  const labelsOf = (id: string | null) =>
    tree.filter((entry) => entry.kind === "label" && entry.parentId === id);
  return [...labelsOf(null), ...path.flatMap((entry) => [entry, ...labelsOf(entry.id)])];
}

function texts(found: EntryPage): string[] {
  return found.entries.map(textOf);
}
