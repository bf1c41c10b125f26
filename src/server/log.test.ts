import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BackscrollError } from "../model/errors.ts";
import { toErrorLine, toLogLine } from "./log.ts";

const request = { requestId: "r", method: "GET", route: "/x", status: 500, ms: 1 } as const;

interface Line {
  readonly code: string;
  readonly stack?: readonly string[];
}

describe("the log line of an error", () => {
  test("has the stack without any content, for every form of message", () => {
    const said = fc.string({
      unit: fc.constantFrom("\n", " ", "    at secret (", "x", ")", "\u2028"),
    });
    fc.assert(
      fc.property(said, (text) => {
        const error = new TypeError(`walrus ${text}\n    at walrus (/srv/walrus)`);
        const lines = [
          toErrorLine(error),
          toLogLine({ ...request, access: undefined, failure: error }),
        ];
        for (const line of lines) {
          expect(line).not.toMatch(/walrus|secret/);
          const { code, stack } = JSON.parse(line) as Line;
          expect(code).toBe("internal_error");
          expect(stack?.[0]).toMatch(/^at /);
        }
      }),
    );
  });

  test("omits a stack whose message was changed later", () => {
    const error = new Error("before\n    at walrus");
    expect(error.stack).toContain("before");
    error.message = "after";
    expect(JSON.parse(toErrorLine(error))).toMatchObject({ stack: [] });
  });

  test("has the code of a coded error", () => {
    const line = toErrorLine(new BackscrollError("store_busy", "walrus"), new Date(0));
    expect(JSON.parse(line)).toMatchObject({
      time: "1970-01-01T00:00:00.000Z",
      level: "error",
      code: "store_busy",
    });
    expect(line).not.toContain("walrus");
    expect(JSON.parse(toErrorLine("walrus"))).toMatchObject({ code: "internal_error", stack: [] });
  });
});
