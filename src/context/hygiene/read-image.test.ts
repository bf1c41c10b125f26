import { describe, expect, test } from "vitest";
import type { ImageBlock } from "../../model/block.ts";
import { readImage } from "./read-block.ts";
import { COMMON_MEDIA_TYPES } from "./rules.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ";

const RULES = {
  mediaTypes: COMMON_MEDIA_TYPES,
  url: /^https:\/\//,
  fromAssistant: false,
  inResults: "all",
} as const;

function check(block: Omit<ImageBlock, "type">, expected: object): void {
  expect(readImage({ type: "image", ...block }, RULES)).toEqual(expected);
}

describe("readImage", () => {
  const png = { type: "image", data: PNG, mediaType: "image/png" };

  test("derives the type from the bytes, and ignores the declared type", () => {
    check({ data: PNG, mediaType: "image/png" }, png);
    check({ data: PNG, mediaType: "image/jpeg" }, png);
    check({ data: PNG }, png);
  });

  test("uses the declared type where the bytes show none", () => {
    check(
      { data: "AAAA", mediaType: "image/JPG" },
      { type: "image", data: "AAAA", mediaType: "image/jpeg" },
    );
  });

  test("reads data URLs, and base64 with line breaks", () => {
    check({ url: `data:image/png;base64,${PNG}` }, png);
    check({ data: `data:image/png;charset=x;base64,${PNG}` }, png);
    check({ data: `${PNG.slice(0, 20)}\r\n${PNG.slice(20)}` }, png);
  });

  test("passes an address on, with the type of its extension", () => {
    const url = "https://example.com/a.jpg?size=2";
    check({ url }, { type: "image", url, mediaType: "image/jpeg" });
    check(
      { url: "https://example.com/a" },
      { type: "image", url: "https://example.com/a", mediaType: null },
    );
  });

  test("replaces an image that cannot be sent by a note", () => {
    const note = { type: "text", text: "[image left out]" };
    check({}, note);
    check({ data: "not base64!", mediaType: "image/png" }, note);
    check({ data: "AAAA", mediaType: "image/tiff" }, note);
    check({ data: "AAAA" }, note);
    check({ url: "data:image/svg+xml,<svg/>" }, note);
    check({ url: "file:///a.png" }, { type: "text", text: "[image left out: file:///a.png]" });
    check({ url: "https://" }, { type: "text", text: "[image left out: https://]" });
  });
});
