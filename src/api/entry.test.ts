import { describe, expect, test } from "vitest";
import type { Block } from "../model/block.ts";
import { SAMPLE_ENTRY } from "../model/entry.cases.ts";
import type { Entry } from "../model/entry.ts";
import { ENTRY } from "../model/entry.ts";
import { toWireBlock } from "./block.ts";
import { toWire } from "./shape.ts";

const SAMPLE: Entry = { ...SAMPLE_ENTRY, actor: "ana", metadata: { camelCase: 1 } };

describe("an entry on the wire", () => {
  test("names our own data in snake_case", () => {
    const data = { targetId: "e0", label: "start" };
    expect(toWire(ENTRY, { ...SAMPLE, kind: "label", data }).data).toEqual({
      target_id: "e0",
      label: "start",
    });
  });

  test("keeps names chosen by a caller or an extension", () => {
    const data = { type: "editor", data: { openFile: "a.ts" } };
    const wire = toWire(ENTRY, { ...SAMPLE, kind: "custom", data });
    expect([wire.data, wire.metadata]).toEqual([data, { camelCase: 1 }]);
  });

  test("gives times in ISO 8601", () => {
    expect(toWire(ENTRY, SAMPLE).created_at).toBe("1970-01-01T00:00:00.000Z");
  });
});

describe("a block on the wire", () => {
  test("is converted inside a tool's result too", () => {
    const block: Block = {
      type: "tool_result",
      toolUseId: "t1",
      isError: false,
      output: [{ type: "image", mediaType: "image/png", data: "AA==" }],
    };
    expect(toWireBlock(block)).toEqual({
      type: "tool_result",
      tool_use_id: "t1",
      is_error: false,
      output: [{ type: "image", media_type: "image/png", data: "AA==" }],
    });
  });

  test("keeps a provider's own fields", () => {
    const block = { type: "text", text: "x", cacheControl: { ttl: 5 } } as Block;
    expect(toWireBlock(block)).toEqual(block);
  });
});
