import { expect, test } from "vitest";
import { serveStore } from "./client.cases.ts";

/** Pages are iterated to their end, beside the store and over the network. */

async function listAll<Item>(page: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of page) items.push(item);
  return items;
}

test("a page that is iterated gives its items and those of every page after it", async () => {
  const { engine, remote } = await serveStore();
  const ids: string[] = [];
  for (let i = 0; i < 7; i++) {
    const session = await engine.createSession({ title: `cron ${i}` });
    await session.append({ role: "user", content: `The cron job ran twice, says ${i}.` });
    await engine.records.put({ namespace: "jobs", key: `job-${i}`, value: i });
    ids.push(session.id);
  }
  const [first = ""] = ids;
  const own = await engine.getSession(first);
  for (let i = 1; i < 7; i++) await own.append({ role: "user", content: `Number ${i}.` });
  const texts = (await own.history({ limit: 500 })).map(({ id }) => id);

  for (const tenant of [engine, remote]) {
    const session = await tenant.getSession(first);
    const sessions = await tenant.listSessions({ limit: 2 });
    expect(sessions.sessions).toHaveLength(2);
    expect((await listAll(sessions)).map(({ id }) => id).sort()).toEqual([...ids].sort());

    const found = await tenant.searchSessions("cron", { limit: 3 });
    expect(found.hits).toHaveLength(3);
    const hits = (await listAll(found)).map(({ sessionId }) => sessionId);
    expect(hits.sort()).toEqual([...ids].sort());

    for (const messages of [
      await session.listMessages({ limit: 2 }),
      await tenant.listMessages(first, { limit: 3 }),
    ]) {
      expect((await listAll(messages)).map(({ id }) => id)).toEqual(texts);
    }
    const around = await session.listMessages({ around: texts[3] as string, limit: 2 });
    expect((await listAll(around)).map(({ id }) => id)).toEqual(texts.slice(around.offset));

    const entries = await listAll(await session.listEntries({ tree: true, limit: 2 }));
    expect(entries.map(({ id }) => id)).toEqual(texts);
    const records = await listAll(await tenant.records.list({ namespace: "jobs", limit: 3 }));
    expect(records.map(({ key }) => key)).toEqual(ids.map((_, i) => `job-${i}`));
    const changes = await listAll(await tenant.listChanges({ after: "start", limit: 5 }));
    expect(new Set(changes.map(({ cursor }) => cursor)).size).toBe(changes.length);
    expect(changes.filter(({ kind }) => kind === "session_created")).toHaveLength(ids.length);
  }
  // It is plain data beside that: copied, compared and printed without its iterator.
  const page = await engine.listSessions({ limit: 1 });
  expect(Object.keys(page).sort()).toEqual(Object.keys({ ...page }).sort());
  expect(Symbol.asyncIterator in { ...page }).toBe(false);
});

test("the last page, iterated, reads no further", async () => {
  const { engine } = await serveStore();
  expect(await listAll(await engine.listSessions())).toEqual([]);
  const session = await engine.createSession();
  expect(await listAll(await session.listMessages())).toEqual([]);
  expect(await listAll(await session.listMessages({ offset: 9 }))).toEqual([]);
});
