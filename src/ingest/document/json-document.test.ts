import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isPlainObject } from "../../model/json.ts";
import { splitLines } from "../lines.ts";
import { ProblemLog } from "../problems.ts";
import { type DocumentLimits, readDocument } from "./json-document.ts";

const SMALL: DocumentLimits = { wholeBytes: 0, elementBytes: 1000 };

/** Cut into chunks that share one buffer, as a file reader may yield them. */
function inPieces(bytes: Uint8Array, length: number): Iterable<Uint8Array> {
  return {
    *[Symbol.iterator]() {
      const piece = new Uint8Array(length);
      for (let start = 0; start < bytes.length; start += length) {
        const part = bytes.subarray(start, start + length);
        piece.set(part);
        yield piece.subarray(0, part.length);
      }
    },
  };
}

async function read(content: string | Uint8Array, limits = SMALL, length = 7) {
  const bytes = Buffer.from(content as string);
  const problems = new ProblemLog();
  const input = { lines: splitLines([bytes]), bytes: inPieces(bytes, length), isRepeatable: true };
  const document = await readDocument(input, "messages", problems, limits);
  const elements: unknown[] = [];
  for await (const element of document?.elements(problems) ?? []) elements.push(element);
  const codes = problems.first.map(({ code }) => code);
  return { frame: document?.frame, elements, codes };
}

/** The document of a frame and its elements. */
function join({ frame, elements }: Awaited<ReturnType<typeof read>>): unknown {
  if (Array.isArray(frame)) return elements;
  const hasList = isPlainObject(frame) && Array.isArray(frame["messages"]);
  return hasList ? { ...frame, messages: elements } : frame;
}

/** Names that equal the list's, resemble it, and others. */
const name = fc.oneof(fc.constantFrom("messages", "message", '"messages":[', "\\"), fc.string());
const value = fc.oneof(
  fc.jsonValue(),
  fc.string({ unit: "binary" }),
  fc.constantFrom('"messages":[1]', "\\", '\\"', "]}", "é寿\u{1F600}"),
  fc.dictionary(name, fc.jsonValue()),
);
const fields = fc.array(fc.tuple(name, fc.oneof(value, fc.array(value))), { maxLength: 5 });
/** An object whose fields may occur more than once. */
const object = fields.map((all) => {
  const texts = all.map(([field, each]) => `${JSON.stringify(field)}:${JSON.stringify(each)}`);
  return `{${texts.join(",")}}`;
});
const spaced = fc.constantFrom(" ", "\n", "\r\n", "\t", "");
const document = fc.oneof(
  object,
  fc.array(value).map((list) => JSON.stringify(list)),
  fc.tuple(object, spaced).map(([text, space]) => `${space}${text}${space}`),
  fc.tuple(fc.array(value), spaced).map(([list, space]) => {
    const spread = list.map((each) => `${space}${JSON.stringify(each)}${space}`).join(",");
    return `{"a":1,${space}"messages"${space}:${space}[${spread}]${space},"b":[2]}`;
  }),
  value.map((each) => JSON.stringify(each)),
);

