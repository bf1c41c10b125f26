import { describe, expect, test } from "vitest";
import { encodeContent } from "../../transcript/content.ts";
import type { EntryRecord, NewEntry } from "../records.ts";
import type { EraseMode } from "../requests.ts";
import type { Store } from "../store.ts";
import {
  append,
  type Cases,
  createSession,
  dumpOf,
  message,
  messagesOf,
  newSession,
  T0,
  treeOf,
} from "./fixture.cases.ts";

const SECRET = "a secret that must go";
const MODES: readonly EraseMode[] = ["audit-only", "ephemeral"];

/** Appends as an import does, in one transaction: a backend may pack tool traffic. */
export async function appendHistory(
  store: Store,
  tenant: string,
  sessionId: string,
  entries: readonly NewEntry[],
): Promise<void> {
  await store.append(tenant, { sessionId, entries, now: T0, isHistory: true });
}

/** A turn: request, thought, call, result, answer, one message with all of them, a note. */
export function turn(number: number, word = `word${number}`): NewEntry[] {
  const source = (of: string) => JSON.stringify({ source: { format: "x", id: `${of}-${number}` } });
  const entry = (over: Partial<NewEntry>, ...blocks: Parameters<typeof blocksOf>[0]) =>
    message("", { ...blocksOf(blocks), ...over, interaction: false });
  const id = `call-${number}`;
  return [
    message(`please ${word}`, { metadata: source("user") }),
    entry(
      { role: "assistant", metadata: source("thought") },
      { type: "thinking", text: `thinking of ${word}` },
    ),
    entry(
      { role: "assistant", metadata: source("call"), model: "m" },
      { type: "tool_use", id, name: "read", input: JSON.stringify({ path: `/srv/${word}.ts` }) },
    ),
    entry(
      { role: "tool", actor: "read" },
      {
        type: "tool_result",
        toolUseId: id,
        output: `${word} ö \ud800 `.repeat(60),
        isError: false,
      },
    ),
    entry({ role: "assistant", metadata: null }, { type: "text", text: `done ${word}` }),
    entry(
      { role: "assistant" },
      { type: "thinking", text: `what is next after ${word}?` },
      { type: "text", text: `Next is "${word}".` },
      { type: "tool_use", id: `${id}b`, name: "list", input: "{}" },
      { type: "text", text: "\\" },
    ),
    message("", {
      kind: "custom",
      role: null,
      actor: null,
      interaction: false,
      content: JSON.stringify({ blocks: [], data: { note: word } }),
      metadata: source("note"),
    }),
  ];
}

