/** Model-based test: random histories give the same tree in the store and in a naive model. */

import fc from "fast-check";
import { expect, test } from "vitest";
import {
  BackscrollError,
  type Engine,
  type Entry,
  open,
  type SessionHandle,
  textOf,
} from "../src/index.ts";
import { repeats } from "./support/repeats.ts";
import { isNode, type Node, TreeModel } from "./support/tree-model.ts";

test("the store and a naive tree agree after any history", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 40 }),
      fc.nat(),
      async (steps, pick) => {
        await using engine = await open(":memory:");
        const world = new World(engine);
        await world.start();
        for (const each of steps) await world.take(each);
        await world.compare(pick);
      },
    ),
    { numRuns: repeats(12, 400) },
  );
});

const OPERATIONS = [
  "append",
  "appendBatch",
  "appendAt",
  "appendAtAnnotation",
  "appendStale",
  "branch",
  "branchToStart",
  "branchWithSummary",
  "edit",
  "regenerate",
  "label",
  "unlabel",
  "custom",
  "customMessage",
  "commitStream",
  "abortStream",
  "fork",
  "delete",
] as const;

/** `session` and `entry` are indexes into the existing ones, modulo their number. */
const step = fc.record({
  operation: fc.constantFrom(...OPERATIONS),
  session: fc.nat(),
  entry: fc.nat(),
  text: fc.string({ minLength: 1, maxLength: 8 }),
});

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

