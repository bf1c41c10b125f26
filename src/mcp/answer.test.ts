import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AnswerBody, fitAnswer } from "./answer.ts";

interface Body extends AnswerBody {
  readonly items: readonly string[];
}

const LIMIT = 4_096;

/** Requests `texts` under a limit of 4 KiB; gives the answer and the number of reads. */
async function answer(
  texts: readonly string[],
  cuts: readonly number[] = [],
  countable = true,
  form = "data",
) {
  const reads: number[] = [];
  const result = await fitAnswer<Body>(
    {
      items: countable ? texts.length : 1,
      cuts,
      read: async (count) => {
        reads.push(count);
        return { items: countable ? texts.slice(0, count) : texts, truncated: null };
      },
      ...(form === "text" ? { toText: ({ items }: Body) => items.join("\n") } : {}),
    },
    { bytes: LIMIT },
  );
  const [first] = result.content as { text: string }[];
  const body = result.structuredContent as unknown as Body;
  const bytes = Buffer.byteLength(JSON.stringify(result));
  return { body, text: first?.text ?? "", bytes, reads };
}

describe("an answer", () => {
  test("is unchanged while it is small", async () => {
    const { body, text, reads } = await answer(["a", "b"]);
    expect(body).toEqual({ items: ["a", "b"], truncated: null });
    expect([JSON.parse(text), reads]).toEqual([body, [2]]);
  });

  test("for a model is text only", async () => {
    const { body, text } = await answer(["a", "b"], [], true, "text");
    expect([text, body]).toEqual(["a\nb", undefined]);
  });

  test("for a model is cut rather than refused, with a note", async () => {
    const deep = Array.from({ length: 16 }, () =>
      Array.from({ length: 16 }, () => "x".repeat(256)),
    );
    const { content } = await fitAnswer(
      {
        items: 1,
        cuts: [],
        toText: (body: { deep: string[][] }) => body.deep.join(),
        read: async () => ({ deep, truncated: null }),
      },
      { passedOn: 1_000 },
    );
    const [{ text } = { text: "" }] = content as { text: string }[];
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_000);
    expect(text).toMatch(/^Shortened to keep the answer small: .*\n\nx.*…$/s);
  });

  test("has fewer items rather than shorter ones, with a note", async () => {
    const { body, text, reads } = await answer(Array.from({ length: 8 }, () => "x".repeat(500)));
    expect([body.items.length, body.items[0]?.length]).toEqual([2, 500]);
    expect(reads).toEqual([8, 4, 2]);
    expect(body.truncated).toBe(
      "Shortened to keep the answer small: At most 2 of the 8 that were asked for are shown.",
    );
    expect(text).toBe(JSON.stringify(body));
  });

  test("shortens items first where its tool allows it", async () => {
    const { body, reads } = await answer(
      Array.from({ length: 8 }, () => "x".repeat(500)),
      [100],
    );
    expect([body.items.length, reads]).toEqual([8, [8]]);
    expect(body.items[0]).toBe(`${"x".repeat(97)}…`);
    expect(body.truncated).toContain("Texts are cut to 100 bytes.");
  });

  test("of one item is cut until it fits, and read once", async () => {
    const { body, reads } = await answer(["x".repeat(1_000_000)], [], false);
    expect(reads).toEqual([1]);
    expect(body.items[0]?.endsWith("…")).toBe(true);
  });

  test("that is a long list of short items is cut at its end", async () => {
    const { body } = await answer(
      Array.from({ length: 5_000 }, (_, i) => `${i}`),
      [],
      false,
    );
    expect(body.items).toHaveLength(16);
    expect(body.truncated).toContain("Long lists are cut to 16.");
  });

  test("that is data is cut to fit, with a note", async () => {
    const deep = Array.from({ length: 16 }, () =>
      Array.from({ length: 16 }, () => "x".repeat(256)),
    );
    const about = "Recalled.";
    const source = { items: 1, cuts: [], read: async () => ({ about, deep, truncated: null }) };
    for (const size of [{ bytes: LIMIT }, { passedOn: 800 }]) {
      const result = await fitAnswer(source, size);
      const body = result.structuredContent as unknown as Awaited<ReturnType<typeof source.read>>;
      const text = JSON.stringify(body);
      expect(result.content).toEqual([{ type: "text", text }]);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(size.passedOn ?? LIMIT);
      expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(size.bytes ?? 4_000);
      expect(body.about).toBe(about);
      expect(body.deep[0]?.[0]).toMatch(/^x+/);
      expect(body.truncated).toMatch(/^Shortened to max_tokens: /);
    }
  });

  test("never exceeds its size, and never splits a character", async () => {
    const texts = fc.array(fc.string({ unit: "grapheme", maxLength: 3_000 }), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(texts, fc.constantFrom([], [512], [64, 16]), async (given, cuts) => {
        const { body, bytes } = await answer(given.length === 0 ? [""] : given, cuts);
        expect(bytes).toBeLessThanOrEqual(LIMIT);
        for (const item of body.items) expect(item.isWellFormed()).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});
