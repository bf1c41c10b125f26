import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../model/json.ts";
import { decodeContent, encodeContent } from "../../transcript/content.ts";
import type { NewEntry } from "../records.ts";
import { append, type Cases, createSession, message, nextId, T0, treeOf } from "./fixture.cases.ts";

/** JSON texts that a database may refuse or alter. */
const TEXTS: Readonly<Record<string, string>> = {
  "a lone surrogate": '["\\ud800"]',
  "an escaped NUL": '["a\\u0000b"]',
  "a raw NUL": '["a\u0000b"]',
  "keys of JavaScript's prototype chain": '{"__proto__":{"x":1},"constructor":2}',
  "numbers that a double cannot hold":
    "[100000000000000000000,1e400,0.1000,-0,12345678901234567890]",
  "duplicate and unsorted keys": '{"b":1,"a":2,"b":3}',
  blanks: " [ 1 ,\t2 ]\r\n ",
  "all planes of Unicode": '["ä€😀\u{10FFFF}\uFEFF\u2028\u0301"]',
  "quotes and backslashes": '["\\\\ \\" \' {} , NULL"]',
};

export function contentCases({ store, tenant }: Cases): void {
  describe("content round-trips byte for byte", () => {
    test.each(Object.entries(TEXTS))("with %s", async (_, text) => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const odd = { content: text, contentBytes: Buffer.byteLength(text), metadata: text };
      await append(store(), acme, id, message("", odd), message("", odd));
      const tree = await treeOf(store(), acme, id);
      expect(tree.map((entry) => entry.content)).toEqual([text, text]);
      expect(tree.map((entry) => entry.metadata)).toEqual([text, text]);

      const stream = { sessionId: id, id: nextId(), holder: "me", leaseMs: 1_000, now: T0 };
      const who = {
        role: "user",
        actor: null,
        metadata: text,
        model: null,
        adapter: null,
      } as const;
      await store().openStream(acme, { ...stream, ...who });
      await store().writeStream(acme, { ...stream, chunks: text });
      expect(await store().findPending(acme, stream.id)).toMatchObject({
        metadata: text,
        chunks: [text],
      });
    });

    test("in the metadata of sessions, and in memories", async () => {
      const acme = tenant();
      const metadata = JSON.parse('{"__proto__":{"x":1},"s":"\\ud800","n":1e20}') as JsonObject;
      const { id } = await createSession(store(), acme, { metadata });
      const session = await store().findSession(acme, id);
      expect(JSON.stringify(session?.metadata)).toBe(JSON.stringify(metadata));
      const content = "half \ud800 NUL \0 😀";
      const note = { agent: "a", name: "n", content, metadata, now: T0 };
      await store().putMemory(acme, note);
      const found = await store().findMemory(acme, "a", "n");
      expect(found?.content).toBe(content);
      expect(JSON.stringify(found?.metadata)).toBe(JSON.stringify(metadata));
    });

    test("in payloads and nested payloads", async () => {
      const acme = tenant();
      const { id } = await createSession(store(), acme);
      const large = `half \ud800 NUL \0 ${"😀".repeat(3_000)}`;
      const random = Array.from({ length: 9_000 }, (_, i) => String((i * 7_919) % 104_729)).join(
        "",
      );
      const blocks = [
        { type: "text", text: large } as const,
        ...Array.from({ length: 600 }, (_, i) => ({ type: "text", text: `small ${i}` }) as const),
        { type: "thinking", text: random } as const,
      ];
      const content = encodeContent({ blocks, data: { x: 1 } });
      expect(content.payloads.length).toBe(3);
      const entry: NewEntry = {
        ...message(""),
        content: content.text,
        payloads: content.payloads,
        contentBytes: content.bytes,
      };
      await append(store(), acme, id, entry);
      const read = await store().findEntries(acme, [entry.id], true);
      const decoded = decodeContent(read.entries[0]?.content ?? "", (hash) =>
        read.payloads.get(hash),
      );
      expect(decoded).toEqual({ blocks, data: { x: 1 }, truncated: false });
      const preview = await store().findEntries(acme, [entry.id], false);
      expect(preview.payloads.size).toBe(0);
    });
  });
}
