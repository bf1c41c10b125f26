import { expect, test } from "vitest";
import { fromFlatCopy, isAsCopied, toFlatCopy } from "./piece-store.ts";

const BRAND = Symbol.for("langchain.message");

class Message {
  readonly [BRAND] = true;
  content: unknown;

  constructor(content: unknown) {
    this.content = content;
  }
}

const VALUES: readonly unknown[] = [
  null,
  undefined,
  1.5,
  "text",
  [[], [1, "a"], {}],
  { a: { b: [null, undefined] }, c: undefined, d: false },
  JSON.parse('{"__proto__": {"a": 1}, "constructor": "x"}'),
  new Message([{ type: "text", text: "hello" }]),
];

test("copies are deep-equal, of the same classes, and independent", () => {
  const copy = toFlatCopy(VALUES) ?? [];
  const first = fromFlatCopy(copy);
  expect(first).toStrictEqual(VALUES);
  (first.at(-1) as Message).content = "changed";
  expect(fromFlatCopy(copy)).toStrictEqual(VALUES);
});

test("a comparison sees every change", () => {
  const copy = toFlatCopy(VALUES) ?? [];
  const list = ["before", ...structuredClone(VALUES.slice(0, -1)), VALUES.at(-1), "after"];
  expect(isAsCopied(list, 1, VALUES.length, copy)).toBe(true);
  expect(isAsCopied(list, 1, VALUES.length - 1, copy)).toBe(false);
  expect(isAsCopied(list, 0, VALUES.length, copy)).toBe(false);
  const changes: readonly (readonly [unknown, unknown])[] = [
    [{ a: 1 }, { a: 2 }],
    [{ a: 1 }, { b: 1 }],
    [{ a: 1 }, { a: 1, b: undefined }],
    [{ a: 1, b: undefined }, { a: 1 }],
    [{ a: { b: 1 } }, { a: "b" }],
    [[1, 2], [1]],
    [[1], [1, 2]],
    [[], {}],
    [null, undefined],
    [new Message("a"), new Message("b")],
    [new Message("a"), { content: "a" }],
  ];
  for (const [value, other] of changes) {
    const one = toFlatCopy([value]) ?? [];
    expect([isAsCopied([value], 0, 1, one), isAsCopied([other], 0, 1, one)]).toEqual([true, false]);
  }
});

test("values of other classes are not copied", () => {
  const inherits = Object.assign(Object.create({ inherited: 1 }) as object, { own: 1 });
  for (const value of [new Date(0), new Map(), 1n, Number.NaN, () => 1, Symbol("s"), inherits]) {
    expect(toFlatCopy([{ deep: [value] }])).toBeUndefined();
  }
});
