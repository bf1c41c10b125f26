import { expect, test } from "vitest";
import { BackscrollError } from "../../model/errors.ts";
import { toChange } from "./feed-row.ts";

const ROW = {
  at: 1,
  kind: "session_created",
  session_id: "s",
  entry_id: null,
  entry_hash: null,
  details: null,
  hash: new Uint8Array(32),
};

test("a change has a positive integer position", () => {
  expect(toChange({ ...ROW, position: 7 }).position).toBe(7);
});

test.each([-1, 0, 1.5, null, "first", 2 ** 60])(
  "a change at position %s is reported as damage",
  (position) => {
    let error: unknown;
    try {
      toChange({ ...ROW, position });
    } catch (thrown) {
      error = thrown;
    }
    expect(BackscrollError.is(error, "store_corrupt")).toBe(true);
    expect((error as Error).message).toContain(`its position is ${position}`);
  },
);
