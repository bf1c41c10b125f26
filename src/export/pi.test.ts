import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { exportText, fixture, importText, jsonLines } from "../../test/support/transcripts.ts";
import type { SessionHandle } from "../engine/session-handle.ts";
import type { TenantEngine } from "../engine/tenant-engine.ts";
import type { Block } from "../model/block.ts";
import { type Entry, kindRules, type Role } from "../model/entry.ts";
import { open } from "../open.ts";

async function tree(handle: SessionHandle): Promise<Entry[]> {
  return (await handle.listEntries({ tree: true, limit: 500 })).entries;
}

/** Entries without generated fields: ids become list indexes. */
async function plain(handle: SessionHandle) {
  const entries = await tree(handle);
  const place = new Map(entries.map(({ id }, i) => [id, i]));
  const named = (value: unknown): unknown =>
    typeof value === "string" ? (place.get(value) ?? value) : value;
  const { leaf } = await handle.meta();
  return {
    leaf: leaf === null ? null : place.get(leaf),
    entries: entries.map(({ kind, role, blocks, data, usage, model, createdAt, parentId }) => ({
      kind,
      role,
      blocks,
      usage,
      model,
      createdAt,
      parent: parentId === null ? null : place.get(parentId),
      data:
        data === null
          ? null
          : Object.fromEntries(Object.entries(data).map(([key, value]) => [key, named(value)])),
    })),
  };
}

describe("a file of pi", () => {
  test.each(["pi/version-3.jsonl"])("%s is written as it was", async (name) => {
    await using engine = await open(":memory:");
    const { handle } = await importText(engine, fixture(name));
    const { text, losses } = await exportText(handle, "pi-jsonl");
    expect(jsonLines(text)).toEqual(jsonLines(fixture(name)));
    expect(text).toContain('"job":9007199254740993');
    expect(losses).toEqual({});
  });

  test.each(["pi/version-1.jsonl", "pi/version-2.jsonl"])(
    "%s is written as version 3",
    async (name) => {
      await using engine = await open(":memory:");
      await using other = await open(":memory:");
      const first = await importText(engine, fixture(name));
      const { text } = await exportText(first.handle, "pi-jsonl");
      expect(jsonLines(text)[0]).toMatchObject({ version: 3 });
      const second = await importText(other, text);
      expect(second.result.problems).toBe(0);
      expect(await plain(second.handle)).toEqual(await plain(first.handle));
    },
  );

  test("keeps the leaf also where it is not the last line", async () => {
    await using engine = await open(":memory:");
    const session = await engine.createSession({ agent: "a", createdBy: "ana", title: "Two ways" });
    const first = await session.append({ role: "user", content: "one" });
    await session.append({ role: "user", content: "two" });
    await session.branch(first.id);
    const { text } = await exportText(session, "pi-jsonl");
    const last = jsonLines(text).at(-1);
    // pi takes the last line for the leaf.
    expect(last).toMatchObject({ type: "session_info", name: "Two ways", parentId: first.id });
    const again = await importText(engine, text);
    const [root] = await tree(again.handle);
    expect(await again.handle.meta()).toMatchObject({ leaf: root?.id, title: "Two ways" });
  });

  test("puts a model change before the records that it affects", async () => {
    await using engine = await open(":memory:");
    const { handle } = await importText(engine, fixture("pi/version-1.jsonl"));
    const records = jsonLines((await exportText(handle, "pi-jsonl")).text);
    const change = records.find(({ type }) => type === "thinking_level_change");
    expect(records[3]).toMatchObject({ type: "message", parentId: change?.["id"] });
  });

  test("reports losses", async () => {
    await using engine = await open(":memory:");
    const session = await engine.createSession({ agent: "a", createdBy: "ana" });
    await session.append([
      { role: "system", content: "Be brief." },
      { role: "user", actor: "ana", content: "Hi", metadata: { a: 1 } },
      { role: "user", content: [{ type: "image", url: "https://example.org/a.png" }] },
      {
        role: "user",
        content: [
          { type: "tool_result", toolUseId: "1", output: "a" },
          { type: "tool_result", toolUseId: "2", output: "b" },
        ],
      },
    ]);
    expect((await exportText(session, "pi-jsonl")).losses).toEqual({
      "system messages written as custom entries": 1,
      "actors of messages": 1,
      "metadata of messages": 1,
      "images that are named by their address": 1,
      "messages written as several": 1,
    });
  });
});

