import { expect, test } from "vitest";
import { formatSessionUri, parseSessionUri } from "./resources.ts";

test("a URI round-trips", () => {
  for (const id of ["01JZ8Q4V7N", "a:b.c", "ü/?#"]) {
    expect(parseSessionUri(formatSessionUri(id))).toEqual({ kind: "session", id });
  }
});

test("a page of messages has an offset and a limit", () => {
  const page = { kind: "messages", id: "x" };
  expect(parseSessionUri("session://x/messages")).toEqual({ ...page, offset: 0, limit: 20 });
  expect(parseSessionUri("session://x/messages?limit=5&offset=40")).toEqual({
    ...page,
    offset: 40,
    limit: 5,
  });
});

test.each(["file:///x", "session://", "session://x/y", "session://x?offset=1", "session://%zz"])(
  "%s names nothing of ours",
  (uri) => {
    expect(parseSessionUri(uri)).toBeUndefined();
  },
);

test.each(["limit=0", "limit=101", "offset=-1", "limit=1.5", "offset=x"])(
  "there is no page with %s",
  (query) => {
    expect(() => parseSessionUri(`session://x/messages?${query}`)).toThrow(
      /must be an integer from/,
    );
  },
);
