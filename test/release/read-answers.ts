/**
 * The answers of a store, as plain JSON: what a user could see of its content. A later version gives
 * the same for the store of an earlier one.
 */

import { createHash } from "node:crypto";
import { zstdDecompressSync } from "node:zlib";
import type { Engine, Entry } from "../../src/index.ts";
import { textOf } from "../../src/index.ts";

/** Words that occur in one session each, and words that are in none: erased, deleted, of another tenant. */
const QUERIES: readonly string[] = [
  "heliotropes",
  "periwinkles",
  "marmalade",
  "harbour",
  "basalt",
  '"the lock is too short"',
  "xylophone",
  "quicksilver",
  "tarpaulin",
  "zeppelin",
];

export async function readAnswers(engine: Engine): Promise<unknown> {
  const { sessions } = await engine.listSessions({ limit: 500 });
  const ids = sessions.map(({ id }) => id).sort();
  return {
    tenants: [...(await engine.listTenants())].sort(),
    sessions: await inOrder(ids, (id) => readSession(engine, id)),
    found: await inOrder(QUERIES, async (query) => {
      const { hits } = await engine.searchSessions(query, { contextBefore: 0, contextAfter: 0 });
      return [query, hits.map(({ sessionId }) => sessionId).sort()];
    }),
    memories: (await engine.listMemories()).map(({ agent, name, content }) => [
      agent,
      name,
      content,
    ]),
    facts: (await engine.listFacts({ superseded: true })).map((fact) => [
      fact.subject,
      fact.predicate,
      fact.object,
      fact.confidence,
      fact.supersededBy !== null,
    ]),
    routes: (await engine.routes.list()).map(({ key, sessionId, version }) => [
      key,
      sessionId,
      version,
    ]),
    records: (await engine.records.list({ namespace: "release" })).records.map(
      ({ key, version }) => [key, version],
    ),
    originals: await inOrder(await engine.originals.list({ limit: 500 }), async (original) => [
      original.path.split("/").slice(-2).join("/"),
      await digestOf(engine, original.workstation, original.path, original.size),
    ]),
    tombstone: (await engine.findTombstone("deleted-1")) !== undefined,
  };
}

async function readSession(engine: Engine, id: string): Promise<unknown> {
  const session = await engine.getSession(id);
  const meta = await session.meta();
  const { entries } = await session.listEntries({ limit: 500 });
  const { messages } = await session.listMessages({ limit: 500 });
  return {
    id,
    title: meta.title,
    agent: meta.agent,
    messageCount: meta.messageCount,
    retention: meta.retention,
    metadata: meta.metadata,
    forkPoint: meta.forkPoint,
    // 0.1.0 linked forks alone; sub-agents have a parent since.
    parent: meta.forkPoint === null ? null : meta.parentSessionId,
    entries: entries.map(readEntry),
    path: messages.map((message) => message.id),
    labels: [...(await session.labels()).entries()],
  };
}

/** Long texts as their hash. */
function readEntry(entry: Entry): unknown {
  const text = textOf(entry.blocks);
  const shown = text.length > 200 ? createHash("sha256").update(text).digest("hex") : text;
  return [
    entry.id,
    entry.parentId,
    entry.kind,
    entry.role,
    entry.actor,
    entry.erased,
    entry.blocks.map((block) => block.type).join(" "),
    shown,
  ];
}

/** The SHA-256 of a file's kept bytes. */
async function digestOf(
  engine: Engine,
  workstation: string,
  path: string,
  size: number,
): Promise<string> {
  const hash = createHash("sha256");
  for (let start = 0; start < size; ) {
    const frame = await engine.originals.readPart(workstation, path, start);
    if (frame === undefined) return `ends at byte ${start} of ${size}`;
    const bytes = zstdDecompressSync(frame);
    hash.update(bytes);
    start += bytes.length;
  }
  return hash.digest("hex");
}

async function inOrder<Item, Answer>(
  items: readonly Item[],
  read: (item: Item) => Promise<Answer>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const item of items) answers.push(await read(item));
  return answers;
}
