import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JsonMeter, parseSlices, type RunWork, readBoundedJson, WHOLE_BYTES } from "./read-json.ts";

const now: RunWork = async (work) => work();
const ROOMY = { bytes: 1e8, values: 1e6, depth: 200 };

/** As for a large body, whatever its size. */
async function sliced(text: string): Promise<unknown> {
  const bytes = new TextEncoder().encode(text);
  const meter = new JsonMeter(ROOMY);
  meter.add(bytes);
  return parseSlices(bytes, meter.arrays, now);
}

/** Undefined for an error. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

describe("parseSlices", () => {
  test("gives the parser's result for the whole text", async () => {
    const texts = [
      '{"messages":[{"a":[1,2]},"x,]",[]],"parent":null}',
      '{"a":[],"b":[ ],"c":[[]],"d":{"e":[1]}}',
      '{"a":[1],"a":[2,3]}',
      '{"__proto__":[1]}',
      '["not","an","object"]',
      "7",
    ];
    for (const text of texts) expect(JSON.stringify(await sliced(text))).toBe(jsonOf(text));
  });

  test("refuses the same texts as the parser", async () => {
    const texts = [
      '{"a":[1,,2]}',
      '{"a":[1,]}',
      '{"a":[,1]}',
      '{"a":[,]}',
      '{"a":[1}',
      '{"a":[{]}',
      '{"a":[1}]',
      '{"a":[1]',
      '{"a":[1 2]}',
      '{"a":[1]} x',
      '{"a":[1]]}',
    ];
    for (const text of texts) {
      expect(parsed(text)).toBeUndefined();
      await expect(sliced(text), text).rejects.toMatchObject({ code: "invalid_input" });
    }
  });

  test("agrees with the parser on any object, whole or damaged", async () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue());
    await fc.assert(
      fc.asyncProperty(object, fc.nat(), fc.constantFrom(...'[]{},:"x '), async (value, at, by) => {
        const text = JSON.stringify(value);
        expect(JSON.stringify(await sliced(text))).toBe(jsonOf(text));
        const place = at % text.length;
        const damaged = text.slice(0, place) + by + text.slice(place + 1);
        const expected = parsed(damaged);
        if (expected === undefined) await expect(sliced(damaged)).rejects.toThrow();
        else expect(JSON.stringify(await sliced(damaged))).toBe(JSON.stringify(expected));
      }),
    );
  });
});

function jsonOf(text: string): string {
  return JSON.stringify(JSON.parse(text));
}

describe("readBoundedJson", () => {
  test("parses a body of many messages in slices", async () => {
    const messages = Array.from({ length: 600 }, (_, i) => ({
      role: "user",
      content: `${i}`.repeat(3_000),
    }));
    const bytes = new TextEncoder().encode(JSON.stringify({ messages, parent: null }));
    let slices = 0;
    const value = await readBoundedJson([bytes], ROOMY, async (work) => {
      slices++;
      return work();
    });
    expect(bytes.length).toBeGreaterThan(4 * 1024 * 1024);
    expect(value).toEqual({ messages, parent: null });
    expect(slices).toBeGreaterThan(10);
  });

  test.each([
    ["a string", `"${"a".repeat(WHOLE_BYTES)}"`],
    ["null", `${" ".repeat(WHOLE_BYTES)}null`],
    ["a list of lists", `[[1,2],[3]${" ".repeat(WHOLE_BYTES)}]`],
    ["an object without lists", `{"a":{"b":[1]}${" ".repeat(WHOLE_BYTES)}}`],
  ])("parses %s of more than 4 MiB in one turn", async (_, text) => {
    let turns = 0;
    const value = await readBoundedJson([new TextEncoder().encode(text)], ROOMY, async (work) => {
      turns++;
      return work();
    });
    // Not `toEqual`, which compares a long string letter by letter.
    expect(JSON.stringify(value) === jsonOf(text)).toBe(true);
    expect(turns).toBe(2);
  });

  test("reads nothing more once a bound is exceeded", async () => {
    let taken = 0;
    async function* bomb() {
      for (;;) {
        taken++;
        yield new TextEncoder().encode("[{},".repeat(1_000));
      }
    }
    const bounds = { ...ROOMY, values: 10_000, depth: 1e6 };
    await expect(readBoundedJson(bomb(), bounds, now)).rejects.toMatchObject({
      code: "too_large",
      details: { unit: "values", limit: 10_000 },
    });
    expect(taken).toBeLessThan(10);
  });

  test("distinguishes invalid UTF-8 from invalid JSON", async () => {
    const code = "invalid_input";
    await expect(
      readBoundedJson([Uint8Array.of(0x22, 0xff, 0x22)], ROOMY, now),
    ).rejects.toMatchObject({ code });
    await expect(readBoundedJson([Uint8Array.of(0x7b)], ROOMY, now)).rejects.toMatchObject({
      code,
    });
    expect(await readBoundedJson([], ROOMY, now)).toBeUndefined();
  });
});
