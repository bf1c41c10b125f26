/** The primitives of adapters: on both databases, and over the network. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EngineApi, SessionApi } from "../src/engine/interfaces.ts";
import { type Entry, type EntryInput, type ListSessionsInput, textOf } from "../src/index.ts";
import { WORLDS, type World } from "./support/worlds.ts";

describe.each(WORLDS)("on %s", (_, start) => {
  let world: World;
  let tenant: EngineApi;
  beforeAll(async () => {
    world = await start();
    tenant = world.engine;
  });
  afterAll(() => world.close());

  const create = { agent: "coder", createdBy: "ana" };
  const newSession = () => tenant.createSession(create);

  async function texts(session: SessionApi): Promise<string[]> {
    const { messages } = await session.listMessages({ limit: 500 });
    return messages.map(({ blocks }) => textOf(blocks));
  }

  async function tree(session: SessionApi): Promise<readonly Entry[]> {
    return (await session.listEntries({ tree: true, limit: 500 })).entries;
  }

  describe("ensureSession", () => {
    test("creates one session for a key under concurrent calls", async () => {
      const key = "projects/my app/chat 7";
      const asked = Array.from({ length: 64 }, (_, i) =>
        tenant.ensureSession({ ...create, key, title: `asked by ${i}` }),
      );
      const ids = new Set((await Promise.all(asked)).map(({ id }) => id));
      expect(ids.size).toBe(1);
      const [id = ""] = ids;
      expect(await tenant.findSessionByOrigin(key)).toMatchObject({ id, origin: { key } });
    });

    test("leaves an existing session unchanged", async () => {
      const origin = { projectPath: "/srv/shop" };
      const first = await tenant.ensureSession({ ...create, key: "k", title: "first", origin });
      const before = await first.meta();
      const again = await tenant.ensureSession({ ...create, key: "k", title: "again" });
      expect(await again.meta()).toEqual(before);
      expect(before).toMatchObject({ title: "first", origin: { ...origin, key: "k" } });
    });

    test("creates another one after a deletion", async () => {
      const first = await tenant.ensureSession({ ...create, key: "gone" });
      await first.delete();
      expect((await tenant.ensureSession({ ...create, key: "gone" })).id).not.toBe(first.id);
    });
  });

  test("sessions are listed by key prefix and metadata", async () => {
    const metadata = { ticket: "A 1", open: true, n: 1.5 };
    for (const key of ["list/a/1", "list/a/2 b", "list/b"]) {
      await tenant.ensureSession({ ...create, key, ...(key === "list/b" ? {} : { metadata }) });
    }
    const keys = async (input: ListSessionsInput) => {
      const { sessions } = await tenant.listSessions(input);
      return sessions.map(({ origin }) => origin.key).toSorted();
    };
    expect(await keys({ keyPrefix: "list/a/" })).toEqual(["list/a/1", "list/a/2 b"]);
    expect(await keys({ keyPrefix: "list/", metadata })).toEqual(["list/a/1", "list/a/2 b"]);
    expect(await keys({ metadata: { ...metadata, open: false } })).toEqual([]);
    const wrong = tenant.listSessions({ metadata: { a: null } as never });
    await expect(wrong).rejects.toMatchObject({ code: "invalid_input" });
  });

  test("entries of all branches are listed from any offset", async () => {
    const session = await newSession();
    const first = await session.append({ role: "user", content: "first" });
    await session.append({ role: "assistant", content: "one" });
    await session.branch(first.id);
    await session.append({ role: "assistant", content: "two" });
    await session.label(first.id, "start");
    const all = await tree(session);
    expect(all).toHaveLength((await session.meta()).entryCount);
    for (const [offset] of [...all, undefined].entries()) {
      const page = await session.listEntries({ tree: true, offset, limit: 2 });
      expect(page.entries).toEqual(all.slice(offset, offset + 2));
    }
    const after = first.id;
    const page = await session.listEntries({ tree: true, offset: 3, after });
    expect(page.entries).toEqual(all.slice(1));
    await expect(session.listEntries({ offset: 1 })).rejects.toMatchObject({
      code: "invalid_input",
      details: { field: "offset" },
    });
  });

  describe("appendEntries", () => {
    const mixed: readonly EntryInput[] = [
      { role: "user", content: "why twice?", externalId: "u 1/a", createdAt: 1_700_000_000_000 },
      { kind: "custom", type: "cost", data: { cents: 3 }, externalId: "state/1" },
      { kind: "custom_message", type: "note", content: "be brief", externalId: "note" },
      { role: "assistant", content: "the lock is gone", externalId: "a1" },
    ];

    test("stores entries of several kinds together, in their order", async () => {
      const session = await newSession();
      const entries = await session.appendEntries(mixed);
      expect(entries.map(({ kind }) => kind)).toEqual([
        "message",
        "custom",
        "custom_message",
        "message",
      ]);
      expect(entries.map(({ externalId }) => externalId)).toEqual(
        mixed.map(({ externalId }) => externalId),
      );
      expect(await tree(session)).toEqual(entries);
      expect(entries[1]?.data).toEqual({ type: "cost", data: { cents: 3 } });
      expect(entries[0]?.createdAt).toBe(1_700_000_000_000);
      const message = await session.append({ role: "user", content: "x" });
      await expect(
        session.appendEntries([{ role: "user", content: "y" }, { role: "tool" } as never]),
      ).rejects.toMatchObject({ code: "invalid_input" });
      expect((await tree(session)).at(-1)?.id).toBe(message.id);
    });

    test("returns existing entries, and stores only new ones", async () => {
      const session = await newSession();
      const first = await session.appendEntries(mixed);
      expect(await session.appendEntries(mixed)).toEqual(first);
      const more: EntryInput = { role: "user", content: "thanks", externalId: "u2" };
      const [stored, added] = await session.appendEntries([mixed[0] as EntryInput, more]);
      expect(stored).toEqual(first[0]);
      expect(added?.parentId).toBe(first[3]?.id);
      expect(await tree(session)).toHaveLength(5);
      const other = { ...mixed[0], content: "another text" } as EntryInput;
      expect(await session.appendEntries([other, other])).toEqual([first[0], first[0]]);
      expect(await session.append(other as never)).toEqual(first[0]);
      expect((await session.meta()).messageCount).toBe(3);
    });

    test("stores each entry once, under concurrent calls", async () => {
      const session = await newSession();
      const batch = (n: number): EntryInput[] =>
        Array.from({ length: 4 }, (_, i) => {
          const id = `${(n + i) % 8}`;
          return { role: "user", content: id, externalId: id };
        });
      const sent = Array.from({ length: 16 }, (_, n) => session.appendEntries(batch(n)));
      const answers = await Promise.all(sent);
      for (const [n, entries] of answers.entries()) {
        expect(entries.map(({ externalId }) => externalId)).toEqual(
          batch(n).map(({ externalId }) => externalId),
        );
      }
      expect((await texts(session)).toSorted()).toEqual(["0", "1", "2", "3", "4", "5", "6", "7"]);
    });

    test("treats the same id in another session as another entry", async () => {
      const [one, two] = [await newSession(), await newSession()];
      const [a] = await one.appendEntries([{ role: "user", content: "1", externalId: "same" }]);
      const [b] = await two.appendEntries([{ role: "user", content: "2", externalId: "same" }]);
      expect(a?.id).not.toBe(b?.id);
      expect(await two.getByExternalId("same")).toEqual(b);
      await expect(one.getByExternalId("other")).rejects.toMatchObject({
        code: "entry_not_found",
        details: { externalId: "other" },
      });
    });

    test("is executed once under a key, also where part of it existed", async () => {
      const session = await newSession();
      await session.appendEntries([{ role: "user", content: "a", externalId: "a" }]);
      const batch: EntryInput[] = [
        { role: "user", content: "a", externalId: "a" },
        { role: "assistant", content: "unnamed" },
      ];
      const options = { idempotencyKey: "once" };
      const first = await session.appendEntries(batch, options);
      expect(await session.appendEntries(batch, options)).toEqual(first);
      expect(await texts(session)).toEqual(["a", "unnamed"]);
    });

    test("gives a replay in the order of its request after an entry of it was removed", async () => {
      const session = await newSession();
      const batch: EntryInput[] = [
        { role: "user", content: "named", externalId: "a" },
        { role: "assistant", content: "unnamed" },
        { role: "user", content: "last" },
      ];
      const options = { idempotencyKey: "once", existing: "replace" } as const;
      const ids = (await session.appendEntries(batch, options)).map(({ id }) => id);
      await session.removeEntry(ids[0] ?? "");
      const again = await session.appendEntries(batch, options);
      expect(again.map(({ id }) => id)).toEqual(ids);
      // The same for a replacement, which has its own id.
      const changed = [{ ...batch[0], content: "new" } as EntryInput, ...batch.slice(1)];
      const other = await newSession();
      await other.appendEntries([batch[0] as EntryInput]);
      const versions = (await other.appendEntries(changed, options)).map(({ id }) => id);
      await other.removeEntry(versions[0] ?? "");
      const replayed = await other.appendEntries(changed, options);
      expect(replayed.map(({ id }) => id)).toEqual(versions);
    });

    test("is another request under its key if it continues from another entry", async () => {
      const session = await newSession();
      const [a, b] = await session.append([
        { role: "user", content: "a" },
        { role: "user", content: "b" },
      ]);
      const batch: EntryInput[] = [{ role: "user", content: "x", externalId: "x" }];
      await session.appendEntries(batch, { parent: a?.id ?? "", idempotencyKey: "k" });
      const other = session.appendEntries(batch, { parent: b?.id ?? "", idempotencyKey: "k" });
      await expect(other).rejects.toMatchObject({ code: "idempotency_conflict" });
    });

    test("replaces an entry by a sibling on request, and keeps an equal one", async () => {
      const session = await newSession();
      const first = await session.appendEntries(mixed);
      const changed: EntryInput = { role: "assistant", content: "no lock", externalId: "a1" };
      const replace = { existing: "replace" } as const;
      const [kept, edited] = await session.appendEntries(
        [mixed[0] as EntryInput, changed],
        replace,
      );
      expect(kept).toEqual(first[0]);
      expect(edited).toMatchObject({ externalId: "a1", parentId: first[3]?.parentId });
      expect((await session.getEntry(first[3]?.id ?? "")).supersededBy).toBe(edited?.id);
      expect(await session.getByExternalId("a1")).toEqual(edited);
      expect(await texts(session)).toEqual(["why twice?", "no lock"]);
      expect(await session.appendEntries([changed], replace)).toEqual([edited]);
      expect(await session.appendEntries([changed])).toEqual([edited]);
      const state: EntryInput = { kind: "custom", type: "cost", data: 4, externalId: "state/1" };
      const [newer] = await session.appendEntries([state], replace);
      expect(newer?.data).toEqual({ type: "cost", data: 4 });
      expect((await session.meta()).leaf).toBe(edited?.id);
      const again = await session.edit(edited?.id ?? "", "by hand");
      expect(await session.getByExternalId("a1")).toEqual(again);
      expect(again.externalId).toBe("a1");
    });

    test("leaves one newest version, under concurrent replacements", async () => {
      const session = await newSession();
      await session.appendEntries([{ role: "user", content: "start", externalId: "x" }]);
      const replace = { existing: "replace" } as const;
      await Promise.all(
        Array.from({ length: 12 }, (_, i) =>
          session.appendEntries([{ role: "user", content: `v${i}`, externalId: "x" }], replace),
        ),
      );
      const entries = await tree(session);
      expect(entries).toHaveLength(13);
      expect(entries.filter(({ supersededBy }) => supersededBy === null)).toHaveLength(1);
      expect(await texts(session)).toEqual([textOf((await session.getByExternalId("x")).blocks)]);
    });

    test("refuses a repeated id in a replacement", async () => {
      const session = await newSession();
      const entry = { role: "user", content: "a", externalId: "a" } as const;
      const twice = session.appendEntries([entry, { ...entry, content: "b" }], {
        existing: "replace",
      });
      await expect(twice).rejects.toMatchObject({ code: "invalid_input" });
      expect(await tree(session)).toEqual([]);
    });
  });

  describe("roles and content of other programs", () => {
    test.each([
      ["developer", "system"],
      ["function", "tool"],
      ["model", "assistant"],
    ] as const)("%s is stored as %s, and known by its name", async (role, stored) => {
      const session = await newSession();
      const metadata = { source: { line: 3 }, own: true };
      const entry = await session.append({ role, content: "Be brief.", metadata });
      expect(entry).toMatchObject({
        role: stored,
        metadata: { own: true, source: { line: 3, role } },
      });
    });

    test.each([[""], [[]], [undefined]])(
      "an entry without content (%j) is accepted with a raw payload",
      async (c) => {
        const session = await newSession();
        const content = c === undefined ? {} : { content: c };
        const entry = await session.append({ role: "assistant", ...content, raw: { parts: [] } });
        expect(entry).toMatchObject({ blocks: [], raw: { parts: [] }, index: 0 });
        expect(await tree(session)).toEqual([entry]);
        await session.append({ role: "user", content: "hello?" });
        const { messages } = await session.buildContext({ tokenBudget: 1_000 });
        expect(messages.map(({ blocks }) => textOf(blocks))).toContain("hello?");
        const without = { role: "assistant", ...content } as const;
        await expect(session.append(without)).rejects.toMatchObject({ code: "invalid_input" });
      },
    );
  });

  describe("raw", () => {
    const word = "zyxwvut";
    const raw = { z: 1, a: [null, true, { deep: word }], "k/ey": "é😀", n: 1e-7 };

    test.each([
      ["a small one", raw],
      ["a large one", { ...raw, large: "y".repeat(20_000) }],
      ["a text", "just text"],
      ["a list", [1, [2, [3]]]],
    ])("%s round-trips", async (_name, value) => {
      const session = await newSession();
      const entry = await session.append({ role: "user", content: "said", raw: value });
      expect(entry.raw).toEqual(value);
      const read = await session.getEntry(entry.id);
      expect(JSON.stringify(read.raw)).toBe(JSON.stringify(value));
      const [page] = (await session.listMessages()).messages;
      expect(page).toEqual(entry);
    });

    test("is neither searched nor part of a context", async () => {
      const session = await newSession();
      await session.append({ role: "user", content: "said", raw });
      expect((await tenant.searchSessions(word)).hits).toEqual([]);
      const context = await session.buildContext({ tokenBudget: 1_000, provider: "anthropic" });
      expect(JSON.stringify(context)).not.toContain(word);
    });

    test("follows its message: into a fork, and with the session's deletion", async () => {
      const session = await newSession();
      const large = { ...raw, large: "x".repeat(10_000) };
      await session.append({ role: "user", content: "said", raw: large, externalId: "e" });
      const fork = await session.fork({ createdBy: "ana" });
      await session.delete();
      const [copy] = (await fork.listMessages()).messages;
      expect(copy).toMatchObject({ raw: large, externalId: "e" });
    });
  });

  describe("replaceSuffix", () => {
    test("replaces the last entries by others", async () => {
      const session = await newSession();
      const [, b, c] = await session.append(
        ["a", "b", "c"].map((content) => ({ role: "user", content }) as const),
      );
      const expected = [b?.id ?? "", c?.id ?? ""];
      const replacement: EntryInput[] = [
        { role: "assistant", content: "x", externalId: "x" },
        { kind: "custom", type: "t", data: 1 },
        { role: "user", content: "y" },
      ];
      const added = await session.replaceSuffix({ expected, replacement, key: "op 1" });
      expect(added.map(({ kind }) => kind)).toEqual(["message", "custom", "message"]);
      expect(await texts(session)).toEqual(["a", "x", "y"]);
      await session.append({ role: "user", content: "z" });
      expect(await session.replaceSuffix({ expected, replacement, key: "op 1" })).toEqual(added);
      expect(await texts(session)).toEqual(["a", "x", "y", "z"]);
      const other = session.replaceSuffix({ expected, replacement: [], key: "op 1" });
      await expect(other).rejects.toMatchObject({ code: "idempotency_conflict" });
      const stale = session.replaceSuffix({ expected, replacement, key: "op 2" });
      await expect(stale).rejects.toMatchObject({ code: "stale_leaf" });
      expect((await tenant.searchSessions("b", { session: session.id })).hits).toEqual([]);
    });

    test("replaces by nothing, and everything", async () => {
      const session = await newSession();
      const entries = await session.append([
        { role: "user", content: "a" },
        { role: "user", content: "b" },
      ]);
      const expected = entries.map(({ id }) => id);
      expect(await session.replaceSuffix({ expected, replacement: [], key: "k" })).toEqual([]);
      expect(await session.replaceSuffix({ expected, replacement: [], key: "k" })).toEqual([]);
      expect(await texts(session)).toEqual([]);
      expect((await session.meta()).leaf).toBeNull();
      expect(await session.replaceSuffix({ expected: [], replacement: [] })).toEqual([]);
      await session.append({ role: "user", content: "anew" });
      expect(await texts(session)).toEqual(["anew"]);
    });
  });

  test("a suffix replaced by annotations alone is in the feed", async () => {
    const session = await newSession();
    const [a, b] = await session.append([
      { role: "user", content: "kept anteater" },
      { role: "user", content: "replaced anteater" },
    ]);
    const found = () => tenant.searchSessions("replaced", { session: session.id, match: "all" });
    expect((await found()).hits).toHaveLength(1);
    const { next } = await tenant.listChanges({ after: "start", limit: 500 });
    const replacement: EntryInput[] = [{ kind: "custom", type: "undone", data: 1 }];
    await session.replaceSuffix({ expected: [b?.id ?? ""], replacement });
    expect((await session.meta()).leaf).toBe(a?.id);
    const { changes } = await tenant.listChanges({ after: next, limit: 500 });
    const moved = changes.filter(({ kind }) => kind === "leaf_moved");
    expect(moved).toMatchObject([{ entryId: a?.id, details: { from: b?.id } }]);
    expect((await tenant.verify()).problems).toEqual([]);
    expect((await found()).hits).toEqual([]);
  });

  test("a message cannot supersede itself", async () => {
    const session = await newSession();
    const open = await session.openMessage({ role: "assistant" });
    await open.write("said");
    const own = open.commit({ supersedes: open.id });
    await expect(own).rejects.toMatchObject({
      code: "invalid_input",
      details: { field: "supersedes" },
    });
    expect((await open.commit()).supersededBy).toBeNull();
  });

  describe("removeEntry", () => {
    test("removes one message permanently, and the rest stays verifiable", async () => {
      const session = await newSession();
      const [, secret] = await session.appendEntries([
        { role: "user", content: "numbats before", externalId: "a" },
        {
          role: "user",
          content: "the numbat password is tarantula",
          externalId: "b",
          actor: "ana",
          raw: { word: "tarantula", large: "x".repeat(9_000) },
        },
        { role: "assistant", content: "numbats after", externalId: "c" },
      ]);
      const id = secret?.id ?? "";
      await session.pin(id);
      await session.addFacts([
        { subject: "password", predicate: "is", object: "tarantula", sourceEntry: id },
      ]);
      const inSession = { session: session.id };
      expect((await tenant.searchSessions("tarantula", inSession)).hits).toHaveLength(1);
      const tombstone = await session.removeEntry(id);
      expect(tombstone).toMatchObject({
        id,
        hash: secret?.hash,
        blocks: [],
        raw: null,
        actor: null,
        erased: true,
        pinned: true,
      });
      expect(await session.removeEntry(id)).toEqual(tombstone);
      expect((await tenant.searchSessions("tarantula", inSession)).hits).toEqual([]);
      const { hits } = await tenant.searchSessions("numbats", inSession);
      expect(JSON.stringify(hits)).toContain("numbats after");
      expect(JSON.stringify(hits)).not.toContain("tarantula");
      expect(await texts(session)).toEqual(["numbats before", "", "numbats after"]);
      const context = await session.buildContext({ tokenBudget: 1_000, provider: "anthropic" });
      expect(context.messages.map(({ blocks }) => textOf(blocks))).toEqual([
        "numbats before",
        "numbats after",
      ]);
      expect(await session.listFacts()).toEqual([]);
      expect((await tenant.verify()).problems).toEqual([]);
      // Neither a replay nor an upsert brings it back.
      const again = { role: "user", content: "tarantula", externalId: "b" } as const;
      expect(await session.appendEntries([again])).toEqual([tombstone]);
      expect(await session.appendEntries([again], { existing: "replace" })).toEqual([tombstone]);
      expect(await session.getByExternalId("b")).toEqual(tombstone);
    });

    test("splits no call from its result in contexts", async () => {
      const session = await newSession();
      const calls = [{ id: "t1", name: "ls", input: {} }];
      const [, , result] = await session.append([
        { role: "user", content: "list" },
        { role: "assistant", toolCalls: calls },
        { role: "tool", toolResults: [{ id: "t1", output: "files" }] },
        { role: "assistant", content: "done" },
      ]);
      await session.removeEntry(result?.id ?? "");
      const { rendered } = await session.buildContext({
        tokenBudget: 1_000,
        provider: "anthropic",
      });
      const sent = JSON.stringify(rendered);
      expect(sent).not.toContain("files");
      expect(sent.includes("tool_use")).toBe(sent.includes("tool_result"));
    });

    test("refuses entries that others depend on, and open messages", async () => {
      const session = await newSession();
      const long = (word: string) => `${word} `.repeat(500);
      await session.append(
        ["a", "b", "c"].map((word) => ({ role: "user", content: long(word) }) as const),
      );
      const { entry } = await session.compact({ keep: { messages: 1 } });
      const open = await session.openMessage({ role: "assistant" });
      for (const id of [entry?.id ?? "", open.id]) {
        await expect(session.removeEntry(id)).rejects.toMatchObject({ code: "invalid_input" });
      }
      await open.abort();
      const other = await newSession();
      const { id } = await other.append({ role: "user", content: "x" });
      await expect(session.removeEntry(id)).rejects.toMatchObject({ code: "entry_not_found" });
      expect((await session.removeEntry(open.id)).erased).toBe(true);
      expect((await tenant.verify()).problems).toEqual([]);
    });
  });
});