describe("a document of any length", () => {
  test("is its frame and its elements, wherever its bytes are cut", async () => {
    const cut = fc.integer({ min: 1, max: 20 });
    await fc.assert(
      fc.asyncProperty(document, cut, async (text, length) => {
        const limits = { wholeBytes: 0, elementBytes: 1_000_000 };
        const found = await read(text, limits, length);
        expect(found.codes).toEqual([]);
        expect(join(found)).toEqual(JSON.parse(text));
        expect(await read(text, { ...limits, wholeBytes: 1_000_000 })).toEqual(found);
      }),
      { numRuns: 500 },
    );
  });

  test("that is truncated anywhere gives nothing and a problem", async () => {
    const text = '{"a":"[\\"","messages":[{"b":[1,"]"]},{"c":"\\\\"}],"d":{"messages":[3]}}';
    for (let length = 1; length < text.length; length++) {
      const found = await read(text.slice(0, length));
      expect(found).toEqual({ frame: undefined, elements: [], codes: ["not_json"] });
    }
  });

  test.each(['{"messages":[{"a":1}}]', '{"messages":[1]} {}', "[1][2]", '{"messages":[1] [2]}'])(
    "that is %s is none",
    async (text) => {
      expect(await read(text)).toEqual({ frame: undefined, elements: [], codes: ["not_json"] });
    },
  );

  test.each([
    ['{"messages":[]}', { messages: [] }],
    ["[ \n ]", []],
    ['{"messages":[1],"messages":[2,3]}', { messages: [2, 3] }],
    ['{"messages":[1],"messages":{}}', { messages: {} }],
    ['{"messages2":[1],"messages":[2]}', { messages2: [1], messages: [2] }],
    ['{"messages":{"messages":[1]}}', { messages: { messages: [1] } }],
    ['{"m\\u0065ssages":[1],"x":"messages"}', { messages: [1], x: "messages" }],
    ['\uFEFF{"messages":[1],\r\n"b":2}\r\n', { messages: [1], b: 2 }],
  ])("that is %s is read as a parser reads it", async (text, expected) => {
    for (let length = 1; length < 9; length++) {
      const found = await read(text, SMALL, length);
      expect([join(found), found.codes]).toEqual([expected, []]);
    }
  });

  test("keeps the digits of its numbers", async () => {
    const { frame, elements } = await read('{"id":12345678901234567890,"messages":[1e400]}');
    expect(JSON.stringify([frame, elements])).toBe(
      '[{"id":12345678901234567890,"messages":[]},[1e400]]',
    );
  });

  test("continues after an element that is invalid or too long", async () => {
    const deep = `${"[".repeat(300)}${"]".repeat(300)}`;
    const long = `"${"x".repeat(2000)}"`;
    const { elements, codes } = await read(`[1,{a},,${deep},${long},2,]`);
    expect(elements).toEqual([1, undefined, undefined, undefined, undefined, 2, undefined]);
    const [bad, tooLong] = ["not_json", "line_too_long"];
    expect(codes).toEqual([bad, bad, bad, tooLong, bad]);
  });

  test("is skipped if it is long and has no list", async () => {
    const { frame, codes } = await read(`{"a":"${"x".repeat(2000)}","messages":[1]}`);
    expect([frame, codes]).toEqual([undefined, ["line_too_long"]]);
  });

  test("reports invalid UTF-8 once", async () => {
    for (const text of ['["\xe9","\xe9"]', '{"a":"\xe9","messages":["\xe9"]}']) {
      const { elements, codes } = await read(Buffer.from(text, "latin1"));
      expect([elements[0], codes]).toEqual(["\uFFFD", ["not_utf8"]]);
    }
  });

  test("of white space is empty", async () => {
    expect(await read(" \n ")).toEqual({ frame: undefined, elements: [], codes: [] });
  });

  test("that changes while it is read is reported", async () => {
    const contents = ['[1,"a",3]', '[1,"a"'];
    const bytes = {
      *[Symbol.iterator]() {
        yield Buffer.from(contents[0] ?? "");
      },
    };
    const problems = new ProblemLog();
    const input = { lines: splitLines([]), bytes, isRepeatable: true };
    const found = await readDocument(input, "messages", problems, SMALL);
    contents.shift();
    const elements = [];
    for await (const element of found?.elements(problems) ?? []) elements.push(element);
    expect([elements, problems.first[0]?.code]).toEqual([[1], "unreadable"]);
  });

  test("is read whole if it can be read only once", async () => {
    const problems = new ProblemLog();
    const text = Buffer.from('{"messages":[1]}');
    const input = { lines: splitLines([text]), bytes: [text] };
    const found = await readDocument(input, "messages", problems, SMALL);
    expect(found?.frame).toEqual({ messages: [] });
  });
});