export function historyCases({ store, tenant, fresh }: Cases): void {
  const turns = (count: number) => Array.from({ length: count }, (_, i) => turn(i + 1)).flat();
  const erase = (own: Store, name: string, sessionId: string, ids: string[], mode: EraseMode) =>
    own.eraseContent(name, { sessionId, entryIds: ids, mode, now: T0 + 5 });

  describe("an imported history", () => {
    test("round-trips, as a whole and entry by entry", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const entries = turns(12);
      await appendHistory(store(), acme, id, entries.slice(0, 40));
      await appendHistory(store(), acme, id, entries.slice(40));
      await append(store(), acme, id, message("live"));
      const tree = await treeOf(store(), acme, id);
      expect(tree.slice(0, -1).map(partsOf)).toEqual(entries.map(partsOf));
      expect(tree.slice(0, -1).map(({ parentId }) => parentId)).toEqual(parentsOf(entries));
      const [wanted] = entries.slice(45);
      const found = await store().findEntries(acme, [wanted?.id ?? ""], true);
      expect(found.entries.map(partsOf)).toEqual(
        [wanted].map((entry) => partsOf(entry as NewEntry)),
      );
      const page = await store().readEntries(acme, {
        select: "messages",
        sessionId: id,
        offset: 40,
        limit: 4,
        payloads: true,
      });
      const said = entries.filter(({ kind }) => kind === "message").slice(40, 44);
      expect(page.entries.map(partsOf)).toEqual(said.map(partsOf));
      const [leaf] = await store().listLeaves(acme, id, 1);
      expect(leaf?.content).toContain("live");
    });

    test("round-trips when it is too short to pack", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const [first, ...others] = turn(1);
      await appendHistory(store(), acme, id, [first as NewEntry]);
      await appendHistory(store(), acme, id, others.slice(0, 2));
      const tree = await treeOf(store(), acme, id);
      expect(tree.map(partsOf)).toEqual([first as NewEntry, ...others.slice(0, 2)].map(partsOf));
    });

    test("is copied by a fork, whose copy outlives the original", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const entries = turns(9);
      await appendHistory(store(), acme, id, entries);
      const before = await messagesOf(store(), acme, id);
      const fork = await store().forkSession(acme, { sessionId: id, session: newSession() });
      await store().deleteSession(acme, id, "user", T0);
      expect(await messagesOf(store(), acme, fork.id)).toEqual(before);
      const copied = (await treeOf(store(), acme, fork.id)).filter(
        ({ kind }) => kind === "message",
      );
      const messages = entries.filter(({ kind }) => kind === "message");
      expect(copied.map(({ content }) => content)).toEqual(messages.map(({ content }) => content));
    });

    test.each(MODES)("loses exactly the erased entries (%s)", async (mode) => {
      const { store: own } = await fresh();
      const { id } = await createSession(own, "a", { retention: mode });
      const entries = [...turn(1), ...turn(2, SECRET), ...turn(3)];
      await appendHistory(own, "a", id, entries);
      const before = await treeOf(own, "a", id);
      const erased = before.slice(7, 14).map((entry) => entry.id);
      expect(await erase(own, "a", id, erased, mode)).toEqual({ erased: 7 });
      const after = await treeOf(own, "a", id);
      const others = (tree: readonly EntryRecord[]) => [...tree.slice(0, 7), ...tree.slice(14)];
      expect(others(after)).toEqual(others(before));
      expect(after.slice(7, 14).map(({ content }) => content)).toEqual(Array(7).fill(null));
      expect(after[9]?.metadata).toBe(mode === "audit-only" ? before[9]?.metadata : null);
      expect(JSON.stringify(await dumpOf(own))).not.toContain(Buffer.from(SECRET).toString("hex"));

      await erase(
        own,
        "a",
        id,
        others(before).map((entry) => entry.id),
        mode,
      );
      expect((await treeOf(own, "a", id)).every(({ content }) => content === null)).toBe(true);
      await own.deleteSession("a", id, "user", T0);
      expect((await dumpOf(own))["entries"]).toBeUndefined();
    });

    test("is restored from a dump", async () => {
      const { store: from } = await fresh();
      const { id } = await createSession(from, "a");
      await appendHistory(from, "a", id, turns(8));
      const { store: to } = await fresh();
      await to.load(from.dump());
      expect(await dumpOf(to)).toEqual(await dumpOf(from));
      expect(await treeOf(to, "a", id)).toEqual(await treeOf(from, "a", id));
      await appendHistory(to, "a", id, turn(9));
      expect((await treeOf(to, "a", id)).slice(-7).map(({ metadata }) => metadata)).toEqual(
        turn(9).map(({ metadata }) => metadata),
      );
    });
  });
}

function blocksOf(blocks: Parameters<typeof encodeContent>[0]["blocks"]): Partial<NewEntry> {
  const content = encodeContent({ blocks, data: null });
  return { content: content.text, payloads: content.payloads, contentBytes: content.bytes };
}

/** Each message follows the one before it; an annotation belongs to that. */
function parentsOf(entries: readonly NewEntry[]): (string | null)[] {
  let leaf: string | null = null;
  return entries.map(({ id, kind }) => {
    const parent = leaf;
    if (kind === "message") leaf = id;
    return parent;
  });
}

function partsOf({ id, kind, role, content, metadata, model }: EntryRecord | NewEntry): unknown {
  return { id, kind, role, content, metadata, model };
}