class World {
  readonly #engine: Engine;
  readonly #models = new Map<string, TreeModel>();
  readonly #deleted = new Map<string, number>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async start(): Promise<void> {
    const session = await this.#engine.createSession({ agent: "test", createdBy: "test" });
    this.#models.set(session.id, new TreeModel());
  }

  async take({ operation, session: which, entry: pick, text }: Step): Promise<void> {
    const [id, model] = choose([...this.#models], which) ?? [];
    if (id === undefined || model === undefined) return;
    const session = await this.#engine.getSession(id);
    const node = choose(model.nodes.filter(isNode), pick);
    const message = choose(
      model.nodes.filter((each) => each.kind === "message"),
      pick,
    );
    const any = choose(model.nodes, pick);
    const add = (entry: Entry, rest: Partial<Node> = {}) =>
      model.add({ id: entry.id, kind: entry.kind, text, ...rest });

    switch (operation) {
      case "append":
        add(await session.append({ role: "user", content: text }));
        break;
      case "appendBatch": {
        const inputs = [1, 2, 3].map(() => ({ role: "user" as const, content: text }));
        for (const entry of await session.append(inputs)) add(entry);
        break;
      }
      case "appendAt": {
        const parentId = node?.id ?? null;
        const input = { role: "assistant" as const, content: text };
        add(await session.append(input, { parent: parentId }), { parentId });
        break;
      }
      case "appendAtAnnotation": {
        const annotation = choose(
          model.nodes.filter((each) => !isNode(each)),
          pick,
        );
        if (annotation === undefined) break;
        const parent = annotation.id;
        await refused("invalid_input", session.append({ role: "user", content: text }, { parent }));
        break;
      }
      case "appendStale":
        if (node === undefined || node.id === model.leaf) break;
        await refused(
          "stale_leaf",
          session.append({ role: "user", content: text }, { expectedLeaf: node.id }),
        );
        break;
      case "branch":
        if (node === undefined) break;
        await session.branch(node.id);
        model.leaf = node.id;
        break;
      case "branchToStart":
        await session.branch(null);
        model.leaf = null;
        break;
      case "branchWithSummary": {
        const parentId = node?.id ?? null;
        await session.branch(parentId, { summary: text });
        const { leaf } = await session.meta();
        add(await session.getEntry(leaf ?? ""), { parentId });
        break;
      }
      case "edit": {
        if (message === undefined || message.status !== "committed") break;
        const entry = await session.edit(message.id, text);
        add(entry, { parentId: message.parentId });
        model.supersede(message.id, entry.id);
        break;
      }
      case "regenerate": {
        if (message === undefined) break;
        const entry = await session.regenerate(message.id, { role: "assistant", content: text });
        add(entry, { parentId: message.parentId });
        model.supersede(message.id, entry.id);
        break;
      }
      case "label":
      case "unlabel": {
        if (any === undefined) break;
        const label = operation === "label" ? text : null;
        await session.label(any.id, label);
        const { entries } = await session.listEntries({ tree: true, limit: 500 });
        add(entries.at(-1) as Entry, { target: any.id, label, text: "" });
        break;
      }
      case "custom":
        add(await session.appendCustom("test", { text }), { text: "" });
        break;
      case "customMessage":
        add(await session.appendCustomMessage({ type: "test", content: text }));
        break;
      case "commitStream":
      case "abortStream": {
        await using stream = await session.openMessage({ role: "assistant" });
        await stream.write(text);
        if (pick % 2 === 0) await stream.flush();
        // An open message has no place in the tree yet.
        add(await session.append({ role: "user", content: text }));
        if (operation === "commitStream") add(await stream.commit());
        else add(await stream.abort(), { status: "aborted" });
        break;
      }
      case "fork":
        await this.#fork(session, model, node);
        break;
      case "delete":
        if (this.#models.size === 1) break;
        await session.delete();
        this.#models.delete(id);
        this.#deleted.set(id, model.nodes.length);
        break;
    }
  }

  /** Copies the path to `node`: the same texts under new ids, labels on the copies. */
  async #fork(session: SessionHandle, model: TreeModel, node: Node | undefined): Promise<void> {
    if (node === undefined) return;
    const fork = await session.fork({ createdBy: "test", through: node.id });
    const { entries } = await fork.listEntries({ tree: true, limit: 500 });
    const copies = new Map(entries.map((entry) => [entry.copiedFrom ?? "", entry.id]));
    const path = new Set(model.annotatedPath(node.id));
    // In the order of writing, without labels of entries outside the path.
    const originals = model.nodes
      .filter((each) => path.has(each) && each.status === "committed")
      .filter((each) => each.kind !== "label" || copies.has(each.target ?? ""));
    expect(entries.map((entry) => entry.copiedFrom)).toEqual(originals.map((each) => each.id));
    const copy = new TreeModel();
    for (const original of originals) {
      const { kind, text, label, target, parentId } = original;
      copy.add({
        id: copies.get(original.id) ?? "",
        parentId: parentId === null ? null : (copies.get(parentId) ?? ""),
        kind,
        text,
        ...(label === undefined ? {} : { label }),
        ...(target === undefined ? {} : { target: copies.get(target) ?? "" }),
        copiedFrom: original.id,
      });
    }
    this.#models.set(fork.id, copy);
  }

  async compare(pick: number): Promise<void> {
    for (const [id, model] of this.#models) {
      const session = await this.#engine.getSession(id);
      await compareSession(session, model, pick);
    }
    for (const [id, entryCount] of this.#deleted) {
      await refused("session_not_found", this.#engine.getSession(id));
      expect((await this.#engine.findTombstone(id))?.entryCount).toBe(entryCount);
    }
    const report = await this.#engine.verify();
    expect(report.problems).toEqual([]);
    expect(report.entries).toBe([...this.#models.values()].flatMap((each) => each.nodes).length);
    expect(await this.#engine.checkIntegrity()).toEqual([]);
  }
}

async function compareSession(
  session: SessionHandle,
  model: TreeModel,
  pick: number,
): Promise<void> {
  const meta = await session.meta();
  expect(meta.leaf).toBe(model.leaf);
  expect(meta.messageCount).toBe(model.messageCount);
  expect(meta.entryCount).toBe(model.nodes.length);

  const tree = await session.listEntries({ tree: true, limit: 500 });
  expect(tree.entries.map(shape)).toEqual(model.nodes.map((node) => modelShape(model, node)));
  expect(tree.entries.map((entry) => entry.sequence)).toEqual(model.nodes.map((_, i) => i + 1));
  expect(await session.labels()).toEqual(model.labels());

  // Every path, and the active one by default.
  for (const node of model.nodes.filter(isNode)) {
    await comparePath(session, model, node.id, pick, { leaf: node.id });
  }
  await comparePath(session, model, model.leaf, pick, {});
  await compareHistory(session, model, pick);
}

async function comparePath(
  session: SessionHandle,
  model: TreeModel,
  end: string | null,
  pick: number,
  leaf: { readonly leaf?: string },
): Promise<void> {
  const messages = model.messages(end).map((node) => node.id);
  const offset = pick % (messages.length + 1);
  const limit = 1 + (pick % 5);
  const page = await session.listMessages({ ...leaf, offset, limit });
  expect(page.total).toBe(messages.length);
  expect(page.messages.map((message) => message.id)).toEqual(
    messages.slice(offset, offset + limit),
  );
  expect(page.messages.map((message) => message.index)).toEqual(
    page.messages.map((_, i) => offset + i),
  );

  const ids: string[] = [];
  for (let after: string | undefined; ; ) {
    const part = await session.listEntries({
      ...leaf,
      limit,
      ...(after === undefined ? {} : { after }),
    });
    ids.push(...part.entries.map((entry) => entry.id));
    if (part.next === undefined) break;
    after = part.next;
  }
  expect(ids).toEqual(model.annotatedPath(end).map((node) => node.id));
}

async function compareHistory(
  session: SessionHandle,
  model: TreeModel,
  pick: number,
): Promise<void> {
  const limit = 1 + (pick % 5);
  const path = model.path(model.leaf);
  const messages = model.messages(model.leaf).map((node) => node.id);
  const newest = await session.history({ limit });
  expect(newest.map((entry) => entry.id)).toEqual(messages.slice(-limit));

  const before = choose(path, pick);
  if (before === undefined) return;
  const earlier = model.messages(before.parentId).map((node) => node.id);
  const page = await session.history({ limit, before: before.id });
  expect(page.map((entry) => entry.id)).toEqual(earlier.slice(-limit));

  const around = choose(
    model.nodes.filter((node) => isNode(node) && node.kind === "message"),
    pick,
  );
  if (around === undefined) return;
  const window = await session.listMessages({ around: around.id, limit });
  expect(window.messages.map((message) => message.id)).toContain(around.id);
}

function shape(entry: Entry) {
  const { id, parentId, kind, status, supersededBy, copiedFrom, index } = entry;
  return {
    id,
    parentId,
    kind,
    status,
    supersededBy,
    copiedFrom,
    index,
    text: textOf(entry.blocks),
  };
}

function modelShape(model: TreeModel, node: Node) {
  const { id, parentId, kind, status, supersededBy, copiedFrom, text } = node;
  return { id, parentId, kind, status, supersededBy, copiedFrom, index: model.indexOf(node), text };
}

async function refused(code: string, action: Promise<unknown>): Promise<void> {
  const error = await action.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(BackscrollError.is(error) ? error.code : error).toBe(code);
}

function choose<Value>(values: readonly Value[], pick: number): Value | undefined {
  return values.length === 0 ? undefined : values[pick % values.length];
}