describe("any tree", () => {
  const text: fc.Arbitrary<string> = fc.string({ unit: "binary", minLength: 1, maxLength: 12 });
  const textBlock = text.map((value): Block => ({ type: "text", text: value }));
  const image = fc.constant<Block>({ type: "image", mediaType: "image/png", data: "aWNvbg==" });
  const thinking = fc
    .record({ text, signature: text })
    .map((b): Block => ({ type: "thinking", ...b }));
  const call = fc
    .record({
      id: text,
      name: text,
      input: fc.oneof(
        fc.jsonValue().map((v) => JSON.stringify(v)),
        text,
      ),
    })
    .filter(({ input }) => isStable(input))
    .map((b): Block => ({ type: "tool_use", ...b }));
  const result = fc
    .record({ toolUseId: text, toolName: text, isError: fc.boolean() })
    .chain((b) =>
      fc
        .oneof(text, fc.array(fc.oneof(textBlock, image), { minLength: 2, maxLength: 3 }))
        .map((output): Block => ({ type: "tool_result", ...b, output })),
    );
  const message = fc.oneof(
    blocksOf("user", fc.oneof(textBlock, image)),
    blocksOf("assistant", fc.oneof(textBlock, thinking, call)),
    blocksOf("system", textBlock),
    result.map((block) => ({ kind: "message" as const, role: "tool" as const, blocks: [block] })),
  );
  const step = fc.record({
    at: fc.nat(),
    what: fc.oneof(
      { weight: 6, arbitrary: message },
      { weight: 1, arbitrary: fc.constant({ kind: "label" as const }) },
      { weight: 1, arbitrary: fc.constant({ kind: "custom" as const }) },
      { weight: 1, arbitrary: fc.constant({ kind: "custom_message" as const }) },
      { weight: 1, arbitrary: fc.constant({ kind: "branch" as const }) },
    ),
  });

  test("that pi can hold round-trips in both directions", async () => {
    await using engine = await open(":memory:");
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 15 }), async (steps) => {
        const session = await build(engine, steps);
        const first = await exportText(session, "pi-jsonl");
        const { handle, result: imported } = await importText(engine, first.text);
        expect(imported.problems).toBe(0);
        expect(await plain(handle)).toEqual(await plain(session));
        const second = await exportText(handle, "pi-jsonl");
        expect(withoutIds(second.text)).toEqual(withoutIds(first.text));
      }),
      { numRuns: 60 },
    );
  });

  function blocksOf(role: Role, block: fc.Arbitrary<Block>) {
    return fc
      .array(block, { minLength: 1, maxLength: 3 })
      .map((blocks) => ({ kind: "message" as const, role, blocks }));
  }

  async function build(engine: TenantEngine, steps: readonly Step[]): Promise<SessionHandle> {
    const session = await engine.createSession({ agent: "a", createdBy: "ana" });
    for (const { at, what } of steps) {
      const nodes = (await tree(session)).filter((entry) => kindRules(entry.kind).movesLeaf);
      const node = nodes[at % Math.max(1, nodes.length)];
      if (what.kind === "message") {
        const { role, blocks } = what;
        const usage = { inputTokens: at % 5, outputTokens: 1, cacheReadTokens: 2 };
        const model = role === "assistant" && at % 3 === 0 ? { model: "m", usage } : {};
        await session.append({ role, content: blocks, ...model });
      } else if (what.kind === "custom") await session.appendCustom("state", { at });
      else if (what.kind === "custom_message") {
        await session.appendCustomMessage({
          type: "hint",
          content: `hint ${at}`,
          display: at % 2 > 0,
        });
      } else if (node !== undefined && what.kind === "label")
        await session.label(node.id, `l${at}`);
      else if (node !== undefined) await session.branch(node.id);
    }
    return session;
  }

  type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
});

/** Text that pi keeps unchanged: an object printed without spaces, or not an object. */
function isStable(input: string): boolean {
  try {
    const value: unknown = JSON.parse(input);
    return typeof value !== "object" || value === null || JSON.stringify(value) === input;
  } catch {
    // No JSON: kept as text.
    return true;
  }
}

/** The header names another session; the leaf's mark is named after it. */
function withoutIds(text: string): unknown[] {
  return jsonLines(text).map((record) =>
    record["type"] === "session" || record["customType"] === "backscroll:leaf"
      ? { ...record, id: "", timestamp: "" }
      : record,
  );
}
